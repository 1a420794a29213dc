/* SPDX-License-Identifier: MIT */
/*
 * ring.h - the one ring: one producer, one consumer, in memory they share.
 *
 * Indices are free-running uint32_t, compared by difference only; the size is a
 * power of two; slot = index & (entries - 1).  Each side keeps a private copy of
 * its own index and a cached copy of the other's, and touches the other's cache
 * line only when the cached copy is used up.  Slots are the caller's: this header
 * knows indices, not elements, so one ring carries SQEs, CQEs or anything.
 *
 *   producer                            consumer
 *   quoit_ring_reserve                  quoit_ring_peek
 *   ... write the slot ...              ... copy the slot out ...
 *   quoit_ring_submit        --tail-->
 *                            <--head--  quoit_ring_release
 *
 * The edges, labelled at both ends (docs/ring-protocol.md argues them):
 *
 *   S  tail   R1 store-release in submit    pairs with A1 load-acquire in peek:
 *             a consumer that sees the tail sees the slots before it.
 *   L  lap    R3 store-release in announce  pairs with A3 load-acquire in peek_batch:
 *             a consumer that sees the lap word sees the slots of its batch.
 *   F  head   R2 store-release in release   pairs with A2 load-acquire in refresh:
 *             a producer that sees the head may overwrite; the copies are done.
 *   W  sleep  W1 tail store, then need_wake load (producer), against
 *             W2 need_wake store, then tail load (consumer): all four
 *             sequentially consistent, so at least one side sees the other.
 *
 * A producer may also announce a batch in the batch's first slot, by a lap word there.  Who waits
 * for single items then finds them with one line of the peer's cache, not with the tail's and the
 * slot's.  The tail follows, for whoever sleeps: it may be behind what a consumer has taken.
 *
 * Either side may be hostile to the other.  A consumer must refuse a peek of more
 * than `entries`, a producer a refresh that returns false: the peer lies.
 *
 * No stand-alone fences: ThreadSanitizer follows every access but the vectors of a copied slot.
 * The accesses go through two macros, so that tests/model/explore.c can run this
 * very file under every schedule, and a device compiler can supply its own
 * (cuda/kernels/direct_ring.cuh).
 */
#ifndef QUOIT_RING_H
#define QUOIT_RING_H

#include <stdbool.h>
#include <stdint.h>

/* Two words by one load, where that is one instruction. */
#if defined(__SSE2__) && !defined(QUOIT_RING_LOAD)
#include <emmintrin.h>
#define QUOIT_RING_PAIRS
#endif

#ifndef QUOIT_RING_FUNCTION
#define QUOIT_RING_FUNCTION static inline
#endif

#ifndef QUOIT_RING_LOAD
#define QUOIT_RING_RELAXED            __ATOMIC_RELAXED
#define QUOIT_RING_ACQUIRE            __ATOMIC_ACQUIRE
#define QUOIT_RING_RELEASE            __ATOMIC_RELEASE
#define QUOIT_RING_SEQ_CST            __ATOMIC_SEQ_CST
#define QUOIT_RING_LOAD(p, order)     __atomic_load_n((p), (order))
#define QUOIT_RING_STORE(p, v, order) __atomic_store_n((p), (v), (order))
#endif

/* Private to the producing side. */
struct quoit_producer {
	uint32_t *tail;       /* shared; only we store */
	const uint32_t *head; /* shared; only the consumer stores */
	uint32_t entries;
	uint32_t next;      /* first index not yet reserved */
	uint32_t published; /* what *tail holds */
	uint32_t cached_head;
};

/* Private to the consuming side. */
struct quoit_consumer {
	uint32_t *head;       /* shared; only we store */
	const uint32_t *tail; /* shared; only the producer stores */
	uint32_t entries;
	uint32_t next; /* first index not yet released */
	uint32_t cached_tail;
	uint32_t slept_at; /* *tail as quoit_ring_look saw it */
	uint32_t late;     /* where *tail may still be, behind us: the batch found by its lap */
	bool single;       /* the last batch was one item: the next is looked for in its slot */
};

QUOIT_RING_FUNCTION void quoit_producer_init(struct quoit_producer *p, uint32_t *tail,
					     const uint32_t *head, uint32_t entries)
{
	*p = (struct quoit_producer){.tail = tail, .head = head, .entries = entries};
}

QUOIT_RING_FUNCTION void quoit_consumer_init(struct quoit_consumer *c, uint32_t *head,
					     const uint32_t *tail, uint32_t entries)
{
	*c = (struct quoit_consumer){.head = head, .tail = tail, .entries = entries};
}

/* ---- producer ---- */

/*
 * Look at the consumer's head again.  False: it is not between the last one seen
 * and what was published, so the consumer lies, and nothing was taken over.
 */
QUOIT_RING_FUNCTION bool quoit_ring_refresh(struct quoit_producer *p)
{
	uint32_t head = QUOIT_RING_LOAD(p->head, QUOIT_RING_ACQUIRE); /* A2, pairs with R2 */

	if (head - p->cached_head > p->published - p->cached_head)
		return false;
	p->cached_head = head;
	return true;
}

/* How many slots are free by the cached head: never too many. */
QUOIT_RING_FUNCTION uint32_t quoit_ring_space(const struct quoit_producer *p)
{
	return p->entries - (p->next - p->cached_head);
}

/* Reserve one slot; false: the ring is full (or the consumer lies). */
QUOIT_RING_FUNCTION bool quoit_ring_reserve(struct quoit_producer *p, uint32_t *ret_index)
{
	if (quoit_ring_space(p) == 0 && (!quoit_ring_refresh(p) || quoit_ring_space(p) == 0))
		return false;
	*ret_index = p->next++;
	return true;
}

/* Publish all that is reserved to a consumer that never sleeps. */
QUOIT_RING_FUNCTION void quoit_ring_submit(struct quoit_producer *p)
{
	p->published = p->next;
	QUOIT_RING_STORE(p->tail, p->next, QUOIT_RING_RELEASE); /* R1, pairs with A1 */
}

/*
 * Publish all that is reserved, once per flush.  True: the consumer has said on
 * *need_wake that it sleeps, or is about to; wake it.
 */
QUOIT_RING_FUNCTION bool quoit_ring_submit_wake(struct quoit_producer *p, const uint32_t *need_wake)
{
	p->published = p->next;
	QUOIT_RING_STORE(p->tail, p->next, QUOIT_RING_SEQ_CST);     /* W1 and R1 */
	return QUOIT_RING_LOAD(need_wake, QUOIT_RING_SEQ_CST) != 0; /* W1 */
}

/*
 * A lap word tells where the batch ends that begins in its slot: the low 24 bits of that index
 * above a mark and seven bits which are the slot's own.  Without the mark no batch begins there.
 * What is left of the lap before is refused by its distance, so that a slot's word needs to be
 * rewritten, without the mark, but once a lap.
 */
#define QUOIT_LAP_SHIFT 8
#define QUOIT_LAP_MARK  0x80u

/*
 * Before submit: tell in its first slot, where *lap is, what has been reserved since the last
 * submit, which was not nothing; `own` are the seven bits.
 */
QUOIT_RING_FUNCTION void quoit_ring_announce(const struct quoit_producer *p, uint32_t *lap,
					     uint32_t own)
{
	uint32_t word = p->next << QUOIT_LAP_SHIFT | QUOIT_LAP_MARK | own;

	QUOIT_RING_STORE(lap, word, QUOIT_RING_RELEASE); /* R3, pairs with A3 */
}

/* ---- consumer ---- */

/*
 * What is ready by this tail; more than c->entries: it lies.  Behind us it may be in one place
 * only, where the last announced batch begins: its producer has not come to its submit yet.
 */
QUOIT_RING_FUNCTION uint32_t quoit_ring_by_tail(struct quoit_consumer *c, uint32_t tail)
{
	uint32_t n = tail - c->next;

	if (n > c->entries && tail == c->late)
		n = 0;
	else if (n <= c->entries)
		c->late = tail;
	c->cached_tail = c->next + n;
	return n;
}

/* The same by the lap word in slot c->next, which cannot lie about more than there is. */
QUOIT_RING_FUNCTION uint32_t quoit_ring_by_lap(struct quoit_consumer *c, uint32_t word)
{
	uint32_t n = (word >> QUOIT_LAP_SHIFT) - c->next;

	n &= UINT32_MAX >> QUOIT_LAP_SHIFT;
	if (!(word & QUOIT_LAP_MARK) || n > c->entries)
		return 0;
	if (n > 0)
		c->late = c->next;
	c->cached_tail = c->next + n;
	return n;
}

/*
 * How many slots are ready from c->next on.  The tail is loaded once, and only
 * when nothing is left of the last look.  More than c->entries: the producer lies.
 */
QUOIT_RING_FUNCTION uint32_t quoit_ring_peek(struct quoit_consumer *c)
{
	if (c->cached_tail == c->next)
		c->cached_tail =
			QUOIT_RING_LOAD(c->tail, QUOIT_RING_ACQUIRE); /* A1, pairs with R1 */
	return c->cached_tail - c->next;
}

/*
 * As quoit_ring_peek, where the producer announces; lap is the word in slot c->next.  After single
 * items the next one is looked for there, after more of them at the tail: while a producer fills
 * the rest of a batch, a look at its first slot takes the line away that it will write once more.
 */
QUOIT_RING_FUNCTION uint32_t quoit_ring_peek_batch(struct quoit_consumer *c, const uint32_t *lap)
{
	uint32_t n;

	if (c->cached_tail != c->next)
		return c->cached_tail - c->next;
	if (c->single)
		n = quoit_ring_by_lap(c, QUOIT_RING_LOAD(lap, QUOIT_RING_ACQUIRE)); /* A3 */
	else
		n = quoit_ring_by_tail(c, QUOIT_RING_LOAD(c->tail, QUOIT_RING_ACQUIRE)); /* A1 */
	if (n > 0)
		c->single = n == 1;
	return n;
}

/* Give n slots back: they have been copied and may be overwritten. */
QUOIT_RING_FUNCTION void quoit_ring_release(struct quoit_consumer *c, uint32_t n)
{
	c->next += n;
	QUOIT_RING_STORE(c->head, c->next, QUOIT_RING_RELEASE); /* R2, pairs with A2 */
}

/*
 * Look at the tail for the last time, after a store that asks for a wake-up.  True: nothing is
 * left, nothing has come, and whoever submits from now on will see that store.
 */
QUOIT_RING_FUNCTION bool quoit_ring_look(struct quoit_consumer *c)
{
	if (c->cached_tail != c->next)
		return false; /* a late tail would take back what a lap has told */
	c->slept_at = QUOIT_RING_LOAD(c->tail, QUOIT_RING_SEQ_CST); /* W2 and A1 */
	return quoit_ring_by_tail(c, c->slept_at) == 0;
}

/*
 * Say that we are about to sleep.  True: nothing has come, and whoever submits
 * from now on will see the flag.  False: there is work, do not sleep.  Either way
 * the flag stays up until quoit_ring_awake().
 */
QUOIT_RING_FUNCTION bool quoit_ring_sleep(struct quoit_consumer *c, uint32_t *need_wake)
{
	QUOIT_RING_STORE(need_wake, 1u, QUOIT_RING_SEQ_CST); /* W2 */
	return quoit_ring_look(c);
}

/* Take the flag down.  A wake-up that is under way may still arrive: it is harmless. */
QUOIT_RING_FUNCTION void quoit_ring_awake(uint32_t *need_wake)
{
	QUOIT_RING_STORE(need_wake, 0u, QUOIT_RING_RELAXED);
}

/* ---- elements ---- */

/*
 * Copy a slot of `words` 64-bit words out of memory that the peer may be
 * changing: every word is loaded exactly once, so what is checked afterwards is
 * what is used, whatever the peer does (reliability: one copy, then only the copy).
 */
QUOIT_RING_FUNCTION void quoit_ring_copy(uint64_t *to, const uint64_t *from, uint32_t words)
{
	uint32_t i = 0;

#ifdef QUOIT_RING_PAIRS
#pragma GCC unroll 4
	for (; i + 2 <= words; i += 2)
		_mm_storeu_si128((__m128i *)(to + i), _mm_loadu_si128((const __m128i *)(from + i)));
	__asm__ volatile("" : : "r"(to) : "memory"); /* the copy is made, and used from here on */
#endif
#ifndef __CUDACC__ /* it has another word for that */
#pragma GCC unroll 8
#endif
	for (; i < words; i++)
		to[i] = QUOIT_RING_LOAD(&from[i], QUOIT_RING_RELAXED);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * ring.h - the one ring: one producer, one consumer, in memory they share.
 *
 * Indices are free-running uint32_t, compared by difference only.  The size is a power of two, and
 * slot = index & (entries - 1).  Each side keeps a private copy of its own index and a cached copy
 * of the other's, and touches the other's cache line only when the cached copy is used up.  Slots
 * are the caller's: this header knows indices, not elements, so one ring carries SQEs, CQEs or
 * anything.
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
 *   F  head   R2 store-release in release   pairs with A2 load-acquire in refresh:
 *             a producer that sees the head may overwrite; the copies are done.
 *   C  copy   R3 store-release of a carried word   pairs with A3 load-acquire of it:
 *             a consumer whose line is the same before and after has one item, whole.
 *   W  sleep  W1 tail store, then need_wake load (producer), against
 *             W2 need_wake store, then tail load (consumer): all four
 *             sequentially consistent, so at least one side sees the other.
 *
 * A tail may have a line of its own.  If a batch has one item, the line's other words carry that
 * item, and a waiting consumer gets it together with the tail.  The item lies in its slot as well,
 * like every other.
 *
 * Either side may be hostile to the other.  A consumer must refuse a peek of more than `entries`, a
 * producer a refresh that returns false: the peer lies.
 *
 * There are no stand-alone fences, so ThreadSanitizer can follow every access.  The accesses go
 * through two macros, so that tests/model/explore.c can run this very file under every schedule,
 * and a device compiler can supply its own (cuda/kernels/direct_ring.cuh).
 */
#ifndef QUOIT_RING_H
#define QUOIT_RING_H

#include <stdbool.h>
#include <stdint.h>

/* Load two words with one instruction, where there is one. */
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
	uint64_t *line;       /* NULL, or the line whose first word has *tail as its upper half */
	uint32_t entries;
	uint32_t next;      /* first index not yet reserved */
	uint32_t published; /* the value in *tail */
	uint32_t cached_head;
	uint32_t rung_for; /* `published` when the bell was last rung */
	bool rung;         /* the bell was rung, and need_wake has been up since */
};

/* Private to the consuming side. */
struct quoit_consumer {
	uint32_t *head;       /* shared; only we store */
	const uint32_t *tail; /* shared; only the producer stores */
	const uint64_t *line; /* NULL, or the line whose first word has *tail as its upper half */
	uint32_t entries;
	uint32_t next; /* first index not yet released */
	uint32_t cached_tail;
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

#ifdef __CUDACC__ /* the tails of a device's rings have no line */
#define QUOIT_RING_TAIL(c, order) QUOIT_RING_LOAD((c)->tail, (order))
#else
/*
 * For a tail that has a line: all stores and loads are of the whole word; *tail serves futexes
 * only.
 */
QUOIT_RING_FUNCTION void quoit_producer_init_line(struct quoit_producer *p, uint64_t *line,
						  const uint32_t *head, uint32_t entries)
{
	*p = (struct quoit_producer){
		.tail = (uint32_t *)line + 1, .head = head, .line = line, .entries = entries};
}

QUOIT_RING_FUNCTION void quoit_consumer_init_line(struct quoit_consumer *c, uint32_t *head,
						  const uint64_t *line, uint32_t entries)
{
	*c = (struct quoit_consumer){
		.head = head, .tail = (const uint32_t *)line + 1, .line = line, .entries = entries};
}

#define QUOIT_RING_TAIL(c, order)                                                                  \
	((c)->line ? (uint32_t)(QUOIT_RING_LOAD((c)->line, (order)) >> 32)                         \
		   : QUOIT_RING_LOAD((c)->tail, (order)))
#endif

/* ---- producer ---- */

/*
 * Look at the consumer's head again.  False: the head is not between the last one seen and the
 * published tail, so the consumer lies; the cached head stays as it was.
 */
QUOIT_RING_FUNCTION bool quoit_ring_refresh(struct quoit_producer *p)
{
	uint32_t head = QUOIT_RING_LOAD(p->head, QUOIT_RING_ACQUIRE); /* A2, pairs with R2 */

	if (head - p->cached_head > p->published - p->cached_head)
		return false;
	p->cached_head = head;
	return true;
}

/* How many slots are free by the cached head: never more than there really are. */
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
 * Publish all that is reserved, once per flush.  True: *need_wake says that the consumer sleeps, or
 * is about to; wake it.
 */
QUOIT_RING_FUNCTION bool quoit_ring_submit_wake(struct quoit_producer *p, const uint32_t *need_wake)
{
	p->published = p->next;
	QUOIT_RING_STORE(p->tail, p->next, QUOIT_RING_SEQ_CST);     /* W1 and R1 */
	return QUOIT_RING_LOAD(need_wake, QUOIT_RING_SEQ_CST) != 0; /* W1 */
}

/*
 * Must the consumer's bell be rung?  For a consumer that a bell wakes, and that hears a bell which
 * was rung before.  wake: the result of the last submit.
 *
 * One ring of the bell is enough for each sleep, however much is submitted meanwhile: as long as an
 * item for which it was rung is not released, the consumer has not slept again with the flag up,
 * unless it looks again by itself.
 */
QUOIT_RING_FUNCTION bool quoit_ring_must_ring(struct quoit_producer *p, bool wake)
{
	uint32_t head;

	if (!wake) {
		/* otherwise a head that has wrapped around would silence the bell */
		p->rung = false;
		return false;
	}
	head = QUOIT_RING_LOAD(p->head, QUOIT_RING_RELAXED); /* as new as need_wake: W2 */
	return !p->rung || p->published - head <= p->published - p->rung_for;
}

/* Note that the bell was rung: after quoit_ring_must_ring(), before anything else is submitted. */
QUOIT_RING_FUNCTION void quoit_ring_rang(struct quoit_producer *p)
{
	p->rung = true;
	p->rung_for = p->published;
}

/* ---- consumer ---- */

/*
 * How many slots are ready from c->next on.  The tail is loaded once, and only when the last look
 * is used up.  More than c->entries: the producer lies.
 */
QUOIT_RING_FUNCTION uint32_t quoit_ring_peek(struct quoit_consumer *c)
{
	if (c->cached_tail == c->next)
		c->cached_tail = QUOIT_RING_TAIL(c, QUOIT_RING_ACQUIRE); /* A1, pairs with R1 */
	return c->cached_tail - c->next;
}

/* Give n slots back: they have been copied and may be overwritten. */
QUOIT_RING_FUNCTION void quoit_ring_release(struct quoit_consumer *c, uint32_t n)
{
	c->next += n;
	QUOIT_RING_STORE(c->head, c->next, QUOIT_RING_RELEASE); /* R2, pairs with A2 */
}

/*
 * Announce that we are about to sleep.  True: nothing has come, and each later submit will see the
 * flag.  False: there is work, do not sleep.  Either way the flag stays up until
 * quoit_ring_awake().
 */
QUOIT_RING_FUNCTION bool quoit_ring_sleep(struct quoit_consumer *c, uint32_t *need_wake)
{
	QUOIT_RING_STORE(need_wake, 1u, QUOIT_RING_SEQ_CST);     /* W2 */
	c->cached_tail = QUOIT_RING_TAIL(c, QUOIT_RING_SEQ_CST); /* W2 and A1 */
	return c->cached_tail == c->next;
}

/* Take the flag down.  A wake-up that is under way may still arrive; it does no harm. */
QUOIT_RING_FUNCTION void quoit_ring_awake(uint32_t *need_wake)
{
	QUOIT_RING_STORE(need_wake, 0u, QUOIT_RING_RELAXED);
}

/* ---- a tail with a line of its own ---- */

#ifndef __CUDACC__ /* the tails of a device's rings have no line */

/*
 * As quoit_ring_submit_wake, for a tail that has a line.  item: the one item that is published,
 * this many words long; NULL: none is carried.  The line carries it in line[0] (the lower half of
 * the first word) to line[words - 1].  That lower half holds the item's complement, so that zero,
 * as in a new line, means nothing.  An item whose first word has an upper half is not carried.
 */
QUOIT_RING_FUNCTION bool quoit_ring_submit_line(struct quoit_producer *p, const uint64_t *item,
						uint32_t words, const uint32_t *need_wake)
{
	uint64_t *line = p->line, tail = (uint64_t)p->next << 32;

	if (item && item[0] >> 32 == 0) {
		/*
		 * R1 once more.  It comes first: a consumer that still reads the last item must see
		 * that it goes.
		 */
		QUOIT_RING_STORE(&line[0], (uint64_t)p->published << 32, QUOIT_RING_RELEASE);
#pragma GCC unroll 8
		for (uint32_t i = 1; i < words; i++)
			QUOIT_RING_STORE(&line[i], item[i], QUOIT_RING_RELEASE); /* R3 */
		tail |= ~(uint32_t)item[0];
	}
	p->published = p->next;
	QUOIT_RING_STORE(&line[0], tail, QUOIT_RING_SEQ_CST);       /* W1 and R1 */
	return QUOIT_RING_LOAD(need_wake, QUOIT_RING_SEQ_CST) != 0; /* W1 */
}

/*
 * After a peek of one: copy the item from the tail's line, if it is carried there.  False: it is
 * not carried, or no longer; read it in its slot.  The upper half of its first word is zero.
 */
QUOIT_RING_FUNCTION bool quoit_ring_carried(const struct quoit_consumer *c, uint64_t *to,
					    uint32_t words)
{
	const uint64_t *line = c->line;
	uint64_t first = QUOIT_RING_LOAD(&line[0], QUOIT_RING_RELAXED); /* the peek was A1 */

	if ((uint32_t)first == 0 || (uint32_t)(first >> 32) - c->next != 1)
		return false;
	to[0] = ~(uint32_t)first;
#pragma GCC unroll 8
	for (uint32_t i = 1; i < words; i++)
		to[i] = QUOIT_RING_LOAD(&line[i], QUOIT_RING_ACQUIRE); /* A3 */
	return QUOIT_RING_LOAD(&line[0], QUOIT_RING_RELAXED) == first;
}

#endif

/* ---- elements ---- */

/*
 * Copy a slot of `words` 64-bit words out of memory that the peer may be changing: every word is
 * loaded exactly once, so the words that are checked afterwards are the words that are used,
 * whatever the peer does (reliability: one copy, then only the copy).
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
#ifndef __CUDACC__ /* CUDA has another word for that */
#pragma GCC unroll 8
#endif
	for (; i < words; i++)
		to[i] = QUOIT_RING_LOAD(&from[i], QUOIT_RING_RELAXED);
}

#endif

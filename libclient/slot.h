/* SPDX-License-Identifier: MIT */
/*
 * slot.h - a slot of the SQ: take it, write its words, publish it.  Inline: every SQE takes this
 * path, which has no system call, no lock and no clock.
 *
 * Words are written one by one, each assembled from loads that are no wider than the stores which
 * made the fields a moment ago.  A wider load would wait until those stores are in the cache,
 * behind stores to slots whose lines this core does not have yet.
 */
#ifndef LIBQUOIT_SLOT_H
#define LIBQUOIT_SLOT_H

#include <errno.h>

#include "alone.h"
#include "library.h"
#include "mine.h"
#include "queue.h"
#include "refusal.h"

#define SLOT_INLINE static inline __attribute__((always_inline))

/* Slots are claimed before they are filled, several at a time. */
SLOT_INLINE void slot_claim(struct quoit_ring *q, uint32_t index)
{
	if (UNLIKELY(index == q->claimed))
		libquoit_queue_claim(q);
}

/* As libquoit_queue_take.  No other thread may use the ring until slot_done. */
SLOT_INLINE int slot_take(struct quoit_ring *q, uint32_t *ret_index)
{
	if (UNLIKELY(!libquoit_is_mine(q->mine)))
		return libquoit_refuse_child(q);
	if (UNLIKELY(alone_check(q)))
		return -EBUSY;
	alone_mark(q, MARK_PUSHES);
	if (UNLIKELY(!quoit_ring_reserve(&q->sq, ret_index))) {
		alone_clear(q);
		return libquoit_queue_take(q, ret_index);
	}
	slot_claim(q, *ret_index);
	return 0;
}

/* The words of a slot that was taken. */
SLOT_INLINE uint64_t *slot_words(struct quoit_ring *q, uint32_t index)
{
	return (uint64_t *)&q->sqes[index & q->sq_mask];
}

/* Two 32-bit words as one of 64, loaded one by one: the compiler may not join atomic loads. */
SLOT_INLINE uint64_t slot_pair(const void *at)
{
	const uint32_t *word = at;

	return __atomic_load_n(&word[0], __ATOMIC_RELAXED) |
	       (uint64_t)__atomic_load_n(&word[1], __ATOMIC_RELAXED) << 32;
}

/*
 * slot_header: the first word of a pushed SQE, without its device.  The second word is user_data.
 * On a managed ring a push's user_data is its SQ index, which names the job in an error record; a
 * quoit_job has more than 32 bits, so the two are never mixed up.
 */
SLOT_INLINE uint64_t slot_header(uint8_t opcode, uint8_t flags, uint8_t arg)
{
	return opcode | (uint64_t)(flags | QUOIT_SQE_QUIET) << 8 | (uint64_t)arg << 24;
}

SLOT_INLINE uint64_t slot_user_data(const struct quoit_ring *q, uint32_t index, uint64_t raw)
{
	return q->raw ? raw : index;
}

/* All words of a taken slot are written: publish when a batch is full. */
SLOT_INLINE void slot_done(struct quoit_ring *q, uint32_t index)
{
	if (UNLIKELY(q->stamps != NULL))
		q->notes[index & q->sq_mask].site = q->site;
	alone_clear(q);
	/* If quoitd could not be woken, the next wait reports it: the job is in the ring. */
	if (UNLIKELY(q->sq.next - q->sq.published >= q->batch))
		(void)quoit_flush(q);
}

#endif

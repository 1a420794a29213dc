/* SPDX-License-Identifier: MIT */
/* queue.h - SQ and CQ of a ring; slot.h has the path of every SQE */
#ifndef LIBQUOIT_QUEUE_H
#define LIBQUOIT_QUEUE_H

#include <stdint.h>

struct quoit_ring;
struct quoit_sqe;

/*
 * A free slot of the SQ, its index in *ret_index.  A managed ring waits for room;
 * a raw one returns -EAGAIN.
 */
int libquoit_queue_take(struct quoit_ring *q, uint32_t *ret_index);

/* Claim slots from q->claimed on, for slot_claim. */
void libquoit_queue_claim(struct quoit_ring *q);

/* Fill a taken slot with a job that posts a CQE, and publish when a batch is full. */
void libquoit_queue_put(struct quoit_ring *q, uint32_t index, const struct quoit_sqe *sqe,
			uint64_t user_data);

/* How many CQEs are ready.  A tail that lies breaks the ring. */
uint32_t libquoit_queue_ready(struct quoit_ring *q);

/* Give n CQEs back, and note when samples among them were reaped. */
void libquoit_queue_release(struct quoit_ring *q, uint32_t n);

#endif

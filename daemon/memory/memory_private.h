/* SPDX-License-Identifier: MIT */
/*
 * memory_private.h - what the files behind memory.h share: memory_need.c (what is lacking),
 * memory.c (bytes and their pages), memory_device.c (bytes on devices) and memory_queue.c (whose
 * turn it is).  Owned by the session's reactor.
 */
#ifndef QUOITD_MEMORY_PRIVATE_H
#define QUOITD_MEMORY_PRIVATE_H

#include "host/tsc.h"
#include "memory.h"

/*
 * Requests that a session may have with the memory thread: no allocation is asked for behind so
 * many, and no piece given back behind the latter number: nobody's line there is to be long.
 */
#define MEMORY_ASKED      16u
#define MEMORY_ASKED_MOST 128u

/* ---- memory_need.c ---- */

/* Bytes of one or more buffers that have none, by the region that they are to come from. */
struct memory_need {
	uint64_t pageable, pinned;
	struct {
		uint64_t bytes;
		uint32_t number; /* of the device */
	} device[2];             /* a job has tensors on two at most, a copy's */
};

/* What a job's buffers lack; a buffer that is named twice counts once. */
struct memory_need memory_needs(const struct session *s, uint8_t tensors, const uint32_t *view);

/* Bytes of the pageable region that nobody has.  Only an eager session has more than its lease. */
static inline uint64_t memory_lease_left(const struct session *s)
{
	return s->memory.used < s->memory.lease ? s->memory.lease - s->memory.used : 0;
}

/* The same of device `number`; the first has number 1. */
static inline uint64_t memory_device_left(const struct session *s, uint32_t number)
{
	return s->device[number - 1].lease - s->device[number - 1].used;
}

/* Are there so many bytes? */
bool memory_fits(const struct session *s, struct memory_need need);
bool memory_fits_device(const struct session *s, const struct memory_need *need, unsigned i);

/* ---- memory.c ---- */

/*
 * Bytes for all buffers of a job, which fit; pages may come later, job->waits counts them.
 * False: not all yet; the job is the head of the queue until a punch is done, or the pinned
 * region is tidy.
 */
bool memory_reserve(struct session *s, struct job *job);

/* Does the job wait for bytes, or for pages? */
static inline bool memory_holds_up(const struct job *job)
{
	return job->memory_waits || job->allocating;
}

/* It has all of them. */
static inline void memory_is_given(struct session *s, struct job *job)
{
	job->memory = tsc_now();
	memory_count(s, job, job->memory);
}

/*
 * Keep a buffer that is released until the job that waited when it was freed has its bytes.  False:
 * that one has them.
 */
bool memory_park(struct session *s, uint32_t buffer);

/* A buffer that nobody uses and nobody waits for: its bytes and its entry may go to another. */
void memory_give_back(struct session *s, uint32_t buffer);

/* ---- memory_device.c ---- */

/*
 * Count a buffer's bytes on its device, where there are so many.  Its executor finds a place for
 * them, unless they are few and for GPU-direct mode.
 */
void memory_device_reserve(struct session *s, struct buffer *b);

/*
 * They are free; the executor that has them is to be told, and the entry stays until then.  A place
 * in the slab is ours to give, as all jobs that were there have ended.
 */
void memory_device_drop(struct session *s, struct buffer *b);

#endif

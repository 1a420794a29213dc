/* SPDX-License-Identifier: MIT */
/*
 * memory_private.h - what the files behind memory.h share.  Owned by the session's reactor.
 *
 *	memory_need.c    what is lacking
 *	memory.c         bytes and their pages
 *	memory_device.c  bytes on devices
 *	memory_queue.c   which job gets bytes next
 */
#ifndef QUOITD_MEMORY_PRIVATE_H
#define QUOITD_MEMORY_PRIVATE_H

#include "base/tsc.h"
#include "memory.h"

/*
 * Bounds of a session's open requests at the memory thread, so that its line there stays short:
 * with MEMORY_ASKED open it asks for no more pages, with MEMORY_ASKED_MOST it gives no more pieces
 * back.
 */
#define MEMORY_ASKED      16u
#define MEMORY_ASKED_MOST 128u

/* ---- memory_need.c ---- */

/* Bytes that one or more buffers lack, by the memory that they come from. */
struct memory_need {
	uint64_t pageable;
	uint64_t fixed[FIXED_REGIONS];
	struct {
		uint64_t bytes;
		uint32_t number; /* of the device, from 1 */
	} device[2];             /* only a copy has tensors on two */
};

/* What a job's buffers lack; a buffer that is named twice counts once. */
struct memory_need memory_needs(const struct session *s, uint8_t tensors, const uint32_t *view);

/* Free bytes of the pageable lease; only an eager session may use more than its lease. */
static inline uint64_t memory_lease_left(const struct session *s)
{
	return s->memory.used < s->memory.lease ? s->memory.lease - s->memory.used : 0;
}

/* Free bytes on device `number`; the first has number 1. */
static inline uint64_t memory_device_left(const struct session *s, uint32_t number)
{
	return s->device[number - 1].lease - s->device[number - 1].used;
}

/* Does anything of a region of fixed pages lack? */
static inline bool memory_needs_fixed(const struct memory_need *need)
{
	return need->fixed[FIXED_PINNED] | need->fixed[FIXED_SHARED];
}

/* Are so many bytes free?  The second: on need->device[i]. */
bool memory_fits(const struct session *s, struct memory_need need);
bool memory_fits_device(const struct session *s, const struct memory_need *need, unsigned i);

/* ---- memory.c ---- */

/*
 * Give all buffers of a job their bytes, which fit; pages may come later, and job->waits counts
 * them.  False: not all have theirs; the job stays the head of the queue until a punch is done or
 * the pinned region is tidy.
 */
bool memory_reserve(struct session *s, struct job *job);

/* Does the job wait for bytes or for pages? */
static inline bool memory_holds_up(const struct job *job)
{
	return job->memory_waits || job->allocating;
}

/* The job has all its memory. */
static inline void memory_is_given(struct session *s, struct job *job)
{
	job->memory = tsc_now();
	memory_count(s, job, job->memory);
}

/*
 * Keep a released buffer charged until the job that waited when it was freed has its bytes.  False:
 * that job has them already.
 */
bool memory_park(struct session *s, uint32_t buffer);

/* Free the bytes and the entry of a buffer that no job uses or waits for. */
void memory_give_back(struct session *s, uint32_t buffer);

/* ---- memory_device.c ---- */

/*
 * Count a buffer's bytes on its device; they fit.  The device's executor finds a place for them,
 * unless the buffer is small and goes into the slab of GPU-direct mode.
 */
void memory_device_reserve(struct session *s, struct buffer *b);

/*
 * Free a buffer's bytes on its device.  Its executor must be told, and its entry stays until then.
 * A place in the slab is ours to free at once, since all jobs that used it have ended.
 */
void memory_device_drop(struct session *s, struct buffer *b);

#endif

/* SPDX-License-Identifier: MIT */
/* memory.c - finds bytes for buffers, and the pages under them */
#include "memory_private.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>

#include "base/tsc.h"
#include "lease.h"
#include "memory_pinned.h"
#include "session/named_tensor.h"
#include "session/owner.h"
#include "session/tensor_bits.h"

/* ---- pages ---- */

/* Would the resident bytes stay within the lease with `more` new ones? */
static bool pages_fit(const struct session *s, uint64_t more)
{
	return s->memory.used + s->region.cached_bytes + s->memory.punching + more <=
	       s->memory.lease;
}

static bool punch(struct session *s, const struct region_piece *piece)
{
	bool room = s->requests < MEMORY_ASKED_MOST;
	struct memory_message m = {.op = MEMORY_PUNCH,
				   .session = s,
				   .offset = piece->offset,
				   .bytes = sizeclass_bytes(piece->class),
				   .class = piece->class};

	if (!room || !reactor_send_memory(s->reactor, &m)) {
		region_give(&s->region, piece->offset, piece->class, true);
		return false;
	}
	s->memory.punching += m.bytes;
	s->requests++;
	return true;
}

/*
 * Send cached pieces to be punched until the resident bytes fit the lease; punches are done before
 * the next allocation.  False: not all could be sent yet.
 */
static bool make_room(struct session *s)
{
	uint64_t resident = s->memory.used + s->region.cached_bytes;
	struct region_piece piece;

	if (resident > s->memory.lease) /* better than clearing pages again and again */
		(void)lease_ask(s, resident - s->memory.lease, false);
	while (s->memory.used + s->region.cached_bytes > s->memory.lease &&
	       region_take_cached(&s->region, &piece))
		if (!punch(s, &piece))
			return false;
	return true;
}

static void charge(struct session *s, uint64_t bytes)
{
	struct session_memory *m = &s->memory;

	m->used += bytes;
	if (m->used > m->window_peak) { /* the window's peak is never above the peak */
		m->window_peak = m->used;
		if (m->used > m->peak)
			m->peak = m->used;
	}
}

/* Give the buffer this piece of the region. */
static void settle(struct session *s, struct buffer *b, const struct region_piece *piece)
{
	charge(s, sizeclass_bytes(piece->class));
	b->offset = piece->offset;
	b->reserved = true;
	b->zeroed = !piece->resident; /* new pages are zero */
}

/* ---- at once ---- */

/* Take a piece of a region of fixed pages, with old contents; false: no place is long enough. */
static bool take_fixed(struct session *s, struct buffer *b)
{
	b->reserved =
		pinned_take(&s->pieces[b->fixed], b->size, (uint32_t)(b - s->buffers), &b->offset);
	return b->reserved;
}

/* Take one buffer's bytes with their pages, at once; false: that is not possible. */
static bool take(struct session *s, struct buffer *b)
{
	uint64_t bytes = sizeclass_bytes(b->class);
	struct region_piece piece;

	if (b->place == PLACE_DEVICE)
		return false; /* no job that runs on the host uses them */
	if (b->fixed)
		return (b->fixed != FIXED_PINNED || s->pinned_filled) && take_fixed(s, b);
	if (bytes > memory_lease_left(s) || !region_take(&s->region, b->class, &piece))
		return false;
	if (!piece.resident &&
	    (bytes > MEMORY_INLINE_BYTES || !pages_fit(s, bytes) ||
	     fallocate(s->region.fd, 0, (off_t)piece.offset, (off_t)bytes) < 0)) {
		region_give(&s->region, piece.offset, piece.class, false);
		return false;
	}
	settle(s, b, &piece);
	return true;
}

/* take() for the usual case: a cached piece, which has its pages. */
static inline bool take_again(struct session *s, struct buffer *b)
{
	uint64_t bytes = region_piece_bytes(&s->region, b->class);

	if (b->place != PLACE_PAGEABLE || s->memory.used + bytes > s->memory.lease ||
	    !region_reuse(&s->region, b->class, &b->offset))
		return false;
	charge(s, bytes);
	b->reserved = true;
	return true;
}

/* Free the piece of a pageable buffer; it keeps its pages. */
static inline void give_piece(struct session *s, struct buffer *b)
{
	assert(s->memory.used >= region_piece_bytes(&s->region, b->class));
	s->memory.used -= region_piece_bytes(&s->region, b->class);
	region_give(&s->region, b->offset, b->class, true);
	b->reserved = b->zeroed = false;
}

/* Free the bytes of a buffer on the host. */
static void untake(struct session *s, struct buffer *b)
{
	if (b->fixed) {
		pinned_give(&s->pieces[b->fixed], b->offset, b->size);
		b->reserved = b->zeroed = false;
	} else {
		give_piece(s, b);
	}
}

bool memory_take_one(struct session *s, struct buffer *b)
{
	return s->memory.head == NIL && (take_again(s, b) || take(s, b));
}

bool memory_take_now(struct session *s, uint8_t tensors, const uint32_t *view)
{
	uint8_t taken = 0;

	if (s->memory.head != NIL)
		return false; /* jobs in the queue come first */
	for_each_tensor (i, tensors) {
		struct buffer *b = &s->buffers[s->views[view[i]].buffer];

		if (b->reserved)
			continue;
		if (!take(s, b)) {
			for_each_tensor (t, taken)
				untake(s, &s->buffers[s->views[view[t]].buffer]);
			return false;
		}
		taken |= (uint8_t)(1u << i);
	}
	return true;
}

void memory_take_eagerly(struct session *s, struct buffer *b)
{
	uint64_t bytes = sizeclass_bytes(b->class);
	struct region_piece piece;

	if (b->reserved || b->place != PLACE_PAGEABLE || !region_take(&s->region, b->class, &piece))
		return;
	if (!piece.resident && fallocate(s->region.fd, 0, (off_t)piece.offset, (off_t)bytes) < 0) {
		region_give(&s->region, piece.offset, piece.class, false);
		return;
	}
	settle(s, b, &piece);
}

/* ---- for a job in the queue ---- */

/* The buffer's piece has no pages, and we cannot ask for them yet: undo. */
static bool give_up(struct session *s, struct buffer *b, const struct region_piece *piece)
{
	s->memory.used -= sizeclass_bytes(piece->class);
	region_give(&s->region, piece->offset, piece->class, false);
	b->reserved = b->zeroed = false;
	s->memory.more = !s->requests; /* otherwise the next answer tries again */
	return false;
}

/*
 * Reserve bytes, which are there, for one buffer of a job; its pages may come later.  False: a
 * piece of its class is being punched, or the session has asked for too many pages already.
 */
static bool reserve(struct session *s, struct job *job, uint32_t index)
{
	struct buffer *b = &s->buffers[index];
	struct memory_message m = {.op = MEMORY_ALLOCATE, .session = s, .buffer = index};
	struct region_piece piece;

	m.bytes = sizeclass_bytes(b->class);
	if (!region_take(&s->region, b->class, &piece)) /* only while one is punched */
		return !s->memory.punching;
	settle(s, b, &piece);
	if (piece.resident)
		return true;
	if (!make_room(s))
		return give_up(s, b, &piece);
	if (m.bytes <= MEMORY_INLINE_BYTES && pages_fit(s, 0) &&
	    fallocate(s->region.fd, 0, (off_t)piece.offset, (off_t)m.bytes) == 0)
		return true;
	m.offset = piece.offset;
	m.class = piece.class;
	m.job = job_index(s, job);
	if (s->requests >= MEMORY_ASKED || !reactor_send_memory(s->reactor, &m))
		return give_up(s, b, &piece);
	job->allocating++;
	job->waits++;
	s->requests++;
	memory_count(s, job, tsc_now());
	return true;
}

/*
 * Take pieces of fixed pages for all buffers of the job that lack one; false: not all find a place.
 */
static bool reserve_fixed(struct session *s, struct job *job)
{
	uint8_t taken = 0;

	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		struct buffer *b;

		if (!(job->tensors & 1u << i))
			continue;
		b = &s->buffers[s->views[job->view[i]].buffer];
		if (b->reserved || !b->fixed)
			continue;
		if (!take_fixed(s, b)) {
			while (i-- > 0)
				if (taken & 1u << i)
					untake(s, &s->buffers[s->views[job->view[i]].buffer]);
			return false;
		}
		taken |= (uint8_t)(1u << i);
	}
	return true;
}

bool memory_reserve(struct session *s, struct job *job)
{
	if (!reserve_fixed(s, job))
		return false;
	for_each_tensor (i, job->holds) {
		struct buffer *b = &s->buffers[s->views[job->view[i]].buffer];

		if (b->place == PLACE_DEVICE && !b->reserved)
			memory_device_reserve(s, b);
	}
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job->holds & 1u << i && !s->buffers[s->views[job->view[i]].buffer].reserved &&
		    !reserve(s, job, s->views[job->view[i]].buffer))
			return false;
	return true;
}

/* ---- back ---- */

/* Free a buffer that has bytes outside the pageable region. */
static __attribute__((noinline)) void give_back_elsewhere(struct session *s, uint32_t index)
{
	struct buffer *b = &s->buffers[index];

	if (b->place == PLACE_DEVICE) {
		memory_device_drop(s, b);
		return;
	}
	if (b->place == PLACE_NAMED) {
		session_named_left(s, b);
		if (s->services.unused) /* its home must hear of that */
			reactor_attend(s->reactor, s);
	}
	if (b->fixed)
		untake(s, b);
	tables_give_buffer(s, index);
}

/* Nearly always this calls nothing. */
static inline void give_back(struct session *s, struct buffer *b, uint32_t index)
{
	if (b->reserved && b->size) {
		if (b->place != PLACE_PAGEABLE) {
			give_back_elsewhere(s, index);
			return;
		}
		give_piece(s, b);
	}
	tables_give_buffer(s, index);
}

void memory_give_back(struct session *s, uint32_t index)
{
	give_back(s, &s->buffers[index], index);
}

void memory_release(struct session *s, uint32_t index)
{
	struct buffer *b = &s->buffers[index];

	if (b->park_job == NIL || !memory_park(s, index))
		give_back(s, b, index);
}

/* ---- the memory thread's answers ---- */

bool memory_close(struct session *s)
{
	struct memory_message m = {.op = MEMORY_CLOSE, .session = s};

	/* In this order: until the answer comes, the region is the thread's. */
	if (!s->requests && s->region.base && reactor_send_memory(s->reactor, &m))
		s->requests++;
	return !s->requests && !s->region.base;
}

/* The system has no pages although the lease had bytes; no job uses the buffer yet. */
static void take_back(struct session *s, struct job *job, const struct memory_message *m)
{
	struct buffer *b = &s->buffers[m->buffer];

	s->memory.used -= m->bytes;
	region_give(&s->region, m->offset, m->class, false);
	b->reserved = b->zeroed = false;
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job->tensors & 1u << i && s->views[job->view[i]].buffer == m->buffer)
			job->zero &= (uint8_t) ~(1u << i);
	job->failed = m->result;
	job->error = (struct quoit_error){
		.field = QUOIT_FIELD_MEMORY, .code = (int16_t)m->result, .value = {m->bytes, 0}};
}

static void allocated(struct session *s, const struct memory_message *m, memory_ready_fn *ready)
{
	struct job *job = &s->jobs[m->job];

	job->allocating--;
	job->waits--;
	if (!memory_holds_up(job))
		memory_is_given(s, job);
	if (m->result < 0 && !job->failed)
		take_back(s, job, m);
	if (job_may_start(job))
		ready(s, job);
	memory_advance(s, ready); /* the head may be this job, or want what it did not get */
}

static void punched(struct session *s, const struct memory_message *m, memory_ready_fn *ready)
{
	s->memory.punching -= m->bytes;
	region_give(&s->region, m->offset, m->class, false);
	memory_advance(s, ready);
}

void memory_answer(struct session *s, const struct memory_message *m, memory_ready_fn *ready)
{
	assert(s->requests > 0);
	s->requests--;
	switch (m->op) {
	case MEMORY_CLOSE:
		memory_pinned_forget(s);
		break;
	case MEMORY_FILL:
	case MEMORY_TIDY:
		if (memory_pinned_answer(s, m))
			memory_advance(s, ready);
		break;
	case MEMORY_PUNCH:
		punched(s, m, ready);
		break;
	default:
		allocated(s, m, ready);
		break;
	}
}

void memory_trim(struct session *s)
{
	struct session_memory *m = &s->memory;
	uint64_t keep = m->window_peak + m->window_peak / 2;
	struct region_piece piece;

	while (m->used + s->region.cached_bytes > keep && region_take_cached(&s->region, &piece))
		if (!punch(s, &piece))
			break;
	lease_trim(s, m->window_peak);
	m->window_peak = m->used;
}

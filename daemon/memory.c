/* SPDX-License-Identifier: MIT */
/* memory.c - bytes in fetch order, and the pages under them */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>

#include "memory_pinned.h"
#include "reactor.h"
#include "tensor_bits.h"

/* ---- pages ---- */

/* Would the resident bytes stay within the lease with `more` new ones? */
static bool pages_fit(const struct session *s, uint64_t more)
{
	return s->memory.used + s->region.cached_bytes + s->memory.punching + more <=
	       s->memory.lease;
}

static bool punch(struct session *s, const struct region_piece *piece)
{
	struct memory_message m = {.op = MEMORY_PUNCH,
				   .session = s,
				   .offset = piece->offset,
				   .bytes = sizeclass_bytes(piece->class),
				   .class = piece->class};

	if (!memory_send(reactor_memory_link(s->reactor), &m)) {
		region_give(&s->region, piece->offset, piece->class, true);
		return false;
	}
	s->memory.punching += m.bytes;
	s->requests++;
	return true;
}

/* Give cached pieces back until the resident bytes fit; they go before the next allocation. */
static void make_room(struct session *s)
{
	struct region_piece piece;

	while (s->memory.used + s->region.cached_bytes > s->memory.lease &&
	       region_take_cached(&s->region, &piece))
		if (!punch(s, &piece))
			return;
}

static void charge(struct session *s, uint64_t bytes)
{
	struct memory *m = &s->memory;

	m->used += bytes;
	if (m->used > m->window_peak) { /* which is never above the other */
		m->window_peak = m->used;
		if (m->used > m->peak)
			m->peak = m->used;
	}
}

/* The buffer gets a piece of the region. */
static void settle(struct session *s, struct buffer *b, const struct region_piece *piece)
{
	charge(s, sizeclass_bytes(piece->class));
	b->offset = piece->offset;
	b->reserved = true;
	b->zeroed = !piece->resident; /* new pages are zero */
}

/* Bytes of one or more buffers that have none, by the region that they are to come from. */
struct need {
	uint64_t pageable, pinned;
};

static uint64_t lease_left(const struct session *s)
{
	/* Only an eager session has more than its lease. */
	return s->memory.used < s->memory.lease ? s->memory.lease - s->memory.used : 0;
}

static bool fits(const struct session *s, struct need need)
{
	return need.pageable <= lease_left(s) &&
	       (!need.pinned || (s->pinned_filled && need.pinned <= pinned_free(&s->pieces)));
}

/* What a job's buffers lack; a buffer that is named twice counts once. */
static struct need needs_of(const struct session *s, uint8_t tensors, const uint32_t *view)
{
	struct need need = {0};

	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct buffer *buffer;
		uint32_t b, seen = 0;

		if (!(tensors & 1u << i))
			continue;
		b = s->views[view[i]].buffer;
		buffer = &s->buffers[b];
		for (unsigned j = 0; j < i; j++)
			seen |= tensors & 1u << j && s->views[view[j]].buffer == b;
		if (seen || buffer->reserved)
			continue;
		if (buffer->place == PLACE_PINNED)
			need.pinned += pinned_piece_bytes(buffer->size);
		else
			need.pageable += sizeclass_bytes(buffer->class);
	}
	return need;
}

/* A piece of the pinned region, with old contents; false: there is none in one place. */
static bool take_pinned(struct session *s, struct buffer *b)
{
	b->reserved = pinned_take(&s->pieces, b->size, (uint32_t)(b - s->buffers), &b->offset);
	return b->reserved;
}

/* One buffer's bytes with their pages, at once; false: they are not to be had. */
static bool take(struct session *s, struct buffer *b)
{
	uint64_t bytes = sizeclass_bytes(b->class);
	struct region_piece piece;

	if (b->place == PLACE_PINNED)
		return s->pinned_filled && take_pinned(s, b);
	if (bytes > lease_left(s) || !region_take(&s->region, b->class, &piece))
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

/* take() where a piece that has its pages will do, as nearly always. */
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

/* Its bytes, and their pages, may go to another.  Inline, as every free comes by. */
static inline __attribute__((always_inline)) void untake(struct session *s, struct buffer *b)
{
	if (b->place == PLACE_PINNED) {
		pinned_give(&s->pieces, b->offset, b->size);
	} else {
		s->memory.used -= region_piece_bytes(&s->region, b->class);
		region_give(&s->region, b->offset, b->class, true);
	}
	b->reserved = b->zeroed = false;
}

bool memory_take_one(struct session *s, struct buffer *b)
{
	return s->memory.head == NIL && (take_again(s, b) || take(s, b));
}

bool memory_take_now(struct session *s, uint8_t tensors, const uint32_t *view)
{
	uint8_t taken = 0;

	if (s->memory.head != NIL)
		return false; /* others come first */
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

/*
 * Bytes for one buffer of a job, for which there is room; pages may come later.  False: its
 * piece of the region is just being punched.
 */
static bool reserve(struct session *s, struct job *job, uint32_t index)
{
	struct buffer *b = &s->buffers[index];
	struct memory_message m = {.op = MEMORY_ALLOCATE, .session = s, .buffer = index};
	struct region_piece piece;

	m.bytes = sizeclass_bytes(b->class);
	if (!region_take(&s->region, b->class, &piece)) /* else excluded by counting */
		return !s->memory.punching;
	settle(s, b, &piece);
	if (piece.resident)
		return true;
	make_room(s);
	if (m.bytes <= MEMORY_INLINE_BYTES && pages_fit(s, 0) &&
	    fallocate(s->region.fd, 0, (off_t)piece.offset, (off_t)m.bytes) == 0)
		return true;
	m.offset = piece.offset;
	m.class = piece.class;
	m.job = job_index(s, job);
	if (!reactor_send_memory(s->reactor, &m))
		return true; /* thousands are queued: the job's own accesses bring the pages */
	job->allocating++;
	job->waits++;
	s->requests++;
	return true;
}

/* ---- bytes, in fetch order ---- */

bool memory_lacking(const struct session *s, const struct job *job)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job->tensors & 1u << i && !s->buffers[s->views[job->view[i]].buffer].reserved)
			return true;
	return false;
}

/* Pieces for all pinned buffers of the job that have none; false: for some there is no place. */
static bool reserve_pinned(struct session *s, struct job *job)
{
	uint8_t taken = 0;

	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		struct buffer *b;

		if (!(job->tensors & 1u << i))
			continue;
		b = &s->buffers[s->views[job->view[i]].buffer];
		if (b->reserved || b->place != PLACE_PINNED)
			continue;
		if (!take_pinned(s, b)) {
			while (i-- > 0)
				if (taken & 1u << i)
					untake(s, &s->buffers[s->views[job->view[i]].buffer]);
			return false;
		}
		taken |= (uint8_t)(1u << i);
	}
	return true;
}

/*
 * False: not all yet; the job is the head of the queue until a punch is done, or the pinned
 * region is tidy.
 */
static bool reserve_all(struct session *s, struct job *job)
{
	if (!reserve_pinned(s, job))
		return false;
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job->tensors & 1u << i && !s->buffers[s->views[job->view[i]].buffer].reserved &&
		    !reserve(s, job, s->views[job->view[i]].buffer))
			return false;
	return true;
}

/* Does this job write all of the tensor's buffer, without reading it? */
static bool overwrites(const struct session *s, const struct job *job, unsigned i)
{
	const struct view *v = &s->views[job->view[i]];

	return job->writes & 1u << i && !(job->reads & 1u << i) && v->covers && v->lo == 0 &&
	       v->hi == s->buffers[v->buffer].size;
}

/*
 * A piece with old contents falls to the first job that gets it: unless that job writes it
 * all, it clears it before it runs (job->zero).  Its access covers the whole buffer, so
 * nobody else looks before.
 */
static void take_over_contents(struct session *s, struct job *job)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		struct buffer *b;

		if (!(job->tensors & 1u << i) || overwrites(s, job, i))
			continue;
		b = &s->buffers[s->views[job->view[i]].buffer];
		if (b->reserved && !b->zeroed) {
			job->zero |= (uint8_t)(1u << i);
			b->zeroed = true;
		}
	}
	/* Only now: a job in place overwrites by one tensor what it reads by another. */
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job->tensors & 1u << i) {
			struct buffer *b = &s->buffers[s->views[job->view[i]].buffer];

			b->zeroed |= b->reserved;
		}
}

/*
 * A job far from its turn gets its bytes only while a good part of the lease is unused: a
 * deep queue would else fill the lease with buffers that wait, and the pages that are in use
 * would never be used again while they are warm.  Who waits for nothing else gets them.
 */
static bool is_time(const struct session *s, uint32_t other_waits, uint64_t bytes)
{
	const struct memory *m = &s->memory;

	return other_waits == 0 || m->used - m->fixed + bytes <= (m->lease - m->fixed) / 4;
}

void memory_admit(struct session *s, struct job *job)
{
	struct memory *m = &s->memory;
	struct need need;

	job->parked = NIL;
	if (!memory_lacking(s, job)) {
		take_over_contents(s, job);
		return;
	}
	need = needs_of(s, job->tensors, job->view);
	if (m->head == NIL && fits(s, need) && is_time(s, job->waits, need.pageable) &&
	    reserve_all(s, job)) {
		take_over_contents(s, job);
		return;
	}
	job->next = NIL;
	job->memory_waits = true;
	job->waits++;
	if (m->head == NIL)
		m->head = job_index(s, job);
	else
		s->jobs[m->tail].next = job_index(s, job);
	m->tail = job_index(s, job);
	s->memory_waited++;
}

static void give_back(struct session *s, uint32_t index)
{
	struct buffer *b = &s->buffers[index];

	if (b->reserved && b->size && b->place != PLACE_ARENA)
		untake(s, b);
	tables_give_buffer(s, index);
}

static void release_parked(struct session *s, struct job *job)
{
	uint32_t next;

	for (uint32_t i = job->parked; i != NIL; i = next) {
		next = s->buffers[i].next;
		give_back(s, i);
	}
	job->parked = NIL;
}

static struct job *pop(struct session *s)
{
	struct job *job = &s->jobs[s->memory.head];

	s->memory.head = job->next;
	if (s->memory.head == NIL)
		s->memory.tail = NIL;
	job->memory_waits = false;
	return job;
}

/* Everything before the head has ended and it still does not fit: it never would have. */
static void refuse_head(struct session *s, struct job *job, struct need need)
{
	bool pageable = need.pageable > lease_left(s);

	job->failed = -ENOMEM;
	job->error =
		(struct quoit_error){.field = QUOIT_FIELD_MEMORY,
				     .code = -ENOMEM,
				     .value = {pageable ? need.pageable : need.pinned,
					       pageable ? lease_left(s) : pinned_free(&s->pieces)}};
}

/* Give the head what it lacks, or refuse it for good.  False: it has to wait. */
static bool decide_head(struct session *s, struct job *job)
{
	struct need need;

	if (job->failed)
		return true;
	need = needs_of(s, job->tensors, job->view);
	if (fits(s, need)) {
		if (!is_time(s, job->waits - 1, need.pageable))
			return false;
		if (reserve_all(s, job)) {
			take_over_contents(s, job);
			return true;
		}
		if (s->oldest == s->memory.head && needs_of(s, job->tensors, job->view).pinned)
			memory_pinned_tidy(s);
		return false;
	}
	if (s->oldest != s->memory.head || (need.pinned && !s->pinned_filled))
		return false;
	refuse_head(s, job, need);
	return true;
}

void memory_advance(struct session *s, memory_ready_fn *ready)
{
	if (s->memory.tidying == TIDY_WAITS)
		s->memory.tidying = TIDY_NONE; /* look again: its reason may have gone */
	else if (s->memory.tidying == TIDY_READY)
		memory_pinned_tidy(s);
	while (s->memory.head != NIL && s->memory.tidying == TIDY_NONE) {
		struct job *job = &s->jobs[s->memory.head];

		if (!decide_head(s, job))
			return;
		pop(s);
		release_parked(s, job);
		if (--job->waits == 0)
			ready(s, job);
	}
}

void memory_mark_free(struct session *s, struct buffer *b)
{
	b->park_job = s->memory.tail;
	if (b->park_job != NIL)
		b->park_order = s->jobs[b->park_job].order;
}

void memory_release(struct session *s, uint32_t index)
{
	struct buffer *b = &s->buffers[index];

	if (b->park_job != NIL) {
		struct job *job = &s->jobs[b->park_job];

		if (job->memory_waits && job->order == b->park_order) {
			b->next = job->parked;
			job->parked = index;
			return;
		}
	}
	give_back(s, index);
}

bool memory_close(struct session *s)
{
	struct memory_message m = {.op = MEMORY_CLOSE, .session = s};

	if (s->region.base && !s->requests && memory_send(reactor_memory_link(s->reactor), &m))
		s->requests++;
	return !s->requests && !s->region.base;
}

void memory_answer(struct session *s, const struct memory_message *m, memory_ready_fn *ready)
{
	struct job *job;

	s->requests--;
	if (m->op == MEMORY_CLOSE) {
		memory_pinned_forget(s);
		return;
	}
	if (m->op == MEMORY_FILL || m->op == MEMORY_TIDY) {
		if (memory_pinned_answer(s, m))
			memory_advance(s, ready);
		return;
	}
	if (m->op == MEMORY_PUNCH) {
		s->memory.punching -= m->bytes;
		region_give(&s->region, m->offset, m->class, false);
		memory_advance(s, ready);
		return;
	}
	job = &s->jobs[m->job];
	job->allocating--;
	if (m->result < 0 && !job->failed) {
		struct buffer *b = &s->buffers[m->buffer];

		/* The system has no pages although the lease had bytes: nobody has the buffer yet.
		 */
		s->memory.used -= m->bytes;
		region_give(&s->region, m->offset, m->class, false);
		b->reserved = b->zeroed = false;
		for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
			if (job->tensors & 1u << i && s->views[job->view[i]].buffer == m->buffer)
				job->zero &= (uint8_t) ~(1u << i);
		job->failed = m->result;
		job->error = (struct quoit_error){
			.field = QUOIT_FIELD_MEMORY, .code = m->result, .value = {m->bytes, 0}};
	}
	if (--job->waits == 0)
		ready(s, job);
	memory_advance(s, ready); /* the head may be this job, or want what was not to be had */
}

void memory_trim(struct session *s)
{
	struct memory *m = &s->memory;
	uint64_t keep = m->window_peak + m->window_peak / 2;
	struct region_piece piece;

	while (m->used + s->region.cached_bytes > keep && region_take_cached(&s->region, &piece))
		if (!punch(s, &piece))
			break;
	m->window_peak = m->used;
}

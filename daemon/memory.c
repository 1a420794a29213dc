/* SPDX-License-Identifier: MIT */
/* memory.c - bytes in fetch order, and the pages under them */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>

#include "reactor.h"

/* ---- pages ---- */

/* Would the resident bytes stay within the lease with `more` new pages? */
static bool pages_fit(const struct session *s)
{
	return s->memory.used + s->region.cached_bytes + s->memory.punching <= s->memory.lease;
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

static void charge(struct session *s, struct buffer *b, const struct region_piece *piece)
{
	struct memory *m = &s->memory;

	b->offset = piece->offset;
	b->reserved = true;
	b->zeroed = !piece->resident; /* new pages are zero */
	if (m->used > m->peak)
		m->peak = m->used;
	if (m->used > m->window_peak)
		m->window_peak = m->used;
}

static bool fits(const struct session *s, uint64_t bytes)
{
	return bytes <= s->memory.lease - s->memory.used;
}

bool memory_take_now(struct session *s, struct buffer *b)
{
	uint64_t bytes = sizeclass_bytes(b->class);
	struct region_piece piece;

	if (s->memory.head != NIL || b->place != PLACE_PAGEABLE || !fits(s, bytes) ||
	    !region_take(&s->region, b->class, &piece))
		return false;
	s->memory.used += bytes;
	if (!piece.resident &&
	    (bytes > MEMORY_INLINE_BYTES || !pages_fit(s) ||
	     fallocate(s->region.fd, 0, (off_t)piece.offset, (off_t)bytes) < 0)) {
		s->memory.used -= bytes;
		region_give(&s->region, piece.offset, piece.class, false);
		return false;
	}
	charge(s, b, &piece);
	return true;
}

/* Bytes for one buffer of a job, for which there is room; pages may come later. */
static void reserve(struct session *s, struct job *job, uint32_t index)
{
	struct buffer *b = &s->buffers[index];
	struct memory_message m = {.op = MEMORY_ALLOCATE, .session = s, .buffer = index};
	struct region_piece piece;

	m.bytes = sizeclass_bytes(b->class);
	if (!region_take(&s->region, b->class, &piece))
		return; /* excluded by counting; the job then fails for want of bytes */
	s->memory.used += m.bytes;
	charge(s, b, &piece);
	if (piece.resident)
		return;
	make_room(s);
	if (m.bytes <= MEMORY_INLINE_BYTES && pages_fit(s) &&
	    fallocate(s->region.fd, 0, (off_t)piece.offset, (off_t)m.bytes) == 0)
		return;
	m.offset = piece.offset;
	m.class = piece.class;
	m.job = job_index(s, job);
	if (!reactor_send_memory(s->reactor, &m))
		return; /* thousands are queued: the job's own accesses bring the pages */
	job->allocating++;
	job->waits++;
	s->requests++;
}

/* ---- bytes, in fetch order ---- */

bool memory_lacking(const struct session *s, const struct job *job)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job->tensors & 1u << i && !s->buffers[s->views[job->view[i]].buffer].reserved)
			return true;
	return false;
}

/* Bytes of the job's buffers that have none; a buffer that is named twice counts once. */
static uint64_t bytes_lacking(const struct session *s, const struct job *job)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		uint32_t b, seen = 0;

		if (!(job->tensors & 1u << i))
			continue;
		b = s->views[job->view[i]].buffer;
		for (unsigned j = 0; j < i; j++)
			seen |= job->tensors & 1u << j && s->views[job->view[j]].buffer == b;
		if (!seen && !s->buffers[b].reserved)
			bytes += sizeclass_bytes(s->buffers[b].class);
	}
	return bytes;
}

static void reserve_all(struct session *s, struct job *job)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job->tensors & 1u << i && !s->buffers[s->views[job->view[i]].buffer].reserved)
			reserve(s, job, s->views[job->view[i]].buffer);
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

		if (!(job->tensors & 1u << i))
			continue;
		b = &s->buffers[s->views[job->view[i]].buffer];
		if (b->reserved && !b->zeroed && !overwrites(s, job, i))
			job->zero |= (uint8_t)(1u << i);
		b->zeroed |= b->reserved;
	}
}

void memory_admit(struct session *s, struct job *job)
{
	struct memory *m = &s->memory;

	job->parked = NIL;
	if (!memory_lacking(s, job)) {
		take_over_contents(s, job);
		return;
	}
	if (m->head == NIL && fits(s, bytes_lacking(s, job))) {
		reserve_all(s, job);
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

	if (b->reserved && b->place == PLACE_PAGEABLE && b->size) {
		s->memory.used -= sizeclass_bytes(b->class);
		region_give(&s->region, b->offset, b->class, true);
	}
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
static void refuse_head(struct session *s, struct job *job, uint64_t bytes)
{
	job->failed = -ENOMEM;
	job->error = (struct quoit_error){.field = QUOIT_FIELD_MEMORY,
					  .code = -ENOMEM,
					  .value = {bytes, s->memory.lease - s->memory.used}};
}

void memory_advance(struct session *s, memory_ready_fn *ready)
{
	while (s->memory.head != NIL) {
		struct job *job = &s->jobs[s->memory.head];
		uint64_t bytes = job->failed ? 0 : bytes_lacking(s, job);

		if (!fits(s, bytes)) {
			if (s->oldest != s->memory.head)
				return;
			refuse_head(s, job, bytes);
		}
		pop(s);
		if (!job->failed) {
			reserve_all(s, job);
			take_over_contents(s, job);
		}
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

void memory_answer(struct session *s, const struct memory_message *m, memory_ready_fn *ready)
{
	struct job *job;

	s->requests--;
	if (m->op == MEMORY_PUNCH) {
		s->memory.punching -= m->bytes;
		region_give(&s->region, m->offset, m->class, false);
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
		b->reserved = false;
		job->failed = m->result;
		job->error = (struct quoit_error){
			.field = QUOIT_FIELD_MEMORY, .code = m->result, .value = {m->bytes, 0}};
	}
	if (--job->waits == 0)
		ready(s, job);
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

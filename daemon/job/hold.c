/* SPDX-License-Identifier: MIT */
/* hold.c - grants acquires, and ends what was granted */
#include "hold.h"

#include <assert.h>
#include <errno.h>

#include "deps.h"
#include "memory/memory.h"
#include "observe/latency.h"
#include "record.h"
#include "tensor.h"

/* A RELEASE can wait behind jobs that need entries, so holds must not take them all. */
static uint32_t most(const struct session *s)
{
	return s->jobs_room / 2 < QUOIT_MAX_HOLDS ? s->jobs_room / 2 : QUOIT_MAX_HOLDS;
}

static uint32_t first(const struct session *s)
{
	return s->holds.count ? s->holds.first : NIL;
}

bool hold_is_allowed(const struct session *s, struct job *job)
{
	if (s->holds.count < most(s))
		return true;
	job->error = (struct quoit_error){
		.code = -EMFILE, .field = QUOIT_FIELD_HOLDS, .value = {s->holds.count, most(s)}};
	return false;
}

static struct buffer *buffer_of(const struct session *s, const struct job *job)
{
	return &s->buffers[s->views[job->view[0]].buffer];
}

void hold_grant(struct session *s, struct job *job, uint64_t now, job_ready_fn *ready)
{
	const uint64_t place = buffer_of(s, job)->offset + s->views[job->view[0]].offset;
	const uint32_t rest = place & ((1u << QUOIT_CQE_PLACE_BITS) - 1);
	struct ring *ring = s->rings[job->ring];

	/* The program may have released it already, and that RELEASE may have been looked at. */
	ring->looked_ahead = ring->sq.next;
	job->next = first(s);
	s->holds.first = job_index(s, job);
	s->holds.count++;
	s->holds.granted++;
	depth_enter(&s->holds.held, now);
	buffer_of(s, job)->holds++;
	job_leave_hold(s, job, (int32_t)(place >> QUOIT_CQE_PLACE_BITS),
		       rest << QUOIT_CQE_PLACE_SHIFT, now, ready);
}

/* ---- ends ---- */

/* Since when jobs have waited for this hold (TSC); 0: none does. */
static uint64_t awaited_since(const struct session *s, const struct job *job)
{
	uint64_t since = UINT64_MAX;

	if (job->edges == NIL)
		return 0;
	for (uint32_t e = job->edges; e != NIL; e = s->edges[e].next) {
		const struct job *after = &s->jobs[s->edges[e].job];

		since = after->fetch < since ? after->fetch : since;
	}
	return since > job->start ? since : job->start; /* before, they waited for the same jobs */
}

/* The times are those of a pass, so it may seem to end before it began. */
static void tell(struct session *s, const struct job *job, uint64_t now)
{
	const uint64_t end = now > job->start ? now : job->start;
	uint64_t awaited = awaited_since(s, job);

	awaited = awaited < end ? awaited : end;
	if (awaited)
		latency_count_held(s, job->ring, job->sqe.arg, awaited, end);
	record_hold(s, job, awaited, end);
}

/* Nothing waits for the access any more, and its bytes may move, or go. */
static void let_go(struct session *s, struct job *job, uint64_t now, job_ready_fn *ready)
{
	struct buffer *b = buffer_of(s, job);

	assert(job->state == JOB_HELD && b->holds > 0);
	b->holds--;
	tell(s, job, now);
	job_become(s, job, JOB_RELEASED);
	depth_leave(&s->holds.held, now);
	deps_remove(s, job, now, ready);
	memory_mark_free(s, b); /* if it was freed meanwhile, its bytes come back by this SQE */
	tensor_unref(s, job->view[0]);
	if (s->memory.head != NIL)
		memory_advance(s, ready);
}

static void drop(struct session *s, struct job *job)
{
	uint32_t *link = &s->holds.first;

	while (*link != job_index(s, job))
		link = &s->jobs[*link].next;
	*link = job->next;
	s->holds.count--;
	tables_give_job(s, job);
}

static struct job *find(const struct ring *r, uint32_t sq_index)
{
	struct session *s = r->session;

	for (uint32_t i = first(s); i != NIL; i = s->jobs[i].next)
		if (s->jobs[i].ring == r->index && s->jobs[i].sq_index == sq_index)
			return &s->jobs[i];
	return NULL;
}

/* The acquire has not been granted yet. */
static int cancel(struct ring *r, uint32_t sq_index, uint64_t now, job_ready_fn *ready)
{
	struct session *s = r->session;
	struct job *job = deps_ring_find(r, sq_index);

	if (!job || !job_is_acquire(job))
		return -ENOENT;
	if (!job->failed)
		job_fail_early(s, job, -ECANCELED, now);
	memory_advance(s, ready);
	return 0;
}

int hold_release(struct ring *r, uint32_t sq_index, uint64_t now, job_ready_fn *ready)
{
	struct job *job = find(r, sq_index);

	if (!job)
		return cancel(r, sq_index, now, ready);
	if (job->state == JOB_HELD)
		let_go(r->session, job, now, ready);
	drop(r->session, job);
	return 0;
}

bool hold_release_ahead(struct ring *r, uint32_t sq_index, uint64_t now, job_ready_fn *ready)
{
	struct job *job = find(r, sq_index);

	if (!job || job->state != JOB_HELD)
		return false;
	let_go(r->session, job, now, ready);
	return true;
}

void hold_settle(struct session *s, uint64_t now, job_ready_fn *ready)
{
	uint32_t next;

	s->holds.due = false;
	for (uint32_t i = first(s); i != NIL; i = next) {
		struct job *job = &s->jobs[i];

		next = job->next;
		if (!job->failed)
			continue;
		if (job->state == JOB_HELD)
			let_go(s, job, now, ready);
		drop(s, job);
	}
}

/* Jobs with `failed` set are to end. */
static void end_marked(struct session *s, uint64_t now, job_ready_fn *ready)
{
	if (s->memory.tidying > TIDY_WAITS)
		s->holds.due = true;
	else
		hold_settle(s, now, ready);
}

bool hold_cancel(struct ring *r, uint32_t sq_index, uint64_t now, job_ready_fn *ready)
{
	struct job *job = find(r, sq_index);

	if (!job)
		return false;
	job->failed = -ECANCELED;
	end_marked(r->session, now, ready);
	return true;
}

void hold_end_all(struct session *s, const struct ring *r, uint64_t now, job_ready_fn *ready)
{
	for (uint32_t i = first(s); i != NIL; i = s->jobs[i].next)
		if (!r || s->jobs[i].ring == r->index)
			s->jobs[i].failed = -ECANCELED;
	end_marked(s, now, ready);
}

/* SPDX-License-Identifier: MIT */
/* record.c - writes records of jobs, clients' notes and counts into a session's trace */
#include "record.h"

#include <errno.h>

#include "base/tsc.h"
#include "job.h"
#include "ops/optable.h"

/* ---- clients' notes ---- */

/* Tell the client, beside need_wake, that it may note more (a new value), or nothing (0). */
static void allow(struct ring *r, uint32_t allowance)
{
	__atomic_store_n(&r->daemon->tracing, allowance, __ATOMIC_RELAXED);
}

/* Copy both words of a note unchecked; the reader of the trace judges what they say. */
static void copy_event(const struct quoit_trace_event *from, struct quoit_trace_event *to)
{
	const uint64_t *in = (const uint64_t *)from;
	uint64_t *out = (uint64_t *)to;

	out[0] = __atomic_load_n(&in[0], __ATOMIC_RELAXED);
	out[1] = __atomic_load_n(&in[1], __ATOMIC_RELAXED);
}

static void put_events(struct trace *t, struct ring *r, uint32_t count)
{
	struct quoit_trace_record *record = trace_next(t, QUOIT_TRACE_CLIENT, r->index);

	record->opcode = (uint8_t)count;
	for (uint32_t i = 0; i < count; i++, r->events_taken++)
		copy_event(&r->events->event[r->events_taken % QUOIT_EVENTS], &record->event[i]);
	trace_put(t);
}

/* The client may write any number there. */
static void count_dropped(struct trace *t, struct ring *r)
{
	uint32_t dropped = __atomic_load_n(&r->events->dropped, __ATOMIC_RELAXED);

	t->events_dropped += dropped - r->events_dropped;
	r->events_dropped = dropped;
}

/* Take up to *most notes, and lower *most by as many.  True: none is left. */
static bool take_events(struct trace *t, struct ring *r, uint32_t *most)
{
	uint32_t head = __atomic_load_n(&r->events->head, __ATOMIC_ACQUIRE);

	count_dropped(t, r);
	if (head - r->events_taken > QUOIT_EVENTS) { /* more notes than the client may have open */
		t->events_dropped += head - r->events_taken - QUOIT_EVENTS;
		r->events_taken = head - QUOIT_EVENTS;
	}
	while (r->events_taken != head && *most) {
		uint32_t n = head - r->events_taken;

		n = n < QUOIT_TRACE_EVENTS ? n : QUOIT_TRACE_EVENTS;
		put_events(t, r, n);
		*most -= n < *most ? n : *most;
	}
	return r->events_taken == head;
}

/* ---- counts ---- */

static void put_counts(struct session *s, uint64_t now)
{
	struct quoit_trace_record *r = trace_next(s->trace, QUOIT_TRACE_COUNTS, 0);

	r->counts.tsc = tsc_raw(now);
	r->counts.open = s->open.now;
	r->counts.running = s->running;
	r->counts.host_used = s->memory.used;
	for (uint32_t i = 0; i < s->devices; i++)
		r->counts.device_used += s->device[i].used;
	for (uint32_t i = 0; i < s->ring_count; i++) {
		const struct ring *ring = s->rings[i];

		if (!ring)
			continue;
		r->counts.sq_depth += ring->sq.cached_tail - ring->sq.next;
		r->counts.cq_depth += ring->cq.next - ring->cq.cached_head;
	}
	trace_put(s->trace);
}

/* ---- room ---- */

/* Make room for more jobs; after a pause, for more at a time. */
static void make_room(struct trace *t, uint64_t now)
{
	uint64_t ticks = (now - t->next_tick) / t->tick + 1;
	uint64_t room = t->room + (ticks > t->most ? t->most : ticks) * TRACE_JOBS;

	t->room = room > t->most ? t->most : (uint32_t)room;
	t->next_tick = now + t->tick;
}

static void next_allowance(struct trace *t)
{
	if (!++t->allowance)
		t->allowance++;
}

/* How many of the fetched SQEs did not become jobs of the table. */
static uint64_t ended_at_fetch(const struct session *s)
{
	return s->jobs_fetched - s->order;
}

void record_tell(struct session *s, uint64_t now)
{
	struct trace *t = s->trace;

	if (!t)
		return;
	if (t->head != t->head_published)
		put_counts(s, now);
	t->head_published = t->head;
	__atomic_store_n(&t->file->dropped, t->dropped + ended_at_fetch(s) - t->at_fetch,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&t->file->events_dropped, t->events_dropped, __ATOMIC_RELAXED);
}

/* A ring may note more once its notes are all taken.  Each time another ring is first. */
static void take_notes(struct session *s, uint32_t *most)
{
	struct trace *t = s->trace;

	next_allowance(t);
	for (uint32_t i = 0; i < s->ring_count; i++) {
		struct ring *r = s->rings[(t->first_ring + i) % s->ring_count];

		if (r && take_events(t, r, most))
			allow(r, t->allowance);
	}
	t->first_ring++;
}

uint64_t record_tick(struct session *s, uint64_t now, uint32_t *notes)
{
	struct trace *t = s->trace;
	uint64_t begun;
	uint32_t most, left;

	if (!t || now < t->next_tick)
		return 0;
	begun = tsc_now();
	most = left = *notes < TRACE_NOTES ? *notes : TRACE_NOTES;
	take_notes(s, &left);
	*notes -= most - left;
	record_tell(s, now);
	make_room(t, now);
	return tsc_now() - begun;
}

/* ---- coming and going ---- */

void record_ring(struct ring *r)
{
	if (!r->session->trace)
		return;
	r->events_taken = __atomic_load_n(&r->events->head, __ATOMIC_RELAXED);
	r->events_dropped = __atomic_load_n(&r->events->dropped, __ATOMIC_RELAXED);
	allow(r, r->session->trace->allowance);
}

void record_ring_goes(struct ring *r)
{
	uint32_t most = QUOIT_EVENTS;

	if (!r->session->trace)
		return;
	(void)take_events(r->session->trace, r, &most);
	allow(r, 0);
}

void record_attach(struct session *s, struct trace *t)
{
	uint64_t now = tsc_now();

	s->trace = t;
	t->next_tick = now + t->tick;
	t->at_fetch = ended_at_fetch(s);
	for (uint32_t i = 0; i < s->ring_count; i++)
		if (s->rings[i])
			record_ring(s->rings[i]);
	put_counts(s, now);
}

void record_detach(struct session *s, uint32_t id)
{
	if (!s->trace || s->trace->id != id)
		return;
	for (uint32_t i = 0; i < s->ring_count; i++)
		if (s->rings[i])
			allow(s->rings[i], 0);
	s->trace = NULL;
}

/* ---- jobs ---- */

static struct quoit_trace_record *next_job(struct ring *r, uint8_t opcode, int32_t res, bool posted)
{
	struct trace *t = r->session->trace;
	struct quoit_trace_record *record;

	t->room--;
	record = trace_next(t, posted ? QUOIT_TRACE_JOB : QUOIT_TRACE_QUIET, r->index);
	record->opcode = opcode;
	record->res = res;
	return record;
}

struct record_sqe record_begin(const struct ring *r)
{
	return (struct record_sqe){.jobs = r->session->order,
				   .failed = r->session->jobs_failed,
				   .refused = r->session->jobs_refused,
				   .posted = r->cq.next};
}

/* The result in the CQE; without a CQE, only whether the job has failed. */
static int32_t result_at_fetch(const struct ring *r, const struct record_sqe *sqe)
{
	if (r->cq.next != sqe->posted)
		return r->cqes[sqe->posted & (r->layout.cq_entries - 1)].res;
	return r->session->jobs_failed != sqe->failed ? -EIO : 0;
}

void record_end(struct ring *r, const struct record_sqe *sqe, uint32_t sq_index, uint64_t *start)
{
	struct session *s = r->session;
	uint64_t end = tsc_now();

	if (s->order == sqe->jobs) {
		bool ran = s->jobs_refused == sqe->refused;
		struct quoit_trace_record *record =
			next_job(r, r->opcode, result_at_fetch(r, sqe), r->cq.next != sqe->posted);

		record->place = ran ? QUOIT_TRACE_REACTOR : QUOIT_TRACE_NOWHERE;
		record->job = (struct quoit_trace_job){.sq_index = sq_index,
						       .cq_index = sqe->posted,
						       .fetch = tsc_raw(r->fetched),
						       .start = ran ? tsc_raw(*start) : 0,
						       .end = ran ? tsc_raw(end) : 0,
						       .post = tsc_raw(end)};
		trace_put(s->trace);
		s->trace->at_fetch++;
	}
	*start = end;
}

void record_nop(struct ring *r, uint64_t at)
{
	struct trace *t = r->session->trace;
	struct quoit_trace_record *record = next_job(r, QUOIT_OP_NOP, 0, true);
	const uint64_t tsc = tsc_raw(at);

	record->place = QUOIT_TRACE_REACTOR;
	record->job = (struct quoit_trace_job){.sq_index = r->sq.next,
					       .cq_index = r->cq.next - 1,
					       .fetch = tsc,
					       .start = tsc,
					       .end = tsc,
					       .post = tsc};
	trace_put(t);
	t->at_fetch++;
}

/* Did the job run?  If it failed without running, job->start only says when that was found. */
static bool has_run(const struct job *job)
{
	return job->start && !job->refused &&
	       (job->state == JOB_RUNNING || (!job->failed && job->executor == NO_EXECUTOR));
}

QUOIT_STATIC_ASSERT(QUOIT_EXEC_STREAMS <= QUOIT_TRACE_DIRECT, "each has its place");
QUOIT_STATIC_ASSERT(QUOIT_TRACE_STREAM + QUOIT_EXEC_DEVICES * QUOIT_TRACE_STREAMS <= UINT8_MAX,
		    "and so has each device");

/* A job that never got into a stream, or was lost with its device's process, has no stream. */
static uint8_t place_on_device(const struct session *s, const struct job *job)
{
	const uint32_t device = job->executor - s->first_device;
	const uint32_t stream = job->in_direct ? QUOIT_TRACE_DIRECT : job->stream - 1u;

	if (!job->in_direct && !job->stream)
		return (uint8_t)(QUOIT_TRACE_DEVICE + 1 + device);
	return (uint8_t)(QUOIT_TRACE_STREAM + device * QUOIT_TRACE_STREAMS + stream);
}

static uint8_t place_of_call(const struct session *s, const struct job *job)
{
	const struct caller *c;

	if (job->sqe.team < QUOIT_TEAM_SERVICE)
		return QUOIT_TRACE_TEAM;
	c = s->services.caller[job->sqe.team - QUOIT_TEAM_SERVICE];
	return c && c->service->object ? QUOIT_TRACE_SYNC : QUOIT_TRACE_SERVICE;
}

uint8_t record_place(const struct session *s, const struct job *job)
{
	if (!has_run(job))
		return QUOIT_TRACE_NOWHERE;
	if (job->executor == BRIDGE_EXECUTOR)
		return QUOIT_TRACE_BRIDGE;
	if (job->executor != NO_EXECUTOR && s->devices && job->executor >= s->first_device)
		return place_on_device(s, job);
	if (job->executor != NO_EXECUTOR)
		return (uint8_t)(QUOIT_TRACE_MODULE + job->executor);
	if (job_names_file(job))
		return QUOIT_TRACE_KERNEL;
	if (job->sqe.opcode == QUOIT_OP_CALL)
		return place_of_call(s, job);
	return job->state == JOB_RUNNING ? QUOIT_TRACE_WORKERS : QUOIT_TRACE_REACTOR;
}

/* Put the times in order: they may come from elsewhere, or be those of a pass. */
static void fill_run(struct quoit_trace_job *to, const struct job *job)
{
	uint64_t end = job->device_end ? job->device_end : job->end;
	uint64_t start = job->device_start ? job->device_start : job->start;

	end = tsc_between(job->fetch, end, job->post);
	to->end = tsc_raw(end);
	to->start = tsc_raw(tsc_between(job->fetch, start, end));
	if (job->data)
		to->data = tsc_raw(tsc_between(job->fetch, job->data, end));
	if (job->memory)
		to->memory = tsc_raw(tsc_between(job->fetch, job->memory, end));
}

void record_count_job(struct ring *r, const struct job *job, int32_t res)
{
	struct session *s = r->session;
	struct quoit_trace_record *record;

	if (!s->trace->room) {
		s->trace->dropped++;
		return;
	}
	record = next_job(r, job->sqe.opcode, res, job->has_cqe);
	record->place = record_place(s, job);
	record->job.sq_index = job->sq_index;
	record->job.cq_index = job->cq_index;
	record->job.fetch = tsc_raw(job->fetch);
	record->job.post = tsc_raw(job->post);
	if (record->place != QUOIT_TRACE_NOWHERE)
		fill_run(&record->job, job);
	trace_put(s->trace);
}

void record_hold(struct session *s, const struct job *job, uint64_t awaited, uint64_t now)
{
	struct quoit_trace_record *record;

	if (!s->trace)
		return;
	if (!s->trace->room) {
		s->trace->dropped++;
		return;
	}
	s->trace->room--;
	record = trace_next(s->trace, QUOIT_TRACE_HOLD, job->ring);
	record->opcode = job->sqe.opcode;
	record->hold = (struct quoit_trace_hold){.sq_index = job->sq_index,
						 .site = job->sqe.arg,
						 .granted = tsc_raw(job->start),
						 .released = tsc_raw(now),
						 .awaited = awaited ? tsc_raw(awaited) : 0};
	trace_put(s->trace);
}

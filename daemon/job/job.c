/* SPDX-License-Identifier: MIT */
/* job.c - admits and ends jobs */
#include "job.h"

#include <assert.h>
#include <errno.h>

#include "base/tsc.h"
#include "bytes_moved.h"
#include "completion.h"
#include "deps.h"
#include "direct_rules.h"
#include "memory/lease.h"
#include "memory/memory.h"
#include "message_order.h"
#include "observe/sample.h"
#include "probes.h"
#include "record.h"
#include "session/files.h"
#include "session/kernels.h"
#include "session/poison.h"
#include "session/tensor_bits.h"
#include "tensor.h"

/* ---- the session's open jobs, in fetch order ---- */

static void open_list_append(struct session *s, struct job *job)
{
	uint32_t self = job_index(s, job);

	job->older = s->newest;
	job->newer = NIL;
	if (s->newest == NIL)
		s->oldest = self;
	else
		s->jobs[s->newest].newer = self;
	s->newest = self;
	depth_enter(&s->open, job->fetch);
}

static void open_list_remove(struct session *s, struct job *job, uint64_t now)
{
	if (job->older == NIL)
		s->oldest = job->newer;
	else
		s->jobs[job->older].newer = job->newer;
	if (job->newer == NIL)
		s->newest = job->older;
	else
		s->jobs[job->newer].older = job->older;
	depth_leave(&s->open, now);
}

/* ---- admitting ---- */

static struct ring *ring_of(const struct session *s, const struct job *job)
{
	return s->rings[job->ring];
}

static void set_accesses(struct session *s, struct job *job)
{
	for_each_tensor (i, job->tensors) {
		const struct view *v = &s->views[job->view[i]];
		const struct buffer *b = &s->buffers[v->buffer];

		job->access[i] = (struct access){.buffer = v->buffer,
						 .write = job->writes & 1u << i,
						 .gaps = !v->covers,
						 .lo = v->lo,
						 .hi = v->hi};
		/* The job that brings bytes may have to clear the whole buffer: it writes all. */
		if (job->holds & 1u << i && (!b->reserved || !b->zeroed)) {
			job->access[i].write = true;
			job->access[i].gaps = false;
			job->access[i].lo = 0;
			job->access[i].hi = b->size;
		}
	}
}

static void init(struct ring *r, struct job *job, const struct quoit_sqe *sqe,
		 const struct plan *plan, uint32_t sq_index, uint64_t now)
{
	struct session *s = r->session;

	job->sqe = *sqe;
	job->fetch = now;
	job->start = job->end = 0;
	job->device_start = job->device_end = job->device_error = 0;
	job->submit = job->post = 0;
	job->has_cqe = false;
	job->data = job->memory = 0;
	job->weight = 0;
	job->deadline = 0;
	job->elements = plan->elements;
	job->cost = plan->cost;
	job->sq_index = sq_index;
	job->waits = 0;
	job->edges = NIL;
	job->parked = NIL;
	job->allocating = 0;
	job->ring = (uint16_t)r->index;
	job_become(s, job, JOB_WAITING);
	job->tensors = plan->tensors;
	job->reads = plan->reads;
	job->writes = plan->writes;
	job->executor = plan->executor;
	job->on_device = plan->on_device;
	job->holds = plan->refused ? 0 : plan->tensors;
	job->refused = plan->refused;
	job->orders_only = plan->row && plan->row->shape == SHAPE_SYNC;
	job->is_message =
		plan->row && (plan->row->shape == SHAPE_MESSAGE || plan->row->shape == SHAPE_KEYS);
	job->in_order = false;
	job->keeps_poison = false;
	if (job->orders_only)
		job->holds = 0;
	if (plan->on_device && job->executor == NO_EXECUTOR) /* a NOP waits and needs no memory */
		job->holds &= (uint8_t)~plan->on_device;
	job->in_stream = job->in_direct = job->follows = false;
	job->stream = 0;
	job->waits_in_stream = job->waits_in_direct_ring = 0;
	job->direct = s->direct && !r->stamps && direct_is_small(plan);
	job->zero = 0;
	job->memory_waits = job->posted = false;
	job->lacks = LACK_NOTHING;
	job->failed = 0;
	job->error = (struct quoit_error){0};
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (plan->tensors & 1u << i)
			job->view[i] = plan->view[i];
	set_accesses(s, job);
}

/* The open job that the link or the event names; NIL: it has ended, or there is none. */
static uint32_t linked_job(const struct ring *r, const struct quoit_sqe *sqe, uint32_t sq_index)
{
	struct job *job = NULL;

	if (sqe->flags & QUOIT_SQE_LINK)
		job = deps_ring_find(r, sq_index - sqe->link);
	else if (sqe->flags & QUOIT_SQE_EVENT && r->session->rings[sqe->event_ring])
		job = deps_ring_find(r->session->rings[sqe->event_ring], sqe->link);
	return job ? job_index(r->session, job) : NIL;
}

static bool has_file(const struct job *job)
{
	return !job->refused && job_names_file(job);
}

static bool has_kernel(const struct job *job)
{
	return !job->refused && job->sqe.opcode == QUOIT_OP_LAUNCH;
}

static void enter(struct ring *r, struct job *job, uint64_t now)
{
	struct session *s = r->session;

	job->order = ++s->order;
	open_list_append(s, job);
	deps_ring_insert(r, job);
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job->tensors & 1u << i)
			s->views[job->view[i]].refs++;
	if (has_file(job))
		files_hold(s, job->sqe.scalar[1]);
	else if (has_kernel(job))
		kernels_hold(s, job->sqe.arg);
	if (job->sqe.flags & QUOIT_SQE_AFTER_ALL)
		deps_segment_end(r, job);
	else
		deps_segment_join(r, job);
	r->in_flight++;
	r->jobs++;
	if (job->sqe.deadline) {
		job->deadline = now + (uint64_t)job->sqe.deadline * (tsc_hz() / 1000000);
		if (!s->deadlines++ || job->deadline < s->next_deadline)
			s->next_deadline = job->deadline;
	}
	if (r->stamps)
		job->submit = r->notes[job->sq_index & (r->layout.sq_entries - 1)].submit;
}

static void leave_segments(struct session *s, struct ring *r, uint64_t now, job_ready_fn *ready)
{
	struct job *after;

	while ((after = deps_segment_next(r)) != NULL) {
		assert(after->waits > 0);
		after->waits--;
		after->data = now;
		memory_recount(s, after, now);
		if (job_may_start(after))
			ready(s, after);
	}
}

int job_admit(struct ring *r, const struct quoit_sqe *sqe, const struct plan *plan,
	      uint32_t sq_index, uint64_t now, job_ready_fn *ready)
{
	struct session *s = r->session;
	struct job *job;

	if (sqe->flags & QUOIT_SQE_AFTER_ALL && deps_segments_full(r))
		return -EAGAIN;
	job = tables_take_job(s);
	if (!job) {
		(void)lease_ask_tables(s);
		return -EAGAIN;
	}
	init(r, job, sqe, plan, sq_index, now);
	if (deps_add(s, job, linked_job(r, sqe, sq_index)) < 0) {
		tables_give_job(s, job);
		if (s->edges_room - s->edges_open < DEPS_MAX_EDGES)
			(void)lease_ask_tables(s);
		return -EAGAIN;
	}
	enter(r, job, now);
	memory_admit(s, job);
	if (job_may_start(job))
		ready(s, job);
	else if (sqe->flags & QUOIT_SQE_AFTER_ALL)
		leave_segments(s, r, now, ready); /* all jobs before it may have ended already */
	/* no job's end will do it, or perhaps none before a function that waits for this job */
	if (job->memory_waits && (s->oldest == job_index(s, job) || s->calls.posted))
		memory_advance(s, ready);
	return 0;
}

/* ---- ending ---- */

/* Note that the job is posted.  index: of the ring's next CQE before the post. */
static void note_post(const struct ring *r, struct job *job, uint32_t index, uint64_t now)
{
	job->cq_index = index;
	job->has_cqe = r->cq.next != index;
	job->post = now;
}

/* Post the job's end; true: with a CQE. */
static bool post(struct ring *r, struct job *job, int32_t res, uint64_t now)
{
	uint32_t index = r->cq.next;
	struct quoit_stamps stamps = {.submit = job->submit,
				      .fetch = job->fetch,
				      .start = job->start,
				      .end = job->end,
				      .post = now,
				      .device_start = job->device_start,
				      .device_end = job->device_end,
				      .device_error = job->device_error};

	job->posted = true;
	assert(r->in_flight > 0);
	r->in_flight--;
	completion_post(r, &job->sqe, res, &job->error, &stamps);
	note_post(r, job, index, now);
	return job->has_cqe;
}

static void fail_early(struct session *s, struct job *job, const struct quoit_error *error,
		       uint64_t now)
{
	job->failed = error->code;
	job->error = *error;
	post(ring_of(s, job), job, error->code, now);
}

void job_fail_early(struct session *s, struct job *job, int32_t res, uint64_t now)
{
	fail_early(s, job, &(struct quoit_error){.code = (int16_t)res}, now);
}

struct quoit_error job_missed_deadline(const struct job *job, uint64_t begun, uint64_t now)
{
	uint64_t us = 0;

	if (begun) {
		us = now > begun ? tsc_to_ns(now - begun) / 1000 : 0;
		us = us < 1 ? 1 : us > UINT32_MAX ? UINT32_MAX : us;
	}
	return (struct quoit_error){.code = -ETIME,
				    .field = QUOIT_FIELD_DEADLINE,
				    .value = {0, QUOIT_MISSED(job->sqe.deadline, us)}};
}

void job_fail_late(struct session *s, struct job *job, uint64_t begun, uint64_t now)
{
	const struct quoit_error error = job_missed_deadline(job, begun, now);

	fail_early(s, job, &error, now);
}

void job_refuse(struct session *s, struct job *job, const struct quoit_error *error)
{
	job->failed = error->code;
	job->error = *error;
	job->posted = true;
	ring_of(s, job)->in_flight--;
	job->cq_index = ring_of(s, job)->cq.next; /* the caller posts it next */
	job->has_cqe = !ring_of(s, job)->no_completions;
	job->post = job->fetch;
}

/* The record that readers of this job's outputs will get. */
static struct quoit_error cause_of(const struct ring *r, const struct job *job, int32_t res)
{
	struct quoit_error cause = job->error;

	if (res != -QUOIT_EPOISON) {
		cause.code = (int16_t)res;
		completion_name_cause(&cause, r, &job->sqe);
	}
	return cause;
}

static void mark_outputs(struct session *s, const struct ring *r, struct job *job, int32_t res)
{
	struct quoit_error cause = {0};

	if (res < 0)
		cause = cause_of(r, job, res);
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job->writes & 1u << i && !job->keeps_poison)
			view_written(s, &s->views[job->view[i]], job->reads & 1u << i, res, &cause);
}

/* Take the job off the lists of open jobs, its session's and its ring's. */
static void leave_lists(struct session *s, struct ring *r, struct job *job, uint64_t now)
{
	deps_ring_remove(r, job);
	open_list_remove(s, job, now);
	if (job->deadline)
		s->deadlines--;
}

static void leave_ring(struct ring *r, const struct job *job)
{
	deps_segment_leave(r, job);
	assert(r->jobs > 0);
	r->jobs--;
}

void job_leave_hold(struct session *s, struct job *job, int32_t res, uint32_t flags, uint64_t now,
		    job_ready_fn *ready)
{
	struct ring *r = ring_of(s, job);
	bool posted;

	probe_end(s, job, 0);
	deps_hold(s, job, optable_row(job->sqe.opcode)->writes, now, ready);
	leave_lists(s, r, job, now);
	posted = post(r, job, res, now);
	if (posted)
		completion_add_flags(r, job->cq_index, flags);
	sample_job(r, job, posted);
	record_job(r, job, 0);
	s->jobs_done++;
	leave_ring(r, job);
	job_become(s, job, JOB_HELD);
	leave_segments(s, r, now, ready);
	if (s->memory.head != NIL)
		memory_advance(s, ready);
}

void job_end(struct session *s, struct job *job, int32_t res, uint64_t now, job_ready_fn *ready)
{
	struct ring *r = ring_of(s, job);
	bool posted;

	probe_end(s, job, res);
	mark_outputs(s, r, job, res);
	deps_remove(s, job, now, ready);
	leave_lists(s, r, job, now);
	posted = !job->posted && post(r, job, res, now);
	if (res >= 0)
		sample_job(r, job, posted);
	record_job(r, job, res);
	if (res < 0) {
		s->jobs_failed++;
		if (job->in_order)
			message_order_fail(s, job);
	} else {
		s->jobs_done++;
		latency_count_bytes(s, job->sqe.opcode, bytes_moved_by_job(s, job, res));
	}
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job->tensors & 1u << i)
			tensor_unref(s, job->view[i]);
	if (has_file(job))
		files_drop(s, job->sqe.scalar[1]);
	else if (has_kernel(job))
		kernels_drop(s, job->sqe.arg);
	leave_ring(r, job);
	tables_give_job(s, job);
	leave_segments(s, r, now, ready);
	if (s->memory.head != NIL)
		memory_advance(s, ready);
}

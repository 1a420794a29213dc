/* SPDX-License-Identifier: MIT */
/* backend_cpu.c - turns a job into op_args and into tiles */
#include "backend_cpu.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "backend/backend.h"
#include "base/tsc.h"
#include "job/probes.h"
#include "job/sched.h"
#include "line.h"
#include "memory/sigbus_guard.h"
#include "ops/optable.h"
#include "session/tensor_bits.h"

/* Stretch an input to the output: it takes no step along a dim where it has one element only. */
static void broadcast(struct op_tensor *in, const struct op_tensor *out, unsigned dims)
{
	for (unsigned d = 0; d < dims; d++)
		if (in->dim[d] == 1 && out->dim[d] != 1) {
			in->dim[d] = out->dim[d];
			in->stride[d] = 0;
		}
}

/* Is the operation element by element, and are all its tensors dense and equally long? */
static bool are_vectors(const struct session *s, const struct op_row *row, uint8_t tensors,
			const uint32_t view[], uint32_t *ret_elements)
{
	uint64_t n;

	if (row->broadcast != QUOIT_MAX_DIMS)
		return false;
	n = s->views[view[0]].elements;
	if (n > UINT32_MAX)
		return false;
	for_each_tensor (i, tensors) {
		const struct view *v = &s->views[view[i]];

		if (!v->dense || v->elements != n)
			return false;
	}
	*ret_elements = (uint32_t)n;
	return true;
}

static void set_vector(struct op_tensor *t, uint32_t elements)
{
	for (unsigned d = 0; d < QUOIT_MAX_DIMS - 1; d++) {
		t->dim[d] = 1;
		t->stride[d] = elements;
	}
	t->dim[QUOIT_MAX_DIMS - 1] = elements;
	t->stride[QUOIT_MAX_DIMS - 1] = 1;
}

static void set_shape(struct op_tensor *t, const struct view *v)
{
	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++) {
		t->dim[d] = v->dim[d];
		t->stride[d] = v->stride[d];
	}
}

void cpu_arguments(const struct session *s, const struct quoit_sqe *sqe, uint8_t tensors,
		   const uint32_t view[QUOIT_MAX_TENSORS_PER_JOB], struct op_args *ret)
{
	const struct op_row *row = optable_find(sqe->opcode);
	uint32_t n;
	bool vectors = are_vectors(s, row, tensors, view, &n);

	ret->opcode = sqe->opcode;
	ret->arg = sqe->arg;
	ret->scalar[0].u = sqe->scalar[0];
	ret->scalar[1].u = sqe->scalar[1];
	atomic_init(&ret->error, 0); /* no other thread sees it yet: a plain store */
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		ret->t[i].data = NULL;
	for_each_tensor (i, tensors) {
		const struct view *v = &s->views[view[i]];
		struct op_tensor *t = &ret->t[i];

		t->data = buffer_data(s, &s->buffers[v->buffer]) + v->offset;
		t->dtype = v->dtype;
		if (vectors) {
			set_vector(t, n);
			continue;
		}
		set_shape(t, v);
		if (i && row->broadcast)
			broadcast(t, &ret->t[0], row->broadcast);
	}
}

static int result_of(const struct op_args *args, struct quoit_error *error)
{
	int err = args->error;

	if (err) {
		error->value[0] = args->error_value[0];
		error->value[1] = args->error_value[1];
	}
	return err;
}

void cpu_clear(struct session *s, const uint32_t view[QUOIT_MAX_TENSORS_PER_JOB], uint8_t zero)
{
	struct session *outer = sigbus_guard_enter(s);

	for_each_tensor (i, zero) {
		const struct buffer *b = &s->buffers[s->views[view[i]].buffer];

		memset(buffer_data(s, b), 0, b->size);
	}
	sigbus_guard_leave(outer);
}

int cpu_run(struct session *s, const struct quoit_sqe *sqe, uint8_t tensors,
	    const uint32_t view[QUOIT_MAX_TENSORS_PER_JOB], uint8_t zero, struct quoit_error *error)
{
	const struct op_impl *impl = optable_find(sqe->opcode)->impl;
	struct session *outer;
	struct op_args args;
	int err;

	if (zero)
		cpu_clear(s, view, zero);
	if (!impl)
		return 0;
	cpu_arguments(s, sqe, tensors, view, &args);
	outer = sigbus_guard_enter(s);
	impl->run(&args, 0, 1);
	if (impl->finish)
		impl->finish(&args);
	sigbus_guard_leave(outer);
	err = sigbus_guard_result(s, tensors, view, error);
	return err ? err : result_of(&args, error);
}

/* For a job that only clears buffers: it has failed, or goes to another backend. */
static void run_nothing(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	(void)args;
	(void)tile;
	(void)tiles;
}

static const struct op_impl nothing = {.run = run_nothing};

static void set_zero_ranges(const struct session *s, const struct job *job, struct work *work)
{
	work->zeros = 0;
	for_each_tensor (i, job_host_zero(job)) {
		const struct buffer *b = &s->buffers[s->views[job->view[i]].buffer];

		work->zero[work->zeros++] = (struct zero_range){buffer_data(s, b), b->size};
	}
}

static struct work *make_work(struct session *s, struct job *job, struct worker_port *port)
{
	struct work *work = worker_slot(port);

	work->impl = job->failed || job->executor != NO_EXECUTOR
			     ? NULL
			     : optable_find(job->sqe.opcode)->impl;
	if (!work->impl) /* a NOP, a failed job, or one that goes to another backend */
		work->impl = &nothing;
	work->session = s;
	work->session_id = s->id;
	work->job = job_index(s, job);
	job->work = (uint32_t)(work - port->work);
	work->cost = job->cost;
	atomic_store_explicit(&work->user, s->user->number, memory_order_relaxed);
	atomic_store_explicit(&work->share, user_share(s->user), memory_order_relaxed);
	cpu_arguments(s, &job->sqe, job->tensors, job->view, &work->args);
	set_zero_ranges(s, job, work);
	return work;
}

int cpu_publish(struct session *s, struct job *job, struct worker_port *port)
{
	if (!worker_admits(port, s->user->number, s->published))
		return -EBUSY;
	worker_publish(port, make_work(s, job, port));
	return 0;
}

int cpu_publish_behind(struct session *s, struct job *job, struct worker_port *port,
		       struct work *ahead)
{
	if (!worker_admits(port, s->user->number, s->published))
		return -EBUSY;
	return worker_follow(port, ahead, make_work(s, job, port)) ? 0 : -EALREADY;
}

int cpu_result(const struct work *work, struct quoit_error *error)
{
	return result_of(&work->args, error);
}

/* ---- for the reactor ---- */

void cpu_begin(struct session *s, struct job *job, uint64_t now)
{
	job_become(s, job, JOB_RUNNING);
	job->start = now;
	probe_start(s, job);
	s->jobs_tiled++;
	s->may_follow = true;
}

static int cpu_start(struct reactor *r, struct session *s, struct job *job)
{
	int err = cpu_publish(s, job, r->port);

	if (err < 0)
		return err;
	cpu_begin(s, job, r->now);
	s->published++;
	line_extend(r, s);
	return 0;
}

/* A work's tiles are done.  If the job needs another backend, they only cleared its buffers. */
static void finish_work(struct reactor *r, struct work *work)
{
	struct session *s = work->session;
	struct job *job = &s->jobs[work->job];
	uint64_t started = atomic_load(&work->started);
	uint64_t ticks = atomic_load(&work->ticks);
	struct work *behind = line_advance(r, work);
	int32_t res = job->failed;

	reactor_charge(r, s);
	if (started)
		job->start = started;
	/* In a line it began before we heard that its data were there. */
	if (job->data > job->start)
		job->data = job->start;
	job->end = atomic_load(&work->ended);
	s->tile_ticks += ticks;
	r->count[QUOIT_REACTOR_TILE_TICKS] += ticks;
	assert(s->published > 0);
	s->published--;
	if (!res)
		res = sigbus_guard_result(s, job->tensors, job->view, &job->error);
	if (!res)
		res = cpu_result(work, &job->error);
	worker_retire(r->port, work);
	job->failed = res < 0 ? res : 0;
	s->may_follow = s->published > 0;
	if (job->executor != NO_EXECUTOR || (!res && backend_of(job) != &cpu_backend)) {
		job->zero &= job->on_device;
		sched_push(s, job);
		return;
	}
	reactor_end_job(r, s, job, res);
	if (behind && behind->early)
		finish_work(r, behind);
}

static bool cpu_poll(struct reactor *r)
{
	struct work *work;
	bool any = false;

	while ((work = worker_finished(r->port)) != NULL) {
		finish_work(r, work);
		any = true;
	}
	return any;
}

static bool cpu_advance(struct reactor *r, struct session *s)
{
	return s->may_follow && line_extend(r, s);
}

static void cpu_wake(struct reactor *r)
{
	worker_call(r->port);
}

static bool cpu_may_sleep(struct reactor *r)
{
	return worker_may_sleep(r->port, &r->need_wake);
}

static bool cpu_computes(const struct reactor *r)
{
	return r->port->published;
}

static void cpu_abandon(struct reactor *r, struct session *s)
{
	worker_abandon(r->port, s);
}

const struct backend cpu_backend = {
	.start = cpu_start,
	.poll = cpu_poll,
	.advance = cpu_advance,
	.take_back = line_take_back,
	.wake = cpu_wake,
	.may_sleep = cpu_may_sleep,
	.computes = cpu_computes,
	.abandon = cpu_abandon,
};

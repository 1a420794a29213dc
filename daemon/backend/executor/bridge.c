/* SPDX-License-Identifier: MIT */
/* bridge.c - copy from one device of a session to another, in parts */
#include "bridge_private.h"

#include <errno.h>

#include "backend_device.h"
#include "backend_exec.h"
#include "backend_exec_memory.h"
#include "base/tsc.h"
#include "job/job.h"
#include "job/probes.h"
#include "job/shape.h"
#include "session/extent.h"
#include "session/poison.h"

/* ---- a copy and its tensors ---- */

const struct view *bridge_view(const struct session *s, const struct job *job, unsigned tensor)
{
	return &s->views[job->view[tensor]];
}

uint64_t bridge_bytes(const struct session *s, const struct job *job)
{
	const struct view *v = bridge_view(s, job, SOURCE);

	return view_bytes(v);
}

struct exec_port *bridge_port(struct reactor *r, struct session *s, const struct job *job,
			      unsigned tensor)
{
	return r->executor[s->first_device + bridge_view(s, job, tensor)->device - 1];
}

int bridge_send_leg(struct reactor *r, struct session *s, const struct job *job, unsigned tensor,
		    uint8_t leg, struct quoit_exec_request *q)
{
	if (!q->type)
		q->type = QUOIT_EXEC_RUN;
	q->urgent = job->sqe.priority == QUOIT_PRIO_HIGH;
	q->stamps = q->op == QUOIT_OP_COPY && (s->rings[job->ring]->stamps || s->trace);
	return exec_send_leg(bridge_port(r, s, job, tensor), s, job, leg, q);
}

void bridge_fail(struct job *job, int32_t res, const struct quoit_error *error)
{
	if (job->failed)
		return;
	job->failed = res;
	job->error = *error;
}

void bridge_fail_for_want(struct job *job, int32_t res, uint32_t device)
{
	const struct quoit_error error = {.field = QUOIT_FIELD_EXECUTOR, .value = {0, device}};

	bridge_fail(job, res, &error);
}

/* End the copy if it has all been read, and no part holds any of it. */
static void end_if_over(struct reactor *r, struct session *s, struct job *job)
{
	const struct bridge *b = &s->bridge;
	uint32_t self = job_index(s, job);

	if (b->job == self)
		return;
	for (unsigned i = 0; i < BRIDGE_PARTS; i++)
		if (b->part[i].state != BRIDGE_FREE && b->part[i].job == self)
			return;
	device_count_job(s, bridge_view(s, job, SOURCE)->device);
	device_count_job(s, bridge_view(s, job, TARGET)->device);
	job->end = tsc_now();
	reactor_end_job(r, s, job, job->failed);
}

/* ---- parts ---- */

/* Fill a copy within one process: from the source to a part, or from a part to the target. */
static void fill_copy(const struct session *s, const struct job *job, unsigned i, unsigned tensor,
		      struct quoit_exec_request *q)
{
	const struct bridge_part *p = &s->bridge.part[i];
	uint32_t elements =
		(uint32_t)(p->bytes / op_dtype_size(bridge_view(s, job, tensor)->dtype));
	struct quoit_exec_view *there = &q->view[tensor], *here = &q->view[!tensor];

	*q = (struct quoit_exec_request){.op = QUOIT_OP_COPY};
	device_fill_view(s, job->view[tensor], tensor, q);
	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++) {
		there->dim[d] = d + 1 < QUOIT_MAX_DIMS ? 1 : elements;
		there->stride[d] = 1;
	}
	*here = *there;
	here->region = QUOIT_EXEC_BRIDGE;
	here->offset = i * BRIDGE_PART_BYTES;
	here->buffer = 0;
	there->offset += p->offset;
}

static void release(struct reactor *r, struct session *s, struct bridge_part *p)
{
	p->state = BRIDGE_FREE;
	end_if_over(r, s, &s->jobs[p->job]);
}

/* Send a part that is here to the target.  True: something was done. */
static bool send_on(struct reactor *r, struct session *s, unsigned i)
{
	struct bridge_part *p = &s->bridge.part[i];
	struct job *job = &s->jobs[p->job];
	struct quoit_exec_request q;
	int err;

	if (s->dead)
		bridge_fail_for_want(job, -ECANCELED, 0);
	if (!job->failed) {
		fill_copy(s, job, i, TARGET, &q);
		err = bridge_send_leg(r, s, job, TARGET, LEG_PART(i), &q);
		if (err == -EBUSY)
			return false;
		if (!err) {
			p->state = BRIDGE_GOES;
			return true;
		}
		bridge_fail_for_want(job, err, bridge_view(s, job, TARGET)->device);
	}
	release(r, s, p);
	return true;
}

/*
 * Read the next bytes of the copy into a free part.  False: no part is free, or there is no room.
 */
static bool take_part(struct reactor *r, struct session *s, struct job *job)
{
	struct bridge *b = &s->bridge;
	uint64_t left = bridge_bytes(s, job) - b->taken;
	struct quoit_exec_request q;
	unsigned i = 0;
	int err;

	while (i < BRIDGE_PARTS && b->part[i].state != BRIDGE_FREE)
		i++;
	if (i == BRIDGE_PARTS)
		return false;
	b->part[i] =
		(struct bridge_part){.job = b->job,
				     .offset = b->taken,
				     .bytes = left < BRIDGE_PART_BYTES ? left : BRIDGE_PART_BYTES};
	fill_copy(s, job, i, SOURCE, &q);
	err = bridge_send_leg(r, s, job, SOURCE, LEG_PART(i), &q);
	if (err == -EBUSY)
		return false;
	if (err) {
		bridge_fail_for_want(job, err, bridge_view(s, job, SOURCE)->device);
		return true;
	}
	b->part[i].state = BRIDGE_COMES;
	b->taken += b->part[i].bytes;
	return true;
}

/* ---- the copy that is being read ---- */

/*
 * Before anything else, clear the copy's tensors that are new in a slab, even if the copy has
 * failed: others may read them.  For other buffers the executors know what is old.
 */
static bool clear_next(struct reactor *r, struct session *s, struct job *job)
{
	unsigned i = (unsigned)__builtin_ctz(job->zero);
	struct quoit_exec_request q = {.op = QUOIT_OP_NOP, .zero = (uint8_t)(1u << i)};
	int err;

	if (s->bridge.clearing)
		return false;
	device_fill_view(s, job->view[i], i, &q);
	err = bridge_send_leg(r, s, job, i, LEG_CLEAR(i), &q);
	if (err == -EBUSY && s->dead && !bridge_port(r, s, job, i)->open)
		err = -ECANCELED; /* a dead session does not wait for a process */
	if (err == -EBUSY)
		return false;
	if (err) {
		device_lose_cleared(s, job, err);
		job->zero = 0;
		bridge_fail_for_want(job, err, bridge_view(s, job, i)->device);
	}
	s->bridge.clearing = !err;
	return true;
}

/* False: the copy waits for room, or for an answer. */
static bool go_on(struct reactor *r, struct session *s)
{
	struct bridge *b = &s->bridge;
	struct job *job = &s->jobs[b->job];

	if (job->zero)
		return clear_next(r, s, job);
	if (s->dead)
		bridge_fail_for_want(job, -ECANCELED, 0);
	if (b->peer && b->peer != BRIDGE_PEER_DONE)
		return bridge_peer_advance(r, s, job);
	if (!b->peer && !job->failed && b->taken < bridge_bytes(s, job))
		return take_part(r, s, job);
	b->job = NIL;
	end_if_over(r, s, job);
	return true;
}

static bool begin(struct reactor *r, struct session *s)
{
	struct bridge *b = &s->bridge;
	struct job *job = s->memory.tidying ? NULL : exec_next(s, BRIDGE_EXECUTOR);

	if (!job)
		return false;
	job_become(s, job, JOB_RUNNING);
	job->start = tsc_now();
	if (!job->failed && job_is_poisoned(s, job))
		job->failed = -QUOIT_EPOISON;
	probe_start(s, job);
	b->job = job_index(s, job);
	b->taken = 0;
	b->clearing = false;
	b->peer = bridge_peer_reaches(r, s, job) ? BRIDGE_PEER_ASKS : BRIDGE_PEER_NONE;
	return true;
}

bool bridge_advance(struct reactor *r, struct session *s)
{
	bool any = false;

	for (unsigned i = 0; i < BRIDGE_PARTS; i++)
		if (s->bridge.part[i].state == BRIDGE_HERE)
			any |= send_on(r, s, i);
	while ((s->bridge.job != NIL || begin(r, s)) && go_on(r, s))
		any = true;
	return any;
}

/* ---- answers and deaths ---- */

void bridge_end_leg(struct reactor *r, struct session *s, struct job *job, uint8_t leg, int32_t res,
		    const struct quoit_error *error)
{
	struct bridge *b = &s->bridge;

	if (leg == LEG_PEER) {
		bridge_peer_end_leg(r, s, job, res, error);
		return;
	}
	if (res < 0)
		bridge_fail(job, res, error);
	if (leg >= LEG_CLEAR(0)) { /* a buffer that was not cleared is poisoned elsewhere */
		b->clearing = false;
		job->zero &= (uint8_t) ~(1u << (leg - LEG_CLEAR(0)));
	} else if (b->part[leg - LEG_PART(0)].state == BRIDGE_COMES && !job->failed) {
		b->part[leg - LEG_PART(0)].state = BRIDGE_HERE;
	} else {
		release(r, s, &b->part[leg - LEG_PART(0)]);
	}
}

static void lose(struct session *s, struct job *job, unsigned tensor, uint32_t device, int32_t code)
{
	struct quoit_error error = {.field = QUOIT_FIELD_DEVICE,
				    .value = {device, QUOIT_FAULT_UNKNOWN}};

	if (bridge_view(s, job, tensor)->device == device)
		bridge_fail(job, code, &error);
}

void bridge_lose_device(struct reactor *r, const struct exec_port *p, int32_t code)
{
	for_each_session (s, r->sessions, at_reactor) {
		const struct bridge *b = &s->bridge;

		if (!exec_serves(p, s) || !exec_is_for(p, s))
			continue;
		reactor_attend(r, s);
		if (b->job != NIL) {
			lose(s, &s->jobs[b->job], SOURCE, p->device, code);
			lose(s, &s->jobs[b->job], TARGET, p->device, code);
		}
		for (unsigned i = 0; i < BRIDGE_PARTS; i++)
			if (b->part[i].state != BRIDGE_FREE)
				lose(s, &s->jobs[b->part[i].job], TARGET, p->device, code);
	}
}

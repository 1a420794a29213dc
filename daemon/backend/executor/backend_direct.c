/* SPDX-License-Identifier: MIT */
/* backend_direct.c - send small jobs straight to the consumer on their device */
#include "backend_direct.h"

#include <string.h>

#include "backend_device.h"
#include "backend_exec.h"
#include "base/tsc.h"
#include "exec_port.h"
#include "job/deps.h"
#include "job/probes.h"
#include "job/sched.h"
#include "ops/optable.h"
#include "session/tensor_bits.h"

#define MASK (QUOIT_DIRECT_ENTRIES - 1)

/* With jobs in the ring, a sleep lasts 1/NAP_PART of the time since the last one was done. */
#define NAP_PART     50u
#define NAP_LEAST_NS 2000u
#define NAP_MOST_NS  10000000u

void direct_open(struct exec_port *p)
{
	struct direct_port *d = &p->direct;

	quoit_producer_init(&d->ring, &d->requests->tail, &d->words->head, QUOIT_DIRECT_ENTRIES);
	d->reaped = 0;
	d->streamed = 0;
	d->moved = 0;
	d->starter_knows = false;
}

static struct exec_flight *flight_of(struct exec_port *p, uint32_t index)
{
	return &p->flight[QUOIT_EXEC_ENTRIES + (index & MASK)];
}

/* ---- sending ---- */

/* The launcher says that the consumer runs, and the consumer does not say that it leaves. */
static bool is_up(const struct direct_port *d)
{
	return __atomic_load_n(&d->words->up, __ATOMIC_ACQUIRE) &&
	       !__atomic_load_n(&d->words->need_wake, __ATOMIC_RELAXED);
}

/* There is no consumer.  If none can come, have the starter log that, once. */
static void say_impossible(struct exec_port *p)
{
	if (p->direct.starter_knows || !exec_direct_error(p->words))
		return;
	p->direct.starter_knows = true;
	exec_port_tell_starter(p);
}

/* Do the job's tensors lie in the slab, and is the slab's address known? */
static bool is_reached(const struct exec_port *p, const struct session *s, const struct job *job)
{
	uint32_t slot = s->exec.slot[p->number];

	if (!s->device[p->device - 1].slab_address || !slot || p->slot[slot - 1].leaving)
		return false;
	for_each_tensor (i, job->tensors)
		if (!s->buffers[s->views[job->view[i]].buffer].in_slab)
			return false;
	return true;
}

static void fill_call(const struct session *s, const struct job *job,
		      struct quoit_device_call *call)
{
	const struct op_row *row = optable_find(job->sqe.opcode);

	*call = (struct quoit_device_call){.opcode = job->sqe.opcode,
					   .arg = job->sqe.arg,
					   .scalar = {job->sqe.scalar[0], job->sqe.scalar[1]}};
	for_each_tensor (i, job->tensors) {
		const struct view *v = &s->views[job->view[i]];
		const struct buffer *b = &s->buffers[v->buffer];
		struct quoit_device_tensor *t = &call->tensor[i];

		t->data = s->device[b->device - 1].slab_address + b->offset + v->offset;
		t->dtype = v->dtype;
		memcpy(t->dim, v->dim, sizeof t->dim);
		memcpy(t->stride, v->stride, sizeof t->stride);
		if (i && row->broadcast)
			device_broadcast(t->dim, t->stride, call->tensor[0].dim, row->broadcast);
	}
}

bool direct_send(struct exec_port *p, struct session *s, struct job *job)
{
	struct direct_port *d = &p->direct;
	uint32_t i = 0;

	if (!job->direct || job->failed || job->zero || job->waits != job->waits_in_direct_ring)
		return false;
	if (!is_up(d)) {
		say_impossible(p);
		return false;
	}
	if (!is_reached(p, s, job) || !exec_has_share(p, s, true) || !quoit_ring_space(&d->ring))
		return false;
	(void)quoit_ring_reserve(&d->ring, &i);
	fill_call(s, job, &d->requests->request[i & MASK].call);
	*flight_of(p, i) =
		(struct exec_flight){.session = s, .job = job_index(s, job), .serial = ++p->serial};
	exec_count_flight(p, s, true, 1);
	job->work = QUOIT_EXEC_ENTRIES + (i & MASK);
	job_become(s, job, JOB_RUNNING);
	job->start = tsc_now();
	probe_start(s, job);
	if (!direct_is_busy(p))
		d->moved = job->start;
	deps_in_direct(s, job, sched_push);
	return true;
}

void direct_flush(struct exec_port *p)
{
	struct direct_port *d = &p->direct;

	if (d->ring.next != d->ring.published &&
	    quoit_ring_submit_wake(&d->ring, &d->words->need_wake))
		exec_port_ring(p); /* the consumer has left: the launcher runs these */
}

/* ---- reaping ---- */

uint32_t direct_done(struct exec_port *p)
{
	struct direct_port *d = &p->direct;

	if (!direct_is_busy(p))
		return 0;
	if (!quoit_ring_refresh(&d->ring)) { /* it claims jobs that were never sent */
		p->lied = true;
		exec_port_kill(p, KILL_RINGS);
		return 0;
	}
	return d->ring.cached_head - d->reaped;
}

struct exec_flight *direct_reap(struct exec_port *p)
{
	struct direct_port *d = &p->direct;
	struct exec_flight *f = flight_of(p, d->reaped++);
	struct device_memory *device = &f->session->device[p->device - 1];
	uint64_t *count = &device->direct;

	if (d->streamed != __atomic_load_n(&d->words->streamed, __ATOMIC_RELAXED)) {
		d->streamed++;
		count = &device->streamed;
	}
	__atomic_store_n(count, *count + 1, __ATOMIC_RELAXED); /* the control thread may read it */
	d->moved = tsc_now();
	return f;
}

/* ---- time ---- */

struct exec_flight *direct_hung(struct exec_port *p, uint64_t now, uint64_t most)
{
	struct direct_port *d = &p->direct;

	/*
	 * Once the consumer has left, its jobs are in a stream, behind others that may take long.
	 */
	if (direct_is_busy(p) && __atomic_load_n(&d->words->left, __ATOMIC_RELAXED) &&
	    exec_port_works(p))
		d->moved = now;
	if (!direct_is_busy(p) || now <= d->moved || now - d->moved < most)
		return NULL;
	return flight_of(p, d->reaped);
}

uint64_t direct_sleep_ns(const struct exec_port *p, uint64_t now)
{
	uint64_t ns;

	if (!direct_is_busy(p))
		return UINT64_MAX;
	ns = now > p->direct.moved ? tsc_to_ns(now - p->direct.moved) / NAP_PART : 0;
	return ns < NAP_LEAST_NS ? NAP_LEAST_NS : ns > NAP_MOST_NS ? NAP_MOST_NS : ns;
}

/* SPDX-License-Identifier: MIT */
/* backend_device.c - fill requests to devices, free device memory, mark lost memory */
#include "backend_device.h"

#include <string.h>

#include "backend_exec_memory.h"
#include "base/log.h"
#include "job/job.h"
#include "memory/memory.h"
#include "ops/optable.h"
#include "session/poison.h"
#include "session/tensor_bits.h"

/* ---- requests ---- */

void device_fill_view(const struct session *s, uint32_t view, unsigned i,
		      struct quoit_exec_request *q)
{
	const struct view *v = &s->views[view];
	const struct buffer *b = &s->buffers[v->buffer];

	q->view[i] = (struct quoit_exec_view){.offset = v->offset,
					      .region = b->place,
					      .dtype = v->dtype,
					      .given = 1,
					      .buffer = v->buffer};
	if (b->in_slab)
		q->view[i].buffer = QUOIT_EXEC_IN_SLAB | (uint32_t)(b->offset / QUOIT_EXEC_PAGE);
	if (b->place != PLACE_DEVICE)
		q->view[i].offset += b->offset;
	else if (b->size)
		q->bytes[i] = sizeclass_bytes(b->class);
	memcpy(q->view[i].dim, v->dim, sizeof v->dim);
	memcpy(q->view[i].stride, v->stride, sizeof v->stride);
}

void device_broadcast(uint32_t *dim, int32_t *stride, const uint32_t *out, unsigned dims)
{
	for (unsigned d = 0; d < dims; d++)
		if (dim[d] == 1 && out[d] != 1) {
			dim[d] = out[d];
			stride[d] = 0;
		}
}

void device_fill_request(const struct session *s, const struct job *job,
			 struct quoit_exec_request *q)
{
	const struct op_row *row = optable_find(job->sqe.opcode);

	q->type = QUOIT_EXEC_RUN;
	q->op = job->failed ? QUOIT_OP_NOP : job->sqe.opcode;
	q->arg = job->sqe.arg;
	q->urgent = job->sqe.priority == QUOIT_PRIO_HIGH;
	q->zero = job->zero;
	q->stamps = s->rings[job->ring]->stamps != NULL || (s->trace && !job->direct);
	q->direct = job->direct && !job->failed;
	for (unsigned i = 0; i < 2; i++)
		q->scalar[i] = job->sqe.scalar[i];
	for_each_tensor (i, job->tensors) {
		device_fill_view(s, job->view[i], i, q);
		q->view[i].whole = !job->failed && memory_is_overwritten(s, job, i);
		if (i && row->broadcast)
			device_broadcast(q->view[i].dim, q->view[i].stride, q->view[0].dim,
					 row->broadcast);
	}
	q->afters = (uint8_t)job->waits_in_stream;
	memcpy(q->after, job->after, job->waits_in_stream * sizeof job->after[0]);
}

void device_count_job(struct session *s, uint32_t device)
{
	uint64_t *jobs = &s->device[device - 1].jobs;

	__atomic_store_n(jobs, *jobs + 1, __ATOMIC_RELAXED);
}

/* Logged once per session and device; the counter holds the rest. */
void device_say_refused(const struct exec_port *p, struct session *s, uint64_t bytes, int err)
{
	uint64_t *refused = &s->device[p->device - 1].refused;

	if (!*refused)
		log_session(s,
			    "session %llu: not all of its pinned memory is registered with device "
			    "%u: %s; the rest goes through a staging buffer",
			    (unsigned long long)s->id, p->device, strerror(err));
	*refused += bytes;
}

/* ---- freed buffers ---- */

static uint32_t pop_drop(struct session *s, uint32_t device)
{
	struct job_queue *q = &s->device[device - 1].dropped;
	uint32_t buffer = q->head;

	q->head = s->buffers[buffer].next;
	s->drops--;
	return buffer;
}

bool device_send_drops(struct exec_port *p, struct session *s, bool *ret_any)
{
	struct quoit_exec_request q = {.type = QUOIT_EXEC_DROP};

	if (!p->open || !s->exec.slot[p->number]) {
		device_forget_drops(s, p->device);
		return true;
	}
	q.slot = s->exec.slot[p->number] - 1;
	while (s->device[p->device - 1].dropped.head != NIL) {
		if (p->slot[q.slot].leaving || !exec_port_has_room(p))
			return false;
		q.id = pop_drop(s, p->device);
		exec_port_request(p, &q);
		tables_give_buffer(s, q.id);
		*ret_any = true;
	}
	return true;
}

void device_forget_drops(struct session *s, uint32_t device)
{
	while (s->device[device - 1].dropped.head != NIL)
		tables_give_buffer(s, pop_drop(s, device));
}

/* ---- dead sessions ---- */

void device_cancel(struct exec_port *p, struct session *s)
{
	struct quoit_exec_request q = {.type = QUOIT_EXEC_CANCEL};

	if (!p->open || !s->exec.in_flight[p->number])
		return;
	q.slot = s->exec.slot[p->number] - 1;
	if (p->slot[q.slot].cancelled || !exec_port_has_room(p))
		return;
	exec_port_request(p, &q);
	exec_port_flush(p);
	p->slot[q.slot].cancelled = true;
}

/* ---- lost memory ---- */

static void lose(struct session *s, struct buffer *b, int32_t code)
{
	struct view whole = {.buffer = (uint32_t)(b - s->buffers), .hi = b->size};
	struct quoit_error cause = {
		.code = (int16_t)code, .field = QUOIT_FIELD_DEVICE, .value = {b->device, 0}};

	view_written(s, &whole, false, code, &cause);
}

void device_lose_memory(struct reactor *r, const struct exec_port *p, int32_t code)
{
	for_each_session (s, r->sessions, at_reactor) {
		/* Such a session's memory is in another process, or will be in the next one. */
		if (!exec_serves(p, s) || !exec_is_for(p, s))
			continue;
		reactor_attend(r, s);
		for (uint32_t i = 0; i < s->buffers_used; i++) {
			struct buffer *b = &s->buffers[i];

			if (b->place == PLACE_DEVICE && b->device == p->device && b->reserved)
				lose(s, b, code);
		}
		device_forget_drops(s, p->device);
		s->device[p->device - 1].slab_address = 0;
	}
}

void device_lose_cleared(struct session *s, const struct job *job, int32_t code)
{
	for_each_tensor (i, job->zero & job->on_device)
		lose(s, &s->buffers[s->views[job->view[i]].buffer], code);
}

/* SPDX-License-Identifier: MIT */
/* messages.c - gives messages of a queue to senders and receivers */
#include "messages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "answers.h"
#include "dense.h"

static struct message *message_at(const struct message_queue *q, uint32_t i)
{
	return &q->message[(q->first + i) % q->slots];
}

/* ---- senders ---- */

/* A message lies in one piece: if the end of the ring is too near, it begins at its beginning. */
static uint64_t skipped(const struct message_queue *q, uint64_t bytes)
{
	uint64_t left = q->size - q->tail % q->size;

	return left < bytes ? left : 0;
}

static bool has_room(const struct message_queue *q, uint64_t bytes)
{
	return q->count < q->slots && q->tail - q->head + skipped(q, bytes) + bytes <= q->size;
}

/* The call's reactor fills it. */
static void add_message(struct message_queue *q, struct service_call *call)
{
	const struct quoit_call_tensor *t = &call->entry.tensor[0];
	struct message *m = message_at(q, q->count++);

	q->tail += skipped(q, call->bytes);
	*m = (struct message){.state = MESSAGE_FILLS, .dtype = t->dtype, .at = q->tail % q->size};
	memcpy(m->dim, t->dim, sizeof m->dim);
	q->tail += call->bytes;
	m->end = q->tail;
	call->message = m;
	call->dense = q->bytes + m->at;
	call_answer(call, 0);
}

static void serve_senders(struct message_queue *q)
{
	struct service_call *call;

	while ((call = q->senders.oldest) != NULL && has_room(q, call->bytes)) {
		call_stop_waiting(call);
		add_message(q, call);
	}
}

void message_send(struct object *o, struct service_call *call)
{
	struct message_queue *q = o->queue;

	if (call->bytes > q->size) {
		call->error = (struct quoit_error){0};
		snprintf(call->text, sizeof call->text,
			 "the message takes %llu bytes, and the queue has %llu",
			 (unsigned long long)call->bytes, (unsigned long long)q->size);
		call_answer(call, -EMSGSIZE);
		return;
	}
	call_wait_in(&q->senders, call);
	serve_senders(q);
}

/* ---- receivers ---- */

/* The next message to give; NULL: there is none yet, or its sender is still filling it. */
static struct message *next_message(struct message_queue *q)
{
	while (q->given < q->count && message_at(q, q->given)->state >= MESSAGE_LEAVES)
		q->given++;
	if (q->given == q->count || message_at(q, q->given)->state != MESSAGE_WAITS)
		return NULL;
	return message_at(q, q->given);
}

static bool fits(const struct message *m, const struct quoit_call_tensor *t)
{
	return m->dtype == t->dtype && !memcmp(m->dim, t->dim, sizeof m->dim);
}

static uint64_t elements_of(const struct quoit_call_tensor *t)
{
	uint64_t n = 1;

	for (unsigned i = 0; i < QUOIT_MAX_DIMS; i++)
		n *= t->dim[i];
	return n;
}

static void refuse_message(const struct message *m, struct service_call *call)
{
	call->error = (struct quoit_error){0};
	snprintf(call->text, sizeof call->text, "the next message has dims %u %u %u %u of type %u",
		 m->dim[0], m->dim[1], m->dim[2], m->dim[3], m->dtype);
	call_answer(call, -EMSGSIZE);
}

/* The message stays for the next one. */
static void tell_shape(const struct message *m, struct service_call *call)
{
	const struct quoit_call_tensor *t = &call->entry.tensor[0];

	if (t->dtype != QUOIT_I64 || elements_of(t) * sizeof(int64_t) != sizeof call->seen) {
		call_refuse(call, -EINVAL, "what the next message is takes five QUOIT_I64");
		return;
	}
	call->seen.dtype = m->dtype;
	for (unsigned i = 0; i < QUOIT_MAX_DIMS; i++)
		call->seen.dim[i] = m->dim[i];
	call->dense = (uint8_t *)&call->seen;
	call_answer(call, 0);
}

static void give(const struct message_queue *q, struct message *m, struct service_call *call)
{
	if (!fits(m, &call->entry.tensor[0])) {
		refuse_message(m, call);
		return;
	}
	m->state = MESSAGE_LEAVES;
	call->message = m;
	call->dense = q->bytes + m->at;
	call_answer(call, 0);
}

static void serve_receivers(struct message_queue *q)
{
	struct service_call *call;
	struct message *m;

	while ((call = q->receivers.oldest) != NULL && (m = next_message(q)) != NULL) {
		call_stop_waiting(call);
		if (call->entry.function == QUOIT_SYNC_PEEK)
			tell_shape(m, call);
		else
			give(q, m, call);
	}
}

void message_receive(struct object *o, struct service_call *call)
{
	call_wait_in(&o->queue->receivers, call);
	serve_receivers(o->queue);
}

/* ---- messages that were copied ---- */

/* The oldest ones that are gone give their bytes back. */
static void collect_gone(struct message_queue *q)
{
	while (q->count && message_at(q, 0)->state == MESSAGE_GONE) {
		q->head = message_at(q, 0)->end;
		q->first = (q->first + 1) % q->slots;
		q->count--;
		q->given -= q->given > 0;
	}
	if (!q->count) /* the longest message fits again */
		q->head = q->tail = 0;
}

/* Its receiver did not get it: the next one does. */
static void give_again(struct message_queue *q, struct message *m)
{
	uint32_t i = (uint32_t)(m - q->message + q->slots - q->first) % q->slots;

	m->state = MESSAGE_WAITS;
	if (i < q->given)
		q->given = i;
}

void message_moved(struct message_queue *q, struct service_call *call)
{
	struct message *m = call->message;

	call->message = NULL;
	if (call->entry.function == QUOIT_SYNC_RECEIVE && call->result < 0)
		give_again(q, m);
	else if (call->entry.function == QUOIT_SYNC_SEND && call->result >= 0)
		m->state = MESSAGE_WAITS;
	else
		m->state = MESSAGE_GONE;
	collect_gone(q);
	messages_go_on(q);
}

void messages_go_on(struct message_queue *q)
{
	serve_receivers(q);
	serve_senders(q);
}

uint32_t messages_waiting(const struct message_queue *q)
{
	return q->count - (q->given < q->count ? q->given : q->count);
}

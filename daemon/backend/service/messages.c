/* SPDX-License-Identifier: MIT */
/* messages.c - gives messages of a queue to senders and receivers */
#include "messages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "answers.h"
#include "job/message_order.h"
#include "ops/ops.h"

static struct message *message_at(const struct message_queue *q, uint32_t i)
{
	return message_behind(q, &q->message[q->first], i);
}

/* ---- what a call brings, or wants ---- */

static bool has_rows(const struct service_call *call)
{
	return call->entry.function == QUOIT_SYNC_SEND_ROWS ||
	       call->entry.function == QUOIT_SYNC_RECEIVE_ROWS;
}

static uint64_t elements_of(const struct quoit_call_tensor *t)
{
	uint64_t n = 1;

	for (unsigned i = 0; i < QUOIT_MAX_DIMS; i++)
		n *= t->dim[i];
	return n;
}

/* How many messages its tensor is. */
static uint64_t messages_of(const struct service_call *call)
{
	const struct quoit_call_tensor *t = &call->entry.tensor[0];

	return has_rows(call) ? elements_of(t) / t->dim[QUOIT_MAX_DIMS - 1] : 1;
}

/* What each of them is. */
static struct message message_of(const struct service_call *call)
{
	const struct quoit_call_tensor *t = &call->entry.tensor[0];
	struct message m = {.state = MESSAGE_FILLS, .dtype = t->dtype};

	memcpy(m.dim, t->dim, sizeof m.dim);
	for (unsigned i = 0; i < QUOIT_MAX_DIMS - 1 && has_rows(call); i++)
		m.dim[i] = 1;
	return m;
}

/* Bytes of one row. */
static uint64_t row_bytes(const struct service_call *call)
{
	const struct quoit_call_tensor *t = &call->entry.tensor[0];

	return (uint64_t)t->dim[QUOIT_MAX_DIMS - 1] * op_dtype_size(t->dtype);
}

/* ---- senders ---- */

/* What a job sends lies in one piece: if the end of the ring is too near, at its beginning. */
static uint64_t skipped(const struct message_queue *q, uint64_t bytes)
{
	uint64_t left = q->size - q->tail % q->size;

	return left < bytes ? left : 0;
}

static bool has_room(const struct message_queue *q, const struct service_call *call)
{
	return q->slots - q->count >= call->messages &&
	       q->tail - q->head + skipped(q, call->bytes) + call->bytes <= q->size;
}

/* The call's reactor fills them.  Rows lie side by side; the last one's end is that of the piece. */
static void add_messages(struct message_queue *q, struct service_call *call)
{
	struct message m = message_of(call);
	const uint64_t step = has_rows(call) ? row_bytes(call) : 0;

	q->tail += skipped(q, call->bytes);
	m.at = q->tail % q->size;
	m.end = q->tail;
	q->tail += call->bytes;
	call->message = message_at(q, q->count);
	call->dense = q->bytes + m.at;
	for (uint32_t i = 0; i < call->messages; i++) {
		m.end = i == call->messages - 1 ? q->tail : m.end + step;
		*message_at(q, q->count++) = m;
		m.at += step;
	}
	call_answer(call, 0);
}

static void serve_senders(struct message_queue *q)
{
	struct service_call *call;

	while ((call = q->senders.oldest) != NULL && has_room(q, call)) {
		call_stop_waiting(call);
		add_messages(q, call);
	}
}

/* It would never fit. */
static void refuse_to_send(const struct message_queue *q, struct service_call *call, uint64_t n)
{
	const uint32_t most = q->slots < QUOIT_MESSAGE_ROWS ? q->slots : QUOIT_MESSAGE_ROWS;

	call->error = (struct quoit_error){0};
	if (n > most)
		snprintf(call->text, sizeof call->text,
			 "the tensor has %llu rows: of this queue a job sends at most %u at once",
			 (unsigned long long)n, most);
	else
		snprintf(call->text, sizeof call->text, "the %s %llu bytes, and the queue has %llu",
			 has_rows(call) ? "rows take" : "message takes",
			 (unsigned long long)call->bytes, (unsigned long long)q->size);
	call_answer(call, -EMSGSIZE);
}

void message_send(struct object *o, struct service_call *call)
{
	struct message_queue *q = o->queue;
	const uint64_t n = messages_of(call);

	if (n > q->slots || n > QUOIT_MESSAGE_ROWS || call->bytes > q->size) {
		refuse_to_send(q, call, n);
		return;
	}
	call->messages = (uint32_t)n;
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

static bool is_alike(const struct message *a, const struct message *b)
{
	return a->dtype == b->dtype && !memcmp(a->dim, b->dim, sizeof a->dim);
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

/* Those behind the next one that its tensor has rows for, up to one that it cannot get now. */
static uint32_t count_rows(const struct message_queue *q, const struct service_call *call)
{
	const struct message *next = message_at(q, q->given);
	const uint64_t rows = messages_of(call);
	const uint32_t left = q->count - q->given;
	uint32_t most = left < QUOIT_MESSAGE_ROWS ? left : QUOIT_MESSAGE_ROWS, n = 1;

	most = rows < most ? (uint32_t)rows : most;
	while (n < most && message_at(q, q->given + n)->state == MESSAGE_WAITS &&
	       is_alike(message_at(q, q->given + n), next))
		n++;
	return n;
}

/* The next message, which waits, and with rows those behind it. */
static void give(const struct message_queue *q, struct message *m, struct service_call *call)
{
	const struct message wanted = message_of(call);

	if (!is_alike(m, &wanted)) {
		refuse_message(m, call);
		return;
	}
	call->messages = has_rows(call) ? count_rows(q, call) : 1;
	for (uint32_t i = 0; i < call->messages; i++)
		message_behind(q, m, i)->state = MESSAGE_LEAVES;
	call->message = m;
	call->dense = q->bytes + m->at;
	if (has_rows(call))
		call->bytes = messages_of(call) * row_bytes(call);
	call_answer(call, has_rows(call) ? (int32_t)call->messages : 0);
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
	struct message *first = call->message;

	call->message = NULL;
	for (uint32_t i = 0; i < call->messages; i++) {
		struct message *m = message_behind(q, first, i);

		if (message_way(call->entry.function) == MESSAGE_SENT)
			m->state = call->result < 0 ? MESSAGE_GONE : MESSAGE_WAITS;
		else if (call->result < 0)
			give_again(q, m);
		else
			m->state = MESSAGE_GONE;
	}
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

/* SPDX-License-Identifier: MIT */
/* answers.c - calls of objects wait at their home, and are answered there */
#include "answers.h"

#include <errno.h>
#include <stdio.h>

#include "base/tsc.h"
#include "call_queue.h"
#include "exchange.h"

void call_answer(struct service_call *call, int32_t result)
{
	struct service *service = call->caller->service;

	/* One that was late or cancelled while it waited is none that has returned. */
	COUNT_BY(service->calls, result != -ECANCELED);
	COUNT_BY(service->failed, result < 0 && result != -ECANCELED);
	call->ran = true;
	call->began = call->ended = tsc_now();
	call->result = result;
	if (call->submits)
		call->submits = false;
	else
		exchange_post(call->caller->reactor, &call->letter, LETTER_DONE);
}

void call_refuse(struct service_call *call, int32_t error, const char *why)
{
	call->error = (struct quoit_error){0};
	snprintf(call->text, sizeof call->text, "%s", why);
	call_answer(call, error);
}

void call_wait_in(struct call_queue *q, struct service_call *call)
{
	call->waits_in = q;
	call->waits = true;
	call_queue_put(q, call);
	COUNT_BY(call->caller->service->waiting, 1);
	COUNT_BY(call->caller->queued, 1);
}

void call_stop_waiting(struct service_call *call)
{
	call_queue_remove(call->waits_in, call);
	call->waits = false;
	COUNT_DOWN(call->caller->service->waiting);
	COUNT_DOWN(call->caller->queued);
}

struct service_call *call_take_oldest(struct call_queue *q)
{
	struct service_call *call = q->oldest;

	if (call)
		call_stop_waiting(call);
	return call;
}

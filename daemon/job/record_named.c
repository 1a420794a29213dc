/* SPDX-License-Identifier: MIT */
/* record_named.c - writes records of calls of services, locks and their kin into a session's trace */
#include "record.h"

#include "base/tsc.h"
#include "session/objects.h"

/* It was ready from then on; it may have waited in its session before it was sent. */
static uint64_t asked(const struct job *job, const struct service_call *call)
{
	const uint64_t ready = job->memory ? job->memory : job->data ? job->data : job->fetch;

	return ready && ready < call->submitted ? ready : call->submitted;
}

void record_named_call(struct session *s, const struct job *job, const struct service_call *call)
{
	const struct service *service = call->caller->service;
	const uint64_t now = tsc_now();
	struct quoit_trace_record *record;

	if (!s->trace->room) {
		s->trace->dropped++;
		return;
	}
	s->trace->room--;
	record = trace_next(s->trace, QUOIT_TRACE_NAMED, job->ring);
	record->opcode = job->sqe.opcode;
	record->res = call->result;
	record->named = (struct quoit_trace_named){
		.sq_index = job->sq_index,
		.kind = service->object ? service->object->kind : 0,
		.function = call->entry.function,
		.number = service->id,
		.asked = tsc_raw(asked(job, call)),
		.began = tsc_raw(call->ran ? call->began : now),
		.ended = tsc_raw(call->ran ? call->ended : now),
		.stalled = call->stalled,
		.pid = call->ran && !service->object ? (uint32_t)call->pid : 0};
	trace_put(s->trace);
}

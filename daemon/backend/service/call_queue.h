/* SPDX-License-Identifier: MIT */
/* call_queue.h - queues of calls: a call is in at most one, and leaves it from any place */
#ifndef QUOITD_CALL_QUEUE_H
#define QUOITD_CALL_QUEUE_H

#include "session/services.h"

static inline void call_queue_put(struct call_queue *q, struct service_call *call)
{
	call->older = q->newest;
	call->newer = NULL;
	*(q->newest ? &q->newest->newer : &q->oldest) = call;
	q->newest = call;
}

static inline void call_queue_remove(struct call_queue *q, struct service_call *call)
{
	*(call->older ? &call->older->newer : &q->oldest) = call->newer;
	*(call->newer ? &call->newer->older : &q->newest) = call->older;
}

#endif

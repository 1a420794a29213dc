/* SPDX-License-Identifier: MIT */
/* message_order.c - messages of one ring in the order in which they were fetched */
#include "message_order.h"

#include "sched.h"

void message_order_enter(struct session *s, struct caller *c, struct job *job)
{
	struct job_queue *order = &c->order[message_way(job->sqe.function)][job->ring];

	job->in_order = true;
	job->waits_turn = false;
	job->before = order->head == NIL ? NIL : order->tail;
	job->behind = NIL;
	if (order->head == NIL)
		order->head = job_index(s, job);
	else
		s->jobs[order->tail].behind = job_index(s, job);
	order->tail = job_index(s, job);
}

/* NULL: it has been closed; what it knew of the order is gone. */
static struct caller *caller_of(const struct session *s, const struct job *job)
{
	struct caller *c = s->services.caller[job->sqe.team - QUOIT_TEAM_SERVICE];

	return c && c->number == job->caller ? c : NULL;
}

/* c may be NULL. */
static void unlink_job(struct session *s, struct caller *c, struct job *job)
{
	const enum message_way way = message_way(job->sqe.function);

	job->in_order = false;
	if (job->before != NIL)
		s->jobs[job->before].behind = job->behind;
	else if (c)
		c->order[way][job->ring].head = job->behind;
	if (job->behind != NIL)
		s->jobs[job->behind].before = job->before;
	else if (c)
		c->order[way][job->ring].tail = job->before;
}

/* If it is the first one now, and has waited for that. */
static bool let_go(struct session *s, struct caller *c, uint32_t next)
{
	struct job *job = next != NIL ? &s->jobs[next] : NULL;

	if (!job || job->before != NIL || !job->waits_turn)
		return false;
	job->waits_turn = false;
	sched_append(s, &c->ready[message_way(job->sqe.function)], job);
	return true;
}

void message_order_leave(struct session *s, struct caller *c, struct job *job)
{
	unlink_job(s, c, job);
	(void)let_go(s, c, job->behind);
}

void message_order_fail(struct session *s, struct job *job)
{
	struct caller *c = caller_of(s, job);

	unlink_job(s, c, job);
	if (c && let_go(s, c, job->behind))
		s->services.held = true;
}

/* SPDX-License-Identifier: MIT */
/*
 * message_order.h - jobs of one ring that send to a queue go there in the order in which they were
 * fetched, whichever has its data first; so do those that receive from it.
 *
 * The order is by ring: over several rings, a job could have to wait for one that waits for it.
 */
#ifndef QUOITD_MESSAGE_ORDER_H
#define QUOITD_MESSAGE_ORDER_H

#include "session/services.h"
#include "session/session.h"

static inline enum message_way message_way(uint8_t op)
{
	const bool sends = op == QUOIT_SYNC_SEND || op == QUOIT_SYNC_SEND_ROWS;

	return sends ? MESSAGE_SENT : MESSAGE_RECEIVED;
}

/* The job was fetched. */
void message_order_enter(struct session *s, struct caller *c, struct job *job);

/* Jobs of its ring before it have not been submitted. */
static inline bool message_order_waits(const struct job *job)
{
	return job->in_order && job->before != NIL;
}

/* It is submitted.  The one behind it, if that waits for its turn, is put into c->ready. */
void message_order_leave(struct session *s, struct caller *c, struct job *job);

/* The same, and it ends without that.  Its caller goes on with the one behind it soon. */
void message_order_fail(struct session *s, struct job *job);

#endif

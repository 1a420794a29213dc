/* SPDX-License-Identifier: MIT */
/*
 * named_waits.h - what a session waits for at services, locks and their kin, and for how long it
 * does nothing else.
 *
 * A session stalls while it has calls out, none of its jobs runs elsewhere, and none waits for
 * memory, a core or a device.  When a call comes back from a lock or its kin, the session has
 * stalled for that since the call before came back.  So a job that waits all the time for an event
 * that never comes is blamed for nothing, as long as other jobs come and go; but what the program
 * does meanwhile without quoitd is not seen.  A session does not stall while its program holds what
 * its jobs may wait for.  A service is charged for the time in which the session stalled and one of
 * its calls waited there for a thread.
 *
 * Jobs are not asked: it is looked at when calls come back, and when the session's counters are
 * copied out.  That suffices, because a session that stalls at two looks has stalled in between if
 * no job of it has ended meanwhile.
 */
#ifndef QUOITD_NAMED_WAITS_H
#define QUOITD_NAMED_WAITS_H

#include "session/session.h"

/* What a call of this function may have to wait for (enum quoit_named_way), but for servers. */
static inline uint8_t named_way(const struct caller *c, uint8_t function)
{
	const bool second = function == QUOIT_SYNC_RECEIVE || function == QUOIT_SYNC_RECEIVE_ROWS ||
			    function == QUOIT_SYNC_PEEK || function == QUOIT_SYNC_WAIT_CONDITION;

	return c->service->object && second ? QUOIT_NAMED_SECOND : QUOIT_NAMED_FIRST;
}

/* A call comes back, and its job is about to end.  The session's reactor. */
void named_waits_return(struct session *s, struct service_call *call, uint64_t now);

/* The session has closed it: its row stays until another one has its place. */
void named_waits_closed(struct session *s, uint32_t index);

/* Count what waits, and tell it in the session's latency file.  The session's reactor. */
void named_waits_look(struct session *s, uint64_t now);

#endif

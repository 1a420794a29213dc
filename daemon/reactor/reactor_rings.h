/* SPDX-License-Identifier: MIT */
/*
 * reactor_rings.h - the reactor's table of rings.
 *
 *	idle ──a bell, or an SQE that we see──► polled ──no SQE for a while──► idle
 *	                                          │ ▲
 *	    its next SQE waits for the client or  ▼ │  after a while, or when a job of the
 *	    for a place in a table of its session stalled   session has ended
 *
 * need_wake is up while a ring is idle.  Polled rings come first in the table.  Only the reactor's
 * own thread calls these.
 */
#ifndef QUOITD_REACTOR_RINGS_H
#define QUOITD_REACTOR_RINGS_H

#include "reactor.h"

/*
 * Are SQEs of this ring taken?  While quoitd ends, nothing more is fetched of a session, but its
 * teams return the calls that they have; and after CLOSE those of other sessions.
 */
static inline bool reactor_fetches(const struct ring *ring)
{
	const struct session *s = ring->session;

	if (!s->stopped)
		return true;
	return ring->team && !s->cut && !s->killed &&
	       (s->ending == MAIL_DRAIN || (s->ending == MAIL_CLOSE && ring->team->server));
}

/* A ring joins or leaves the reactor's table.  -ENOSPC: it is full; or -errno of epoll_ctl. */
int reactor_add_ring(struct reactor *r, struct ring *ring);
void reactor_remove_ring(struct reactor *r, struct ring *ring);

/* A ring has rung: poll it. */
void reactor_ring_has_rung(struct reactor *r, struct ring *ring);

/* Wait for sockets, the eventfd and the io_uring, and serve them; updates r->now. */
void reactor_poll(struct reactor *r, uint64_t timeout_ns);

/* Poll idle rings that have SQEs although their clients saw us awake and did not ring. */
void reactor_scan_rings(struct reactor *r);

/* Stop polling rings that had no SQEs for a while. */
void reactor_retire_rings(struct reactor *r);

/* Sample polled rings more often where samples have become too rare (sample.h). */
void reactor_sample_rings(struct reactor *r);

/* Stop polling all rings; false: at least one has an SQE and is still polled. */
bool reactor_rings_may_sleep(struct reactor *r);

/* A ring, or the rings of a session, may now have what they stalled for: poll them again. */
void reactor_unstall(struct reactor *r, struct ring *ring);
void reactor_unstall_all(struct reactor *r, struct session *s);

/* Poll the stalled rings that are due, since a client that reaps rings no bell. */
void reactor_look_at_stalled(struct reactor *r);

/* ns until the next such time; UINT64_MAX: no ring is stalled. */
uint64_t reactor_stall_timeout(const struct reactor *r);

#endif

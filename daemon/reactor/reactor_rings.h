/* SPDX-License-Identifier: MIT */
/*
 * reactor_rings.h - the reactor's table of rings.
 *
 *	idle ──a bell, or an SQE that we see──► polled ──no SQE for a while──► idle
 *	                                          │ ▲
 *	    its next SQE waits for the client or  ▼ │  after a while, or when a job of the
 *	    for a place in a table of its session stalled   session has ended
 *
 * need_wake is up while a ring is idle.  Those that are polled come first in the table.  Only the
 * reactor's own thread calls these.
 */
#ifndef QUOITD_REACTOR_RINGS_H
#define QUOITD_REACTOR_RINGS_H

#include "reactor.h"

/* A ring joins and leaves the reactor's table.  -ENOSPC: it is full; -errno of epoll_ctl. */
int reactor_add_ring(struct reactor *r, struct ring *ring);
void reactor_remove_ring(struct reactor *r, struct ring *ring);

/* It has rung: it is polled. */
void reactor_ring_has_rung(struct reactor *r, struct ring *ring);

/* Wait for sockets, the eventfd and the io_uring, and answer them; sets the reactor's now. */
void reactor_poll(struct reactor *r, uint64_t timeout_ns);

/* Idle rings whose client did not have to ring are polled: we were awake anyway. */
void reactor_scan_rings(struct reactor *r);

/* Those that were polled without SQEs for a while are so no more. */
void reactor_retire_rings(struct reactor *r);

/* Of those that are polled, samples come as often as they are wanted (sample.h). */
void reactor_sample_rings(struct reactor *r);

/* No ring is polled any more; false: at least one has an SQE, and still is. */
bool reactor_rings_may_sleep(struct reactor *r);

/* What a ring, or the rings of a session, may have waited for has come. */
void reactor_unstall(struct reactor *r, struct ring *ring);
void reactor_unstall_all(struct reactor *r, struct session *s);

/* A client that reaps rings no bell: those that stall are looked at when it is time. */
void reactor_look_at_stalled(struct reactor *r);

/* When that is, in ns from now on; UINT64_MAX: never. */
uint64_t reactor_stall_timeout(const struct reactor *r);

#endif

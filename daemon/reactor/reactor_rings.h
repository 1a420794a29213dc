/* SPDX-License-Identifier: MIT */
/*
 * reactor_rings.h - the reactor's table of rings.
 *
 * A ring is active (polled, need_wake down) or idle (need_wake up, its socket rings).  The
 * active ones come first in the table.  Only the reactor's own thread calls these.
 */
#ifndef QUOITD_REACTOR_RINGS_H
#define QUOITD_REACTOR_RINGS_H

#include "reactor.h"

/* A ring joins and leaves the reactor's table.  -ENOSPC: it is full; -errno of epoll_ctl. */
int reactor_add_ring(struct reactor *r, struct ring *ring);
void reactor_remove_ring(struct reactor *r, struct ring *ring);

/* Wait for sockets, the eventfd and the io_uring, and answer them; sets the reactor's now. */
void reactor_poll(struct reactor *r, uint64_t timeout_ns);

/* Idle rings whose client did not have to ring become active: we were awake anyway. */
void reactor_scan_rings(struct reactor *r);

/* Active rings that were without SQEs for a while become idle. */
void reactor_retire_rings(struct reactor *r);

/* Make all rings idle; false: at least one has an SQE, and stays active. */
bool reactor_rings_may_sleep(struct reactor *r);

/* Rings that waited for their client to reap are looked at again. */
void reactor_wake_stalled(struct reactor *r);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * reactor_idle.h - what a reactor does when there is nothing to do: spin a little, then
 * sleep in one epoll over its clients' sockets, its eventfd and its io_uring.
 *
 * With an idle core the reactor spins for a while first, as long as has lately paid off;
 * while its core has tiles to run it sleeps at once, since the worker below it needs the
 * core and the wake-up preempts the worker anyway.
 */
#ifndef QUOITD_REACTOR_IDLE_H
#define QUOITD_REACTOR_IDLE_H

#include "reactor.h"

int reactor_idle_init(struct reactor *r);
void reactor_idle_done(struct reactor *r);

/* On the reactor's own thread, first: pin it, learn the node. */
void reactor_settle(struct reactor *r);

/* After a pass that did or did not find work. */
void reactor_idle(struct reactor *r, bool work);

/* From any thread: let it look at its mailbox and its flags. */
void reactor_wake(struct reactor *r);

#endif

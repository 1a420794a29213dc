/* SPDX-License-Identifier: MIT */
/*
 * reactor_idle.h - what a reactor does when it has no work: spin a little, then sleep in one epoll
 * over its clients' sockets, its eventfd and its io_uring.
 *
 * On an idle core the reactor spins for as long as has lately paid off.  While its core has tiles
 * to run it sleeps sooner: the worker below it needs the core, and the wake-up preempts the worker.
 */
#ifndef QUOITD_REACTOR_IDLE_H
#define QUOITD_REACTOR_IDLE_H

#include "reactor.h"

/* Before the reactor's thread starts: make its epoll, and learn its times.  0 or -errno. */
int reactor_idle_init(struct reactor *r);
void reactor_idle_done(struct reactor *r);

/* First on the reactor's own thread: pin it, name it, start its clocks. */
void reactor_settle(struct reactor *r);

/* After each pass; work: it found some. */
void reactor_idle(struct reactor *r, bool work);

#endif

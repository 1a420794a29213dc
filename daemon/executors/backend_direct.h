/* SPDX-License-Identifier: MIT */
/*
 * backend_direct.h - GPU-direct mode: a reactor's side of its rings (quoit/direct.h).
 *
 * A small job of a session that asked for it goes straight to the consumer on its device if that
 * is up, has room, reaches the tensors, and has every job that this one still waits for before it
 * in the same ring.  Else it goes through a stream as any other, and is counted.
 *
 * All functions are the reactor's.
 */
#ifndef QUOITD_BACKEND_DIRECT_H
#define QUOITD_BACKEND_DIRECT_H

#include "reactor/reactor.h"

/* The port's process is new, and so is the ring. */
void direct_open(struct exec_port *p);

/* Put the job into the ring, to be published; false: it is not for it, or not now. */
bool direct_send(struct exec_port *p, struct session *s, struct job *job);

/* Publish what was put in. */
void direct_flush(struct exec_port *p);

/* How many of its jobs are done, and have not been reaped. */
uint32_t direct_done(struct exec_port *p);

/* The next of these: it is counted, and to be ended before another is sent. */
struct exec_flight *direct_reap(struct exec_port *p);

/* Has it jobs there? */
static inline bool direct_is_busy(const struct exec_port *p)
{
	return p->direct.reaped != p->direct.ring.published;
}

/*
 * The job that it works at, if it has been at that for `most` ticks; NULL: else.  Time during which
 * there is no consumer, and a stream is at work, does not count.
 */
struct exec_flight *direct_hung(struct exec_port *p, uint64_t now, uint64_t most);

/* How long a reactor with jobs there may sleep, in nanoseconds: nobody rings when one is done. */
uint64_t direct_sleep_ns(const struct exec_port *p, uint64_t now);

#endif

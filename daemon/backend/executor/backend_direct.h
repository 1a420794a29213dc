/* SPDX-License-Identifier: MIT */
/*
 * backend_direct.h - GPU-direct mode: a reactor's side of its rings (quoit/direct.h).
 *
 * A session can ask for this mode.  Its small job then goes straight to the consumer on its device
 * if the consumer is up, has room and reaches the tensors, and if all jobs that this one waits for
 * are before it in the same ring.  Otherwise the job goes through a stream, and is counted.
 *
 * Only the reactor calls these functions.
 */
#ifndef QUOITD_BACKEND_DIRECT_H
#define QUOITD_BACKEND_DIRECT_H

#include "exec_port.h"
#include "session/owner.h"

/* The port has a new process: begin with an empty ring. */
void direct_open(struct exec_port *p);

/* Put the job into the ring; direct_flush publishes it.  False: it cannot go there, or not now. */
bool direct_send(struct exec_port *p, struct session *s, struct job *job);

/* Publish the jobs that were put in. */
void direct_flush(struct exec_port *p);

/* How many jobs are done and not yet reaped. */
uint32_t direct_done(struct exec_port *p);

/* Reap and count the next done job; the caller ends it before it sends another. */
struct exec_flight *direct_reap(struct exec_port *p);

/* Does the ring hold jobs that are not reaped? */
static inline bool direct_is_busy(const struct exec_port *p)
{
	return p->direct.reaped != p->direct.ring.published;
}

/*
 * The job that the consumer works at, if it has done so for `most` ticks, else NULL.  Time in which
 * the consumer is away and a stream works does not count.
 */
struct exec_flight *direct_hung(struct exec_port *p, uint64_t now, uint64_t most);

/*
 * How long the reactor may sleep, in nanoseconds: the consumer does not ring.  UINT64_MAX: no jobs.
 */
uint64_t direct_sleep_ns(const struct exec_port *p, uint64_t now);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * core.h - a thread that waits leaves the CPU of its session's reactor.
 *
 * A client and its reactor on one CPU take turns at it: each answer costs two changes of threads,
 * and while one of them spins for the other, that one cannot run.  So a thread that finds itself
 * there when it is about to wait goes to another CPU, if it may run on one, of the same package if
 * it can.  The CPUs that it may run on are afterwards as they were.  If it may run on no other, it
 * sleeps at once, and tells quoitd so that the reactor does not spin for it either.
 */
#ifndef LIBQUOIT_CORE_H
#define LIBQUOIT_CORE_H

#include <sched.h>

#include "library.h"

/* Add those that share a package with this CPU; none where that is not told. */
void libquoit_cpus_near(struct cpus *c, int cpu);

/* The thread is on the reactor's CPU: leave it, or note in the ring that it cannot. */
__attribute__((cold)) void libquoit_core_leave(struct quoit_ring *q);

/* The same.  Sets q->shares_cpu. */
static inline void core_look(struct quoit_ring *q)
{
	const int reactor = q->session->info.reactor_cpu;

	if (UNLIKELY(reactor >= 0 && sched_getcpu() == reactor) || UNLIKELY(q->shares_cpu))
		libquoit_core_leave(q);
}

#endif

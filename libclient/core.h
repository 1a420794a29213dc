/* SPDX-License-Identifier: MIT */
/*
 * core.h - a thread that waits leaves the CPU of its session's reactor.
 *
 * A client and its reactor on one CPU take turns: each answer costs two changes of threads, and
 * while one of them spins for the other, that other cannot run.  So a thread that is about to wait
 * on the reactor's CPU moves to another CPU that it may run on, of the same package if possible.
 * Afterwards it may run on the same CPUs as before.  If it may run on no other CPU, it sleeps at
 * once, and tells quoitd, so that the reactor does not spin for it either.
 */
#ifndef LIBQUOIT_CORE_H
#define LIBQUOIT_CORE_H

#include <sched.h>

#include "library.h"

/* Add the CPUs that share a package with this one; none if the kernel does not tell. */
void libquoit_cpus_near(struct cpus *c, int cpu);

/* The thread is on the reactor's CPU: move it, or note in the ring that it must stay. */
__attribute__((cold)) void libquoit_core_leave(struct quoit_ring *q);

/* Move the thread if it is on the reactor's CPU.  Sets q->shares_cpu. */
static inline void core_look(struct quoit_ring *q)
{
	const int reactor = q->session->info.reactor_cpu;

	if (UNLIKELY(reactor >= 0 && sched_getcpu() == reactor) || UNLIKELY(q->shares_cpu))
		libquoit_core_leave(q);
}

#endif

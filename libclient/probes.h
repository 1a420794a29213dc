/* SPDX-License-Identifier: MIT */
/*
 * probes.h - libquoit's USDT probes for tracers, which quoit_probes(7) lists.
 *
 * The kernel counts a probe's semaphore up while a tracer uses it.  Otherwise a probe costs a load
 * of that word, a comparison and a branch that is not taken; the code that makes its arguments lies
 * out of the way.  Public headers do not need sdt.h, and neither do programs.
 */
#ifndef LIBQUOIT_PROBES_H
#define LIBQUOIT_PROBES_H

#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include "library.h"

/* sdt.h sets the name.  The semaphore has a cache line of its own, so no neighbour is written. */
#define PROBE_SEMAPHORE(name)                                                                      \
	__attribute__((visibility("hidden"))) unsigned short                                       \
		quoit_##name##_semaphore[QUOIT_LINE / sizeof(unsigned short)]

extern PROBE_SEMAPHORE(submit);
extern PROBE_SEMAPHORE(wake);
extern PROBE_SEMAPHORE(reap);

/* sdt.h's macros are not strict C; clang warns where they are used. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"

/* SQEs are about to be published. */
static inline void probe_submit(const struct quoit_ring *q)
{
	if (UNLIKELY(quoit_submit_semaphore[0]))
		STAP_PROBE4(quoit, submit, q->session->info.session, q->index, q->sq.published,
			    q->sq.next - q->sq.published);
}

/* quoitd is woken: its reactor slept when these SQEs were published. */
static inline void probe_wake(const struct quoit_ring *q)
{
	if (UNLIKELY(quoit_wake_semaphore[0]))
		STAP_PROBE3(quoit, wake, q->session->info.session, q->index, q->sq.published);
}

/* `count` CQEs are about to be given back. */
static inline void probe_reap(const struct quoit_ring *q, uint32_t count)
{
	if (UNLIKELY(quoit_reap_semaphore[0]))
		STAP_PROBE4(quoit, reap, q->session->info.session, q->index, q->cq.next, count);
}

#pragma GCC diagnostic pop

#endif

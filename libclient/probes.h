/* SPDX-License-Identifier: MIT */
/*
 * probes.h - where tracers look in: libquoit's USDT probes, which quoit_probes(7) lists.
 *
 * The kernel counts a probe's semaphore up for as long as somebody traces it.  Until then a probe
 * is a look at that word, a comparison and a branch that is not taken, and what makes its arguments
 * is out of the way.  Public headers do without sdt.h, and so do programs.
 */
#ifndef LIBQUOIT_PROBES_H
#define LIBQUOIT_PROBES_H

#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include "library.h"

/* The name is sdt.h's.  A line of its own: what lies beside it is not written. */
#define PROBE_SEMAPHORE(name)                                                                      \
	__attribute__((visibility("hidden"))) unsigned short                                       \
		quoit_##name##_semaphore[QUOIT_LINE / sizeof(unsigned short)]

extern PROBE_SEMAPHORE(submit);
extern PROBE_SEMAPHORE(wake);
extern PROBE_SEMAPHORE(reap);

/* sdt.h's macros are not strict C, which clang says where they are used. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"

/* SQEs that are about to be published. */
static inline void probe_submit(const struct quoit_ring *q)
{
	if (UNLIKELY(quoit_submit_semaphore[0]))
		STAP_PROBE4(quoit, submit, q->session->info.session, q->index, q->sq.published,
			    q->sq.next - q->sq.published);
}

/* quoitd is woken: its reactor slept when these were published. */
static inline void probe_wake(const struct quoit_ring *q)
{
	if (UNLIKELY(quoit_wake_semaphore[0]))
		STAP_PROBE3(quoit, wake, q->session->info.session, q->index, q->sq.published);
}

/* So many CQEs are about to be given back. */
static inline void probe_reap(const struct quoit_ring *q, uint32_t count)
{
	if (UNLIKELY(quoit_reap_semaphore[0]))
		STAP_PROBE4(quoit, reap, q->session->info.session, q->index, q->cq.next, count);
}

#pragma GCC diagnostic pop

#endif

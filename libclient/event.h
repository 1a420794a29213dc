/* SPDX-License-Identifier: MIT */
/* event.h - notes for a recorder */
#ifndef LIBQUOIT_EVENT_H
#define LIBQUOIT_EVENT_H

#include <stdint.h>

#include <quoit/trace.h>

#include "library.h"

/* Note for a recorder that something was done with the ring's `index` (quoit/trace.h). */
void libquoit_event_note(struct quoit_ring *q, enum quoit_trace_event_kind kind, uint32_t index,
			 uint32_t site);

/* Is the ring recorded?  Called after a sleep; a flush calls it itself. */
static inline void libquoit_event_ask(struct quoit_ring *q)
{
	q->recorded = __atomic_load_n(&q->daemon->tracing, __ATOMIC_RELAXED);
}

/*
 * Note an event if the ring was recorded at the last look.  A fast program uses up its allowance
 * soon; then its events are only counted.
 */
static inline void libquoit_event(struct quoit_ring *q, enum quoit_trace_event_kind kind,
				  uint32_t index, uint32_t site)
{
	if (LIKELY(!q->recorded))
		return;
	if (LIKELY(q->recorded == q->spent))
		__atomic_store_n(&q->events->dropped, q->events->dropped + 1, __ATOMIC_RELAXED);
	else
		libquoit_event_note(q, kind, index, site);
}

#endif

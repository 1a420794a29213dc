/* SPDX-License-Identifier: MIT */
/* event.c - note submits, reaps and waits while a recorder records the session (quoit/trace.h) */
#include "clock.h"
#include "event.h"
#include "library.h"

void libquoit_event_note(struct quoit_ring *q, enum quoit_trace_event_kind kind, uint32_t index,
			 uint32_t site)
{
	struct quoit_ring_events *e = q->events;
	uint32_t head = e->head;

	if (q->recorded != q->allowance) {
		q->allowance = q->recorded;
		q->events_left = QUOIT_EVENTS_ALLOWED;
	}
	if (!--q->events_left)
		q->spent = q->allowance;
	e->event[head % QUOIT_EVENTS] = (struct quoit_trace_event){.tsc = clock_ticks_after_loads(),
								   .index = index,
								   .kind = (uint16_t)kind,
								   .site = (uint16_t)site};
	__atomic_store_n(&e->head, head + 1, __ATOMIC_RELEASE);
}

/* SPDX-License-Identifier: MIT */
/* reactor_histograms.c - counts what all sessions of a reactor have done */
#include "reactor_histograms.h"

#include <stdlib.h>

struct reactor_histograms *reactor_histograms_new(const struct histograms *file, uint32_t reactor,
						  uint32_t devices, uint64_t grain)
{
	uint32_t count = QUOIT_PHASE_NR + devices * HISTOGRAMS_OF_DEVICE;
	struct reactor_histograms *s = calloc(1, sizeof *s + count * sizeof s->histogram[0]);

	if (!s)
		return NULL;
	s->file = file;
	s->reactor = reactor;
	s->devices = devices;
	s->grain = grain;
	return s;
}

void reactor_histograms_settle(struct reactor_histograms *s)
{
	for (uint32_t i = 0; i < s->notes; i++)
		histogram_add(&s->histogram[s->note[i].histogram], s->note[i].bucket,
			      s->note[i].weight);
	s->notes = 0;
}

static unsigned place_of(uint32_t device, unsigned which)
{
	return QUOIT_PHASE_NR + (device - 1) * HISTOGRAMS_OF_DEVICE + which;
}

void reactor_histograms_of_device(struct reactor_histograms *s, uint32_t device, unsigned phase,
				  uint32_t bucket, uint32_t weight)
{
	unsigned which = phase == QUOIT_PHASE_RUN ? HISTOGRAMS_RUN : HISTOGRAMS_POST;

	if (device <= s->devices)
		reactor_histograms_add(s, place_of(device, which), bucket, weight);
}

/* Copy out the counts of operations.  Returns all their bytes, in multiples of the grain. */
static uint64_t tell_operations(const struct reactor_histograms *s)
{
	struct quoit_operation_totals *to = histograms_operations(s->file, s->reactor);
	uint64_t bytes = 0;

	for (unsigned i = 0; i < QUOIT_OP_NR; i++) {
		const struct quoit_operation_totals *from = &s->operation[i];

		__atomic_store_n(&to[i].jobs, from->jobs, __ATOMIC_RELAXED);
		__atomic_store_n(&to[i].timed, from->timed, __ATOMIC_RELAXED);
		__atomic_store_n(&to[i].ticks, from->ticks, __ATOMIC_RELAXED);
		__atomic_store_n(&to[i].bytes, from->bytes - from->bytes % s->grain,
				 __ATOMIC_RELAXED);
		bytes += from->bytes;
	}
	return bytes - bytes % s->grain;
}

uint64_t reactor_histograms_tell(struct reactor_histograms *s)
{
	uint64_t bytes = tell_operations(s);

	reactor_histograms_settle(s);
	for (unsigned phase = 0; phase < QUOIT_PHASE_NR; phase++)
		histogram_tell(&s->histogram[phase], histograms_phase(s->file, s->reactor, phase));
	for (uint32_t d = 1; d <= s->devices; d++)
		for (unsigned i = 0; i < HISTOGRAMS_OF_DEVICE; i++)
			histogram_tell(&s->histogram[place_of(d, i)],
				       histograms_device(s->file, s->reactor, d, i));
	return bytes;
}

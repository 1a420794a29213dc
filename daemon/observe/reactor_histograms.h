/* SPDX-License-Identifier: MIT */
/*
 * reactor_histograms.h - what all sessions of a reactor have done, ended ones included: the phases
 * of their jobs, the phases on each device, and their operations.
 *
 * The reactor counts here and copies the counts out with the totals (observe/histograms.h).
 */
#ifndef QUOITD_REACTOR_HISTOGRAMS_H
#define QUOITD_REACTOR_HISTOGRAMS_H

#include "histograms.h"

/*
 * Samples are noted first and counted later.  Each goes into six or eight histograms.  Their cache
 * lines have left the core's cache since the last sample, but notes lie one behind the other.
 */
#define REACTOR_HISTOGRAMS_NOTES 512u

struct histogram_note {
	uint16_t histogram, bucket;
	uint32_t weight;
};

struct reactor_histograms {
	const struct histograms *file;
	uint32_t reactor, devices;
	uint64_t grain; /* bytes are published in multiples of it */
	uint32_t notes;
	struct histogram_note note[REACTOR_HISTOGRAMS_NOTES];
	struct quoit_operation_totals operation[QUOIT_OP_NR];
	struct histogram histogram[]; /* the phases, then those of each device */
};

/*
 * Bytes of single jobs would tell every user the shapes of another's tensors.  So where quoitd
 * serves several users, totals of bytes are published in multiples of this.
 */
#define REACTOR_HISTOGRAMS_GRAIN (UINT64_C(1) << 20)

/* grain: REACTOR_HISTOGRAMS_GRAIN, or 1.  NULL: no memory.  The caller frees it with free(). */
struct reactor_histograms *reactor_histograms_new(const struct histograms *file, uint32_t reactor,
						  uint32_t devices, uint64_t grain);

/* Move the notes into the histograms. */
void reactor_histograms_settle(struct reactor_histograms *s);

/* Note that `weight` jobs took as long as this bucket says, for one of its histograms. */
static inline void reactor_histograms_add(struct reactor_histograms *s, unsigned histogram,
					  uint32_t bucket, uint32_t weight)
{
	s->note[s->notes++] =
		(struct histogram_note){(uint16_t)histogram, (uint16_t)bucket, weight};
	if (s->notes == REACTOR_HISTOGRAMS_NOTES)
		reactor_histograms_settle(s);
}

/* The same for a phase (RUN or POST) on a device, which is counted from 1. */
void reactor_histograms_of_device(struct reactor_histograms *s, uint32_t device, unsigned phase,
				  uint32_t bucket, uint32_t weight);

/* Copy all counts out.  Returns the bytes of all operations, as they are published. */
uint64_t reactor_histograms_tell(struct reactor_histograms *s);

#endif

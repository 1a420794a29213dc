/* SPDX-License-Identifier: MIT */
/*
 * summary.h - what all sessions of a reactor have done, those that are over as well: the legs of
 * their jobs, those on each device, and their operations.
 *
 * The reactor counts here and copies it out with the totals (host/histograms.h).
 */
#ifndef QUOITD_SUMMARY_H
#define QUOITD_SUMMARY_H

#include "host/histograms.h"

/*
 * What is counted, it notes first: a sample is in six histograms, or eight, whose lines the SQEs
 * since the last one have driven out of the core's cache, and notes are one line behind the other.
 */
#define SUMMARY_NOTES 512u

struct summary_note {
	uint16_t histogram, bucket;
	uint32_t weight;
};

struct summary {
	const struct histograms *file;
	uint32_t reactor, devices;
	uint64_t grain; /* bytes are told in multiples of it */
	uint32_t notes;
	struct summary_note note[SUMMARY_NOTES];
	struct quoit_operation_totals operation[QUOIT_OP_NR];
	struct histogram histogram[]; /* the legs, then those of each device */
};

/*
 * The bytes of single jobs, told to everybody, would be the shapes of another user's tensors: where
 * quoitd serves more than one, totals of bytes are told in multiples of this.
 */
#define SUMMARY_GRAIN (UINT64_C(1) << 20)

/* grain: SUMMARY_GRAIN, or 1.  NULL: ENOMEM.  free() ends it. */
struct summary *summary_new(const struct histograms *file, uint32_t reactor, uint32_t devices,
			    uint64_t grain);

/* Count what is noted. */
void summary_settle(struct summary *s);

/* So many jobs took so long; of one of its histograms. */
static inline void summary_add(struct summary *s, unsigned histogram, uint32_t bucket,
			       uint32_t weight)
{
	s->note[s->notes++] = (struct summary_note){(uint16_t)histogram, (uint16_t)bucket, weight};
	if (s->notes == SUMMARY_NOTES)
		summary_settle(s);
}

/* The same of a device's (from 1), of its legs. */
void summary_of_device(struct summary *s, uint32_t device, unsigned leg, uint32_t bucket,
		       uint32_t weight);

/* Copy all of it out; the bytes of all operations, as they are told. */
uint64_t summary_tell(struct summary *s);

#endif

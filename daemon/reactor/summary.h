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

struct summary {
	const struct histograms *file;
	uint32_t reactor, devices;
	struct quoit_operation_totals operation[QUOIT_OP_NR];
	struct histogram leg[QUOIT_LEG_NR];
	struct histogram device[][HISTOGRAMS_OF_DEVICE]; /* number n is at n - 1 */
};

/* NULL: ENOMEM.  free() ends it. */
struct summary *summary_new(const struct histograms *file, uint32_t reactor, uint32_t devices);

/* So many jobs took so long on this device; of its legs. */
void summary_of_device(struct summary *s, uint32_t device, unsigned leg, uint32_t bucket,
		       uint32_t weight);

/* Copy all of it out. */
void summary_tell(struct summary *s);

#endif

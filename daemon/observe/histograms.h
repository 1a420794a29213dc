/* SPDX-License-Identifier: MIT */
/*
 * histograms.h - the daemon's file of histograms and operations (quoit_histograms), for everybody
 * to read.
 *
 * Since everybody can read it, reactors do not count in the file.  A reactor counts in memory of
 * its own, and copies the counts out together with the totals.
 */
#ifndef QUOITD_HISTOGRAMS_H
#define QUOITD_HISTOGRAMS_H

#include <quoit/stats.h>

struct histograms; /* where its parts are */

/* A histogram before it is copied out. */
struct histogram {
	uint64_t changed; /* bit n: a bucket in the n-th group of QUOIT_LATENCY_PARTS has changed */
	uint64_t count[QUOIT_LATENCY_BUCKETS];
};

static inline void histogram_add(struct histogram *h, uint32_t bucket, uint32_t weight)
{
	h->changed |= UINT64_C(1) << bucket / QUOIT_LATENCY_PARTS;
	h->count[bucket] += weight;
}

/* Copy out what has changed since the last time. */
void histogram_tell(struct histogram *h, uint64_t *to);

/* Make the file (if that fails, anonymous memory) for so many of each.  NULL: out of memory. */
struct histograms *histograms_open(int directory, uint32_t reactors, uint32_t devices,
				   uint32_t cores);
void histograms_close(struct histograms *h, int directory);

/*
 * The counts in the file: of a phase of a reactor's jobs; of its jobs on a device (from 1), which: one
 * of the enum below; of a core.
 */
uint64_t *histograms_phase(const struct histograms *h, uint32_t reactor, unsigned phase);
uint64_t *histograms_device(const struct histograms *h, uint32_t reactor, uint32_t device,
			    unsigned which);
uint64_t *histograms_core(const struct histograms *h, uint32_t core);

/* The reactor's table of QUOIT_OP_NR operations. */
struct quoit_operation_totals *histograms_operations(const struct histograms *h, uint32_t reactor);

/* The two phases of jobs on a device that are counted. */
enum { HISTOGRAMS_RUN, HISTOGRAMS_POST, HISTOGRAMS_OF_DEVICE };

#endif

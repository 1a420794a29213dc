/* SPDX-License-Identifier: MIT */
/* engine.h - makes what exists once: topology, plan, kernels, reactors, workers */
#ifndef QUOITD_ENGINE_H
#define QUOITD_ENGINE_H

#include "backend/executor/device_places.h"
#include "base/kept_files.h"
#include "config/config.h"
#include "machine/cpus_watch.h"
#include "machine/features.h"
#include "machine/placement.h"
#include "machine/topology.h"
#include "observe/histograms.h"
#include "observe/totals.h"
#include "ops/ops.h"
#include "processes/gpu.h"
#include "reactor/reactor.h"

struct engine {
	const struct config *config;
	int directory; /* for counter files */
	struct topology *topology;
	struct placement *plan;
	struct ops_choice ops;
	struct quoit_totals *totals;
	int totals_fd;
	struct histograms *histograms;
	struct reactor *reactors;
	struct memory_link *memory_links;
	struct memory_thread *memory_thread;
	struct bell_link *bell_links;
	struct bells *bells;
	struct workers *workers;
	struct gpu_choice gpu;
	struct executors *executors; /* NULL: no modules, no devices */
	struct device_places places;
	struct mailbox **outbox; /* one from each reactor to the control thread */
	int control_eventfd;
	struct features features;
	struct cpus_watch cpus;
	struct kept_files kept;
	int64_t skipped;  /* of the clock (tsc_skipped_ns), as logged last */
	uint32_t started; /* reactors with a running thread */
};

/* Look at the machine and make what the threads need.  -errno after a log line. */
int engine_make(const struct config *config, int directory, struct engine **ret);

/* Start all threads but the control thread, which is the caller's.  -errno after a log line. */
int engine_start(struct engine *m);

/* After all others, start the threads that quoitd can do without; stop all of them. */
void engine_start_more(struct engine *m);
void engine_stop(struct engine *m);

/* Free it all; NULL and half-made machines are fine. */
void engine_free(struct engine *m, int directory);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * device_places.h - the devices' processes put where placement_device.h says.
 *
 * All by the thread that starts executors, but that what device_places_find has found does not
 * change: once there are other threads, they may read it.
 */
#ifndef QUOITD_DEVICE_PLACES_H
#define QUOITD_DEVICE_PLACES_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "executors.h"
#include "host/config.h"
#include "host/placement_device.h"

struct device_places {
	bool found;
	uint32_t count;
	struct placement_device device[CONFIG_DEVICES]; /* number n is at n - 1 */
	/* The processes that were put there last: everybody's, then users' own. */
	pid_t bound[CONFIG_DEVICES][1 + CONFIG_OWN_USERS];
	int error[CONFIG_DEVICES]; /* 0, or why the last one was not: -errno */
};

/* Find them, once; no place is known of those for which there is no memory. */
void device_places_find(struct device_places *p, const struct executors *e,
			const struct topology *topology, const struct placement_config *config);

/* Put the processes there that are new.  What is refused is said once, and they run anywhere. */
void device_places_bind(struct device_places *p, const struct executors *e);

/* A line each. */
void device_places_describe(const struct device_places *p, const struct placement *plan, FILE *out);

void device_places_done(struct device_places *p);

#endif

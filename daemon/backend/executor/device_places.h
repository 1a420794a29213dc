/* SPDX-License-Identifier: MIT */
/*
 * device_places.h - bind the devices' processes where placement_device.h says.
 *
 * Only the thread that starts executors calls these functions.  A device's place is found with its
 * first process, and `count` is set, before there are other threads: these may read both.
 */
#ifndef QUOITD_DEVICE_PLACES_H
#define QUOITD_DEVICE_PLACES_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "config/config.h"
#include "machine/placement_device.h"

struct device_places {
	const struct topology *topology; /* borrowed, read only */
	struct placement_config config;
	uint32_t count; /* devices that can be used; 0 on a described machine */
	struct placement_device device[CONFIG_DEVICES]; /* number n is at n - 1 */
	bool found[CONFIG_DEVICES];
	int error[CONFIG_DEVICES]; /* 0, or -errno: why the last process was not bound */
};

/*
 * Bind this process of device `number` there.  A refusal is logged once, and the process runs
 * anywhere.  It must not be making threads: one that it is just making would be missed.
 */
void device_places_bind(struct device_places *p, uint32_t number, const char *address, pid_t pid);

/* Print a line for each device. */
void device_places_describe(const struct device_places *p, const struct placement *plan, FILE *out);

void device_places_done(struct device_places *p);

#endif

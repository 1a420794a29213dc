/* SPDX-License-Identifier: MIT */
/*
 * placement_device.h - where a device is, and what is to be near to it.
 *
 * A device is where its PCI address says.  Its process runs on that node's cores, all PUs that
 * may be used: it has one thread, which sleeps while the device works.  A session that asks for
 * device memory has its home there, and its pinned region the memory of that node, or of the
 * nearest one.  Where something of that cannot be had the rest is as it should be.
 *
 * Pure functions of a topology and a configuration, as placement.h.
 */
#ifndef QUOITD_PLACEMENT_DEVICE_H
#define QUOITD_PLACEMENT_DEVICE_H

#include <stdint.h>
#include <stdio.h>

#include "placement.h"

enum placement_reason {
	PLACEMENT_ON_NODE,
	PLACEMENT_ON_NO_BUS,    /* it says no address */
	PLACEMENT_NOT_FOUND,    /* no such device was found on PCI */
	PLACEMENT_NEAR_NOTHING, /* near to no node in particular */
};

/* Of one device.  Nodes and CPUs are the kernel's numbers. */
struct placement_device {
	enum placement_reason reason;
	int32_t node;        /* -1: unknown */
	int32_t memory_node; /* whose memory is to be used with it; -1: unknown */
	uint32_t nr_cpus;    /* that its process runs on; 0: anywhere */
	uint32_t *cpus;      /* rising */
};

/*
 * Of the device with this PCI address, in any of the usual spellings; "" for one on no bus.  The
 * list of CPUs is the caller's to free (placement_device_done).  0 or -ENOMEM.
 */
int placement_device_find(const struct topology *topology, const struct placement_config *config,
			  const char *address, struct placement_device *ret);
void placement_device_done(struct placement_device *d);

/*
 * The device that a session with memory on all of them is put near to: one on the node of its
 * client (-1: unknown), else the first whose node is known; NULL: of none it is.
 */
const struct placement_device *placement_device_near(const struct placement_device *devices,
						     uint32_t count, int32_t client_node);

/*
 * A line for people, without its end: where it is, why, and what follows from that.  number: as
 * jobs name it.
 */
void placement_device_describe(const struct placement_device *d, uint32_t number,
			       const struct placement *plan, FILE *out);

#endif

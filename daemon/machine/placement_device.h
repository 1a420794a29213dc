/* SPDX-License-Identifier: MIT */
/*
 * placement_device.h - finds where a device is, and what should be near it.
 *
 * A device is where its PCI address says.  Its process runs on all usable PUs of that node: it has
 * one thread, which sleeps while the device works.  A session that asks for device memory lives on
 * that node, and its pinned region uses the memory of that node or of the nearest one.  If one of
 * these cannot be had, the others still hold.
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
	PLACEMENT_ON_NO_BUS,    /* the device tells no address */
	PLACEMENT_NOT_FOUND,    /* no such device was found on PCI */
	PLACEMENT_NEAR_NOTHING, /* the address is near no node in particular */
};

/* The place of one device.  Nodes and CPUs are the kernel's numbers. */
struct placement_device {
	enum placement_reason reason;
	int32_t node;        /* -1: unknown */
	int32_t memory_node; /* the node of the memory to use with it; -1: unknown */
	uint32_t nr_cpus;    /* on which its process runs; 0: anywhere */
	uint32_t *cpus;      /* rising */
};

/*
 * Find the place of the device with this PCI address, in any of the usual spellings; "": it is on
 * no bus.  The caller frees the list of CPUs with placement_device_done.  0 or -ENOMEM.
 */
int placement_device_find(const struct topology *topology, const struct placement_config *config,
			  const char *address, struct placement_device *ret);
void placement_device_done(struct placement_device *d);

/*
 * The device near which to put a session that has memory on all of them: one on the node of its
 * client (-1: unknown), else the first whose node is known; NULL: none is known.
 */
const struct placement_device *placement_device_near(const struct placement_device *devices,
						     uint32_t count, int32_t client_node);

/*
 * Write a line for people, without its end: where the device is, why, and what follows from that.
 * number: as jobs name it.
 */
void placement_device_describe(const struct placement_device *d, uint32_t number,
			       const struct placement *plan, FILE *out);

#endif

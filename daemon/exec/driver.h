/* SPDX-License-Identifier: MIT */
/*
 * driver.h - a device: its driver found, the device opened, and described to quoitd.
 */
#ifndef QUOIT_EXEC_DRIVER_H
#define QUOIT_EXEC_DRIVER_H

#include <stdbool.h>

#include <quoit/exec.h>

struct driver {
	const struct quoit_device_driver *api; /* NULL: there is no device */
	struct quoit_device *device;
	struct quoit_device_info info;
};

/* "soft:0", "cuda:3": is it a device, and not the path of a module? */
bool driver_is_named(const char *name);

/*
 * Open the device.  *ret_hello says to quoitd what it is, or, with a negative result and a
 * text, why it is left out; then *ret is empty.
 */
void driver_open(const char *name, struct driver *ret, struct quoit_exec_hello *ret_hello);

/* An empty one is fine. */
void driver_close(struct driver *d);

#endif

/* SPDX-License-Identifier: MIT */
/* driver.h - find a device's driver, open the device, and describe it to quoitd. */
#ifndef QUOIT_EXEC_DRIVER_H
#define QUOIT_EXEC_DRIVER_H

#include <stdbool.h>

#include <quoit/exec.h>

struct driver {
	const struct quoit_device_driver *api; /* NULL: there is no device */
	struct quoit_device *device;
	struct quoit_device_info info;
};

/* Does the name mean a device ("soft:0", "cuda:3"), and not the path of a module? */
bool driver_is_named(const char *name);

/*
 * Open the device.  *ret_hello tells quoitd what it is.  With a negative result, its text says why
 * the device is left out, and *ret is empty.
 */
void driver_open(const char *name, struct driver *ret, struct quoit_exec_hello *ret_hello);

/* Close the device; an empty *d is fine. */
void driver_close(struct driver *d);

#endif

/* SPDX-License-Identifier: MIT */
/* soft_settings.h - what the environment says about soft devices */
#ifndef QUOIT_SOFT_SETTINGS_H
#define QUOIT_SOFT_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

struct soft_settings {
	uint64_t devices;
	uint64_t bytes;   /* of each, whole pages */
	char address[16]; /* the PCI address of the first; "": none */
};

/* Read the variables that soft.h lists.  0; -EINVAL: one is invalid, and text says which. */
int soft_settings_read(struct soft_settings *ret, char *text, size_t size);

#endif

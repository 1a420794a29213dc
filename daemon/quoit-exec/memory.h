/* SPDX-License-Identifier: MIT */
/*
 * memory.h - the memory of sessions, as one channel of quoit-exec has mapped it.
 */
#ifndef QUOIT_EXEC_MEMORY_H
#define QUOIT_EXEC_MEMORY_H

#include <stdbool.h>

#include <quoit/exec.h>

#include "client_kernels.h"

struct memory {
	bool known;
	int err; /* -errno: why it could not be mapped; its jobs fail with this */
	uint8_t *base[QUOIT_EXEC_REGIONS];
	uint64_t bytes[QUOIT_EXEC_REGIONS];
	struct client_kernels *kernels; /* NULL: no images or kernels */
};

/*
 * Read all that waits in the channel's socket: bells, which have done their work; memory, which is
 * mapped into slots[QUOIT_EXEC_SLOTS]; images and kernels for these slots.  0; -ECONNRESET: quoitd
 * is gone; -EPROTO: a message is invalid.
 */
int memory_receive(int socket, struct memory *slots);

void memory_unmap(struct memory *m);

#endif

/* SPDX-License-Identifier: MIT */
/* launcher_kernels.h - kernels that clients have brought */
#ifndef QUOIT_EXEC_LAUNCHER_KERNELS_H
#define QUOIT_EXEC_LAUNCHER_KERNELS_H

#include <stdint.h>

#include <quoit/exec.h>

struct flight;
struct launcher;
struct memory;

/* Serve LOAD and FIND, which are answered, and UNLOAD.  0 or -EPROTO. */
int launcher_kernels_load(struct launcher *l, uint32_t channel, const struct quoit_exec_request *q);
int launcher_kernels_find(struct launcher *l, uint32_t channel, const struct quoit_exec_request *q);
int launcher_kernels_unload(struct launcher *l, uint32_t channel,
			    const struct quoit_exec_request *q);

/* The session leaves: unload its modules. */
void launcher_kernels_leave(struct launcher *l, struct memory *m);

/*
 * Put a LAUNCH into the flight's stream.  As the driver's launch, or -ENOENT: the session has no
 * such kernel.
 */
int launcher_kernels_launch(struct launcher *l, const struct flight *f);

#endif

/* SPDX-License-Identifier: MIT */
/* launcher_direct.h - GPU-direct rings: consumers that stay on the device */
#ifndef QUOIT_EXEC_LAUNCHER_DIRECT_H
#define QUOIT_EXEC_LAUNCHER_DIRECT_H

#include <stdbool.h>
#include <stdint.h>

struct launcher;

/* direct_make: false: no memory.  direct_unmake: consumers leave; without rings it does nothing. */
bool direct_make(struct launcher *l);
void direct_unmake(struct launcher *l);

/*
 * Requests have come through this channel: see all that its direct ring's consumer did before
 * quoitd sent them.  The order came by way of quoitd; this makes it one within the process.
 */
void direct_see(const struct launcher *l, uint32_t channel);

/* A stream got a job of this channel that was meant for its direct ring. */
void direct_want(struct launcher *l, uint32_t channel);

/* Look after all rings; true: something was done. */
bool direct_advance(struct launcher *l);

/* How long the launcher may sleep, in nanoseconds, as far as these rings are concerned. */
uint64_t direct_nap(const struct launcher *l);

/* Requests in the rings that are not done; *ret_name is set to the name of one of them. */
uint32_t direct_count(const struct launcher *l, uint64_t *ret_name);

/*
 * Have all consumers leave.  Call it before each driver call that may wait for all that runs on the
 * device (device.h lists them).  Consumers come back after that call.
 */
void direct_park(struct launcher *l);

#endif

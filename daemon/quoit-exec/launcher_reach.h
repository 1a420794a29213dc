/* SPDX-License-Identifier: MIT */
/* launcher_reach.h - the host memory that the device reaches */
#ifndef QUOIT_EXEC_LAUNCHER_REACH_H
#define QUOIT_EXEC_LAUNCHER_REACH_H

#include <stdbool.h>
#include <stdint.h>

struct flight;
struct launcher;
struct transfer;

/*
 * The driver is asked to reach host memory in such stretches, when they are first used: to ask for
 * a whole large region would take seconds, in which all sessions would wait.
 */
#define REACH_BYTES (UINT64_C(16) << 20)

void reach_open(struct launcher *l);
void reach_close(struct launcher *l);

/*
 * Does the device reach all host memory of the transfer?  1; 0; -EAGAIN: ask again in the next
 * pass.
 */
int reach_transfer(struct launcher *l, struct flight *f, const struct transfer *t);

/* How many bytes of it, from `offset` on, the driver takes in one copy. */
uint64_t reach_copy_bytes(const struct transfer *t, uint64_t offset);

/*
 * The session leaves: give its stretches back, unmap its memory and answer UNMAP, perhaps in a
 * later pass.  0 or -EPROTO.
 */
int reach_leave(struct launcher *l, uint32_t holding);

/* Go on with sessions that leave; true: something was done.  *ret_err: -EPROTO. */
bool reach_advance(struct launcher *l, int *ret_err);

#endif

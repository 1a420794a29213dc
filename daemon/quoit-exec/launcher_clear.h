/* SPDX-License-Identifier: MIT */
/* launcher_clear.h - old contents of device memory */
#ifndef QUOIT_EXEC_LAUNCHER_CLEAR_H
#define QUOIT_EXEC_LAUNCHER_CLEAR_H

#include <stdint.h>

struct flight;
struct holding;
struct launcher;

/* Add to the flights that it follows those that clear its buffers. */
void clear_name(struct launcher *l, struct flight *f);

/*
 * Put into its stream: clear all old contents that it does not overwrite, and the places in
 * quoit_exec_request.zero; a bit that stays set was not cleared.
 */
int clear_before(struct launcher *l, struct flight *f);

/*
 * Its work is in the stream: buffers that it overwrites are no longer dirty.  Or it has failed:
 * clear those.  0 or -EAGAIN.
 */
void clear_written(struct launcher *l, const struct flight *f);
int clear_after(struct launcher *l, struct flight *f);

/* The address of the session's slab; 0: it has none, or its clearing is not over. */
uint64_t clear_slab(const struct launcher *l, const struct holding *h);

#endif

/* SPDX-License-Identifier: MIT */
/* region.h - the arena: its size, and how it grows */
#ifndef LIBQUOIT_REGION_H
#define LIBQUOIT_REGION_H

#include <stdbool.h>
#include <stdint.h>

struct quoit_session;

/* The arena's size now. */
uint64_t libquoit_arena_bytes(const struct quoit_session *s);

/*
 * Grow the arena by at least `more` bytes, if possible.  seen: the size at which the caller found
 * it too small; growth by another thread since then is enough.  False: it has not grown.  After a
 * refusal the library does not ask for as much again for a tenth of a second.
 */
bool libquoit_arena_grow(struct quoit_session *s, uint64_t seen, uint64_t more);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * slab.h - places for small buffers in one piece of a device's memory.
 *
 * It has a list of freed pieces per class and an end that grows, so taking and giving are a few
 * instructions.  A piece that one class has had never goes to another class.  A buffer that finds
 * no place here gets one elsewhere: it cannot be used in GPU-direct mode, and nothing else changes.
 */
#ifndef QUOITD_SLAB_H
#define QUOITD_SLAB_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/direct.h>

#include "sizeclass.h"

#define SLAB_PAGES   (QUOIT_DIRECT_SLAB_BYTES / PAGE_BYTES)
#define SLAB_CLASSES (QUOIT_DIRECT_BUFFER_BYTES / PAGE_BYTES) /* classes of whole pages */

/* A slab of zeros is empty. */
struct slab {
	uint32_t used;               /* pages from its start that were ever given out */
	uint16_t free[SLAB_CLASSES]; /* 1 + the first page of a freed piece; 0: none */
	uint16_t next[SLAB_PAGES];   /* by a freed piece's first page: the next one, as in `free` */
};

/* Take a place for a buffer of this class; false: too large, or none is free.  Give it back. */
bool slab_take(struct slab *slab, uint32_t class, uint64_t *ret_offset);
void slab_give(struct slab *slab, uint32_t class, uint64_t offset);

#endif

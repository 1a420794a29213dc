/* SPDX-License-Identifier: MIT */
/*
 * slab.h - places for small buffers in one piece of a device's memory.
 *
 * Lists of freed pieces by class, and an end that grows: a take and a give are a few
 * instructions, and what one class has had another does not get.  Who finds no place here has
 * one elsewhere: the buffer is then not for GPU-direct mode, and nothing else changes.
 */
#ifndef QUOITD_SLAB_H
#define QUOITD_SLAB_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/direct.h>

#include "sizeclass.h"

#define SLAB_PAGES   (QUOIT_DIRECT_SLAB_BYTES / PAGE_BYTES)
#define SLAB_CLASSES (QUOIT_DIRECT_BUFFER_BYTES / PAGE_BYTES) /* classes of whole pages */

/* All zero is an empty one. */
struct slab {
	uint32_t used;               /* pages from its start that were ever given out */
	uint16_t free[SLAB_CLASSES]; /* 1 + the first page of a freed piece; 0: none */
	uint16_t next[SLAB_PAGES];   /* of a freed piece's first page */
};

/* A place for a buffer of this size class; false: it is too large, or there is none. */
bool slab_take(struct slab *slab, uint32_t class, uint64_t *ret_offset);
void slab_give(struct slab *slab, uint32_t class, uint64_t offset);

#endif

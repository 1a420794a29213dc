/* SPDX-License-Identifier: MIT */
/*
 * io_buffers.h - the buffers that are registered with a reactor's io_uring.
 *
 * The kernel looks up and holds the pages of a registered buffer once, and not for each transfer.
 * Pinned regions are registered in parts, so that no call takes long; a part of a region is one
 * buffer, and the parts of a region have numbers in a row.  Numbers are the reactor's;
 * registering is for any thread, since the kernel keeps the calls apart.
 */
#ifndef QUOITD_IO_BUFFERS_H
#define QUOITD_IO_BUFFERS_H

#include <stdint.h>

#include "memory/memory_thread.h"

/* A part; only a region's last one may be shorter. */
#define IO_BUFFER_BYTES MEMORY_PART_BYTES

#define IO_NO_BUFFER UINT32_MAX

struct io_buffers;
struct io_ring;

/* An empty table.  -errno: the kernel has none (before Linux 5.19), or it is refused. */
int io_buffers_new(struct io_ring *ring, struct io_buffers **ret);

/* Takes NULL. */
void io_buffers_free(struct io_buffers *b);

/* ---- the reactor ---- */

/* Numbers for all parts of a region: the first one, IO_NO_BUFFER: not so many in a row. */
uint32_t io_buffers_take(struct io_buffers *b, uint64_t region_bytes);

/* They come back, with nothing registered. */
void io_buffers_give(struct io_buffers *b, uint32_t first, uint64_t region_bytes);

/* ---- any thread ---- */

/* Register [at, at + bytes), which has its pages, by this number.  -ENOMEM: RLIMIT_MEMLOCK; -errno.
 */
int io_buffers_register(struct io_buffers *b, uint32_t number, void *at, uint64_t bytes);

/* Nothing is under way in the buffer, and nothing will be. */
void io_buffers_unregister(struct io_buffers *b, uint32_t number);

#endif

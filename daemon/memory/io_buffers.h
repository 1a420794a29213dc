/* SPDX-License-Identifier: MIT */
/*
 * io_buffers.h - registers buffers with a reactor's io_uring.
 *
 * The kernel looks up and holds the pages of a registered buffer once, not for each transfer.  A
 * pinned region is registered in parts, so that no call takes long.  A part is one buffer, and the
 * parts of a region have consecutive numbers.  The reactor hands out the numbers.  Any thread may
 * register, since the kernel keeps the calls apart.
 */
#ifndef QUOITD_IO_BUFFERS_H
#define QUOITD_IO_BUFFERS_H

#include <stdint.h>

#include "memory_thread.h"

/* The size of a part; only a region's last one may be shorter. */
#define IO_BUFFER_BYTES MEMORY_PART_BYTES

#define IO_BUFFERS   16384u
#define IO_NO_BUFFER UINT32_MAX

struct io_buffers;
struct io_ring;

/* Register a buffer; bytes 0: unregister it.  0 or -errno.  Any thread. */
typedef int io_buffers_set_fn(struct io_ring *ring, unsigned number, void *at, uint64_t bytes);

/* Make an empty table for this ring, which has IO_BUFFERS free buffers.  -ENOMEM. */
int io_buffers_new(io_buffers_set_fn *set, struct io_ring *ring, struct io_buffers **ret);

/* NULL is fine. */
void io_buffers_free(struct io_buffers *b);

/* ---- the reactor ---- */

/* Numbers for all parts of a region: returns the first; IO_NO_BUFFER: not so many in a row. */
uint32_t io_buffers_take(struct io_buffers *b, uint64_t region_bytes);

/* Give them back; nothing is registered by them any more. */
void io_buffers_give(struct io_buffers *b, uint32_t first, uint64_t region_bytes);

/* ---- any thread ---- */

/* Register [at, at + bytes), whose pages are present.  -ENOMEM: RLIMIT_MEMLOCK; -errno. */
int io_buffers_register(struct io_buffers *b, uint32_t number, void *at, uint64_t bytes);

/* Call it when no transfer uses the buffer, nor will. */
void io_buffers_unregister(struct io_buffers *b, uint32_t number);

#endif

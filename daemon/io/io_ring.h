/* SPDX-License-Identifier: MIT */
/*
 * io_ring.h - transfers by io_uring, for one reactor.
 *
 * Pieces are queued, handed to a thread that submits them once a pass, and moved by threads of the
 * kernel, of which there may be one for each slot, so that one that hangs holds up nobody else.
 */
#ifndef QUOITD_IO_RING_H
#define QUOITD_IO_RING_H

#include "io_thread.h"

struct io_ring;

/*
 * zeros: /dev/zero.  To be made while no descriptor of a client is open.  -EPERM, -ENOSYS, ...: it
 * is refused here (sysctl, seccomp, old kernel).  *ret_own_files: 0, or the -errno for which its
 * threads have the descriptors of all (own_files.h).
 */
int io_ring_new(int zeros, int *ret_own_files, struct io_ring **ret);

/* Takes NULL. */
void io_ring_free(struct io_ring *r);

/* Readable while a piece is done: for the reactor's epoll. */
int io_ring_fd(const struct io_ring *r);

/* The most registered buffers that a kernel takes. */
#define IO_RING_BUFFERS 16384u

/* Have so many numbers, with no buffer behind them.  -errno. */
int io_ring_make_buffers(struct io_ring *r);

/* [at, at + bytes) is the buffer of this number from now on; NULL and 0: none is.  Any thread. */
int io_ring_set_buffer(struct io_ring *r, unsigned number, void *at, uint64_t bytes);

/* A slot's pieces will be of this file, or no more.  -errno: no memory for that. */
int io_ring_take_file(struct io_ring *r, unsigned slot, int fd);
void io_ring_give_file(struct io_ring *r, unsigned slot);

/* Queue a piece of the slot's file, or of `zeros`; O_NONBLOCK of its descriptor changes nothing. */
void io_ring_send(struct io_ring *r, unsigned slot, const struct io_piece *piece);

/* Queue a request to end what the slot has under way; its piece still comes back. */
void io_ring_cancel(struct io_ring *r, unsigned slot);

/* Hand over what is queued. */
void io_ring_submit(struct io_ring *r);

/* The next piece that is done; false: none. */
bool io_ring_next(struct io_ring *r, unsigned *ret_slot, int32_t *ret_result);

/* Hand over what is queued; true if nothing is done. */
bool io_ring_may_sleep(struct io_ring *r);

#endif

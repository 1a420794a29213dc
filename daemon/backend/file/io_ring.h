/* SPDX-License-Identifier: MIT */
/*
 * io_ring.h - moves pieces of files by io_uring, for one reactor.
 *
 * The reactor queues pieces and hands them, once a pass, to a thread that submits them.  Threads of
 * the kernel move them.  There may be one for each slot, so a piece that hangs holds up no other.
 */
#ifndef QUOITD_IO_RING_H
#define QUOITD_IO_RING_H

#include "io_thread.h"

struct io_ring;

/*
 * zeros: /dev/zero.  Call it while no descriptor of a client is open.  -EPERM, -ENOSYS, ...:
 * io_uring is refused here (sysctl, seccomp, old kernel).  *ret_own_files: 0, or the -errno for
 * which its threads share quoitd's descriptors (own_files.h).
 */
int io_ring_new(int zeros, int *ret_own_files, struct io_ring **ret);

/* NULL is fine. */
void io_ring_free(struct io_ring *r);

/* Readable while a piece is done: for the reactor's epoll. */
int io_ring_fd(const struct io_ring *r);

/* Make IO_BUFFERS numbers (memory/io_buffers.h), without buffers behind them.  -errno. */
int io_ring_make_buffers(struct io_ring *r);

/* [at, at + bytes) becomes the buffer of this number; NULL and 0: none is.  Any thread.  -errno. */
int io_ring_set_buffer(struct io_ring *r, unsigned number, void *at, uint64_t bytes);

/* The slot's next pieces will be of this file; or of none any more.  -errno: no memory. */
int io_ring_take_file(struct io_ring *r, unsigned slot, int fd);
void io_ring_give_file(struct io_ring *r, unsigned slot);

/* Queue a piece of the slot's file, or of `zeros`.  O_NONBLOCK of its descriptor has no effect. */
void io_ring_send(struct io_ring *r, unsigned slot, const struct io_piece *piece);

/* Queue a request to end what the slot has under way; its piece still comes back. */
void io_ring_cancel(struct io_ring *r, unsigned slot);

/* Hand over what is queued. */
void io_ring_submit(struct io_ring *r);

/* The next piece that is done.  False: none. */
bool io_ring_next(struct io_ring *r, unsigned *ret_slot, int32_t *ret_result);

/* Hand over what is queued.  True: no piece is done. */
bool io_ring_may_sleep(struct io_ring *r);

#endif

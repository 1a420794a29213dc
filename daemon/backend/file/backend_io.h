/* SPDX-License-Identifier: MIT */
/*
 * backend_io.h - FILE_READ and FILE_WRITE: moves bytes between a file that the client passed and a
 * tensor.
 *
 * A transfer is a row of pieces, one under way at a time.  They go through the reactor's io_uring,
 * to and from registered buffers in the pinned region, or through threads where io_uring is
 * refused.  This file decides for both what a piece means, so the results are the same.  The job's
 * result is the count of bytes moved, or -errno.  A transfer that stops short goes on until it is
 * whole, fails, or moves nothing.  When a read meets the end of the file, the rest of the tensor is
 * cleared.
 *
 * A file may hang for ever (a dead server behind it): then its job hangs, too, and keeps its slot.
 * So a session has at most IO_SESSION_SLOTS slots, a user IO_USER_SLOTS.
 *
 * Owned by its reactor, which uses it as `file_backend` (backend.h).
 */
#ifndef QUOITD_BACKEND_IO_H
#define QUOITD_BACKEND_IO_H

#include <stdbool.h>
#include <stdint.h>

struct features;
struct io_backend;
struct io_buffers;

#define IO_SLOTS         64u
#define IO_USER_SLOTS    32u
#define IO_SESSION_SLOTS 16u

/*
 * need_wake and eventfd are the reactor's.  Without use_uring, or where io_uring is refused,
 * threads are used.  What is missing is noted in `features`.  0 or -errno.
 */
int io_new(bool use_uring, uint32_t *need_wake, int eventfd, struct features *features,
	   struct io_backend **ret);

/*
 * Call it after the reactor has stopped.  If a transfer is still under way, it hangs: it is left,
 * with all that it uses, to the end of the process.  NULL is fine.
 */
void io_free(struct io_backend *io);

/* For the reactor's epoll; -1: there is none, and the eventfd tells. */
int io_fd(const struct io_backend *io);

/* Where pinned regions are registered; NULL: nowhere. */
struct io_buffers *io_registry(const struct io_backend *io);

#endif

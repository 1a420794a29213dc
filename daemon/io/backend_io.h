/* SPDX-License-Identifier: MIT */
/*
 * backend_io.h - FILE_READ and FILE_WRITE: between a file that the client passed and
 * the memory of a tensor.
 *
 * A transfer is a row of pieces, one under way at a time, through the reactor's io_uring,
 * (to and from registered buffers in the pinned region) or through threads where that is refused;
 * what a piece means is decided here for both, so the results are the same.  The job's result is
 * the count of bytes moved, or -errno. A transfer that stops short is continued until it is whole,
 * fails, or moves nothing; what a read leaves of its tensor at the end of the file is cleared.
 *
 * A file may hang for ever (a dead server behind it): its job does then, and keeps its
 * slot.  So a session has at most IO_SESSION_SLOTS of them, a user IO_USER_SLOTS.
 *
 * Owned by its reactor.
 */
#ifndef QUOITD_BACKEND_IO_H
#define QUOITD_BACKEND_IO_H

#include <stdbool.h>
#include <stdint.h>

struct features;
struct io_backend;
struct io_buffers;
struct job;
struct reactor;
struct session;

#define IO_SLOTS         64u
#define IO_USER_SLOTS    32u
#define IO_SESSION_SLOTS 16u

/*
 * need_wake and eventfd are the reactor's.  Without use_uring, or where io_uring is refused,
 * threads are used; in `features` is noted what is missing.  0 or -errno.
 */
int io_new(bool use_uring, uint32_t *need_wake, int eventfd, struct features *features,
	   struct io_backend **ret);

/*
 * After its reactor has stopped.  A transfer that is still under way hangs: it is left, with all
 * that it uses, to the end of the process.  Takes NULL.
 */
void io_free(struct io_backend *io);

/* For the reactor's epoll; -1: none, the eventfd tells. */
int io_fd(const struct io_backend *io);

/* Where pinned regions are registered; NULL: nowhere. */
struct io_buffers *io_registry(const struct io_backend *io);

/* Start a ready job; it ends by reactor_end_job().  -EBUSY: no slot, try again later. */
int io_start(struct reactor *r, struct session *s, struct job *job);

/* Take what has been done and go on with it; true: there was something. */
bool io_poll(struct reactor *r);

/* Once a pass: hand the kernel what was started. */
void io_submit(struct reactor *r);

/* For the reactor's sleep, with its need_wake up: true if all that comes will wake it. */
bool io_may_sleep(struct reactor *r);

/* The session is dead: end its transfers as soon as the kernel lets go of its memory. */
void io_abandon(struct reactor *r, const struct session *s);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * io_thread.h - transfers where io_uring is refused: a thread a slot, made when needed.
 *
 * A transfer that hangs takes its own thread with it and nobody else's.  The slots are
 * the caller's (backend_io.c), which takes the lowest free one, so there are as many
 * threads as there were transfers at one time.
 */
#ifndef QUOITD_IO_THREAD_H
#define QUOITD_IO_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* One preadv or pwritev. */
struct io_piece {
	int fd;
	bool write;
	void *at;
	uint32_t bytes;
	uint64_t offset;
	uint32_t buffer; /* the registered one that holds it, or IO_NO_BUFFER; threads need none */
};

struct io_threads;

/*
 * need_wake and eventfd: of the reactor that sends; its flag is up when it sleeps.  To be made
 * while no descriptor of a client is open.  -ENOMEM, -EAGAIN.  *ret_own_files: 0, or the -errno for
 * which they have the descriptors of all (own_files.h).
 */
int io_threads_new(uint32_t *need_wake, int eventfd, int *ret_own_files, struct io_threads **ret);

/* Ends the threads; nothing may be under way.  Takes NULL. */
void io_threads_free(struct io_threads *t);

/* Have a piece moved by the thread of a slot, which is idle, once it could be made. */
void io_threads_send(struct io_threads *t, unsigned slot, const struct io_piece *piece);

/* The slots whose piece is done, as bits; each is reported once. */
uint64_t io_threads_done(struct io_threads *t);

/* What came of the piece of a slot that is done: bytes or -errno. */
int32_t io_threads_result(const struct io_threads *t, unsigned slot);

/* For the reactor's sleep, with its flag up: true if no piece is done. */
bool io_threads_may_sleep(const struct io_threads *t);

#endif

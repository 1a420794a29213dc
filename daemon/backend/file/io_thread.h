/* SPDX-License-Identifier: MIT */
/*
 * io_thread.h - moves pieces of files by threads, where io_uring is refused: one a slot.
 *
 * A piece that hangs blocks only its own thread.  The slots are the caller's (backend_io.c), which
 * takes the lowest free one.  A thread is made when its slot is first used, so there are as many as
 * there were transfers at one time.
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
	uint32_t buffer; /* the registered buffer that holds it, or IO_NO_BUFFER; unused here */
};

struct io_threads;

/*
 * need_wake and eventfd are those of the reactor that sends; need_wake is set while it sleeps.
 * Call it while no descriptor of a client is open.  -ENOMEM, -EAGAIN.  *ret_own_files: 0, or the
 * -errno for which the threads share quoitd's descriptors (own_files.h).
 */
int io_threads_new(uint32_t *need_wake, int eventfd, int *ret_own_files, struct io_threads **ret);

/* End the threads; no piece may be under way.  NULL is fine. */
void io_threads_free(struct io_threads *t);

/* Have the slot's thread, which is idle or not made yet, move a piece. */
void io_threads_send(struct io_threads *t, unsigned slot, const struct io_piece *piece);

/* The slots whose piece is done, as bits; each is reported once. */
uint64_t io_threads_done(struct io_threads *t);

/* The result of a slot's piece that is done: bytes or -errno. */
int32_t io_threads_result(const struct io_threads *t, unsigned slot);

/* For the reactor's sleep, with need_wake set.  True: no piece is done. */
bool io_threads_may_sleep(const struct io_threads *t);

#endif

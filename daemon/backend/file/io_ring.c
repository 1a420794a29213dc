/* SPDX-License-Identifier: MIT */
/*
 * io_ring.c - moves pieces of files by io_uring.
 *
 * The kernel's threads that move pieces share the descriptors of the thread that submits them
 * (own_files.h says why that matters).  So a thread of its own submits.  The reactor leaves pieces
 * in their slots; the thread names files by their slots, in the ring's own table of files.
 */
#include "io_ring.h"

#include <errno.h>
#include <liburing.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend_io.h"
#include "memory/io_buffers.h"
#include "own_files.h"

/* A slot queues at most a piece and a request to cancel it, so there is always a free SQE. */
#define ENTRIES (2 * IO_SLOTS)

/*
 * user_data: a piece has its slot in the lower half and its serial in the upper half, so that what
 * cancels it does not cancel the next one of its slot, which may be another session's.
 */
#define NO_SLOT UINT64_MAX /* of requests that are not pieces */

/* Behind the slots' files in the ring's table. */
#define ZEROS_FILE IO_SLOTS
#define FILES      (IO_SLOTS + 1)

#define NOTHING (-1) /* no file */

struct io_ring {
	struct io_uring uring;
	int zeros;
	bool has_files; /* the ring has a table of files; else pieces name descriptors */

	/* the reactor's: slots that are not handed over yet, as bits */
	uint64_t unsent, uncancelled;

	pthread_t submitter;
	bool started;
	int err; /* why it has no descriptors of its own */
	sem_t ready, news;
	_Atomic bool stop;
	_Atomic uint32_t rounds;         /* the thread's: it has read the pieces before */
	_Atomic uint64_t send, cancel;   /* slots, as bits */
	struct io_piece piece[IO_SLOTS]; /* the thread's, from `send` on until the piece is done */
	uint32_t serial[IO_SLOTS];       /* of that piece */
	_Atomic uint32_t unwanted[IO_SLOTS]; /* the serial of the piece that was cancelled last */
};

/* ---- the thread that submits ---- */

static uint64_t name_of(unsigned slot, uint32_t serial)
{
	return (uint64_t)serial << 32 | slot;
}

static void prepare_piece(struct io_ring *r, unsigned slot)
{
	const struct io_piece *p = &r->piece[slot];
	struct io_uring_sqe *sqe = io_uring_get_sqe(&r->uring);
	int file = p->fd;

	if (r->has_files)
		file = p->fd == r->zeros ? (int)ZEROS_FILE : (int)slot;
	if (p->write && p->buffer != IO_NO_BUFFER)
		io_uring_prep_write_fixed(sqe, file, p->at, p->bytes, p->offset, (int)p->buffer);
	else if (p->write)
		io_uring_prep_write(sqe, file, p->at, p->bytes, p->offset);
	else if (p->buffer != IO_NO_BUFFER)
		io_uring_prep_read_fixed(sqe, file, p->at, p->bytes, p->offset, (int)p->buffer);
	else
		io_uring_prep_read(sqe, file, p->at, p->bytes, p->offset);
	/*
	 * Without IOSQE_ASYNC the kernel would first try it in this thread's system call.  Some
	 * file systems that claim to return rather than wait do wait (FUSE): the server would block
	 * all pieces behind it.
	 */
	io_uring_sqe_set_flags(sqe, IOSQE_ASYNC | (r->has_files ? IOSQE_FIXED_FILE : 0));
	io_uring_sqe_set_data64(sqe, name_of(slot, r->serial[slot]));
}

static void prepare_cancel(struct io_ring *r, unsigned slot)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&r->uring);

	io_uring_prep_cancel64(sqe, name_of(slot, atomic_load(&r->unwanted[slot])), 0);
	io_uring_sqe_set_data64(sqe, NO_SLOT);
}

/* What the kernel does not take now, for want of memory, is tried again. */
static void submit_all(struct io_ring *r)
{
	while (io_uring_sq_ready(&r->uring) && !atomic_load(&r->stop))
		if (io_uring_submit(&r->uring) < 0)
			usleep(1000);
}

static void *submit(void *arg)
{
	struct io_ring *r = arg;

	(void)pthread_setname_np(pthread_self(), "quoit-files");
	r->err = r->has_files ? own_files_begin(io_ring_fd(r)) : r->err;
	sem_post(&r->ready);
	while (!atomic_load(&r->stop)) {
		uint64_t slots = atomic_exchange(&r->send, 0);

		for (; slots; slots &= slots - 1)
			prepare_piece(r, (unsigned)__builtin_ctzll(slots));
		for (slots = atomic_exchange(&r->cancel, 0); slots; slots &= slots - 1)
			prepare_cancel(r, (unsigned)__builtin_ctzll(slots));
		atomic_fetch_add(&r->rounds, 1); /* pairs with the load in io_ring_next */
		submit_all(r);
		while (sem_wait(&r->news) < 0 && errno == EINTR)
			;
	}
	return NULL;
}

/* ---- making it ---- */

/* Make a table of files for the slots, apart from the submitting thread's descriptors. */
static int make_files(struct io_ring *r)
{
	int err = io_uring_register_files_sparse(&r->uring, FILES);

	if (!err)
		err = io_uring_register_files_update(&r->uring, ZEROS_FILE, &r->zeros, 1);
	return err < 0 ? err : 0;
}

static int start(struct io_ring *r)
{
	int err = own_files_start(&r->submitter, submit, r);

	r->started = !err;
	while (!err && sem_wait(&r->ready) < 0 && errno == EINTR)
		;
	return err;
}

int io_ring_new(int zeros, int *ret_own_files, struct io_ring **ret)
{
	struct io_ring *r = calloc(1, sizeof *r);
	unsigned workers[2] = {IO_SLOTS, 0}; /* for files; 0 leaves the others as they are */
	int err;

	*ret = NULL;
	if (!r)
		return -ENOMEM;
	r->zeros = zeros;
	err = io_uring_queue_init(ENTRIES, &r->uring, 0);
	if (err < 0) {
		free(r);
		return err;
	}
	sem_init(&r->ready, 0, 0);
	sem_init(&r->news, 0, 0);
	/* Before Linux 5.15 the kernel sets the number; so many that hang block the rest. */
	(void)io_uring_register_iowq_max_workers(&r->uring, workers);
	r->err = make_files(r);
	r->has_files = !r->err;
	err = start(r);
	if (err < 0) {
		io_ring_free(r);
		return err;
	}
	*ret_own_files = r->err;
	*ret = r;
	return 0;
}

void io_ring_free(struct io_ring *r)
{
	if (!r)
		return;
	atomic_store(&r->stop, true);
	sem_post(&r->news);
	if (r->started)
		pthread_join(r->submitter, NULL);
	sem_destroy(&r->ready);
	sem_destroy(&r->news);
	io_uring_queue_exit(&r->uring);
	free(r);
}

int io_ring_fd(const struct io_ring *r)
{
	return r->uring.ring_fd;
}

int io_ring_make_buffers(struct io_ring *r)
{
	return io_uring_register_buffers_sparse(&r->uring, IO_BUFFERS);
}

int io_ring_set_buffer(struct io_ring *r, unsigned number, void *at, uint64_t bytes)
{
	struct iovec buffer = {.iov_base = at, .iov_len = bytes};
	int done = io_uring_register_buffers_update_tag(&r->uring, number, &buffer, NULL, 1);

	return done < 0 ? done : 0;
}

/* ---- the reactor ---- */

int io_ring_take_file(struct io_ring *r, unsigned slot, int fd)
{
	int done = r->has_files ? io_uring_register_files_update(&r->uring, slot, &fd, 1) : 1;

	return done < 0 ? done : 0;
}

void io_ring_give_file(struct io_ring *r, unsigned slot)
{
	static const int nothing = NOTHING;

	if (r->has_files)
		(void)io_uring_register_files_update(&r->uring, slot, &nothing, 1);
}

void io_ring_send(struct io_ring *r, unsigned slot, const struct io_piece *p)
{
	r->piece[slot] = *p;
	r->serial[slot]++;
	r->unsent |= UINT64_C(1) << slot;
}

void io_ring_cancel(struct io_ring *r, unsigned slot)
{
	atomic_store(&r->unwanted[slot], r->serial[slot]);
	r->uncancelled |= UINT64_C(1) << slot;
}

void io_ring_submit(struct io_ring *r)
{
	if (!r->unsent && !r->uncancelled)
		return;
	atomic_fetch_or(&r->send, r->unsent);
	atomic_fetch_or(&r->cancel, r->uncancelled);
	r->unsent = r->uncancelled = 0;
	sem_post(&r->news);
}

bool io_ring_next(struct io_ring *r, unsigned *ret_slot, int32_t *ret_result)
{
	struct io_uring_cqe *cqe;

	while (io_uring_cq_ready(&r->uring) && io_uring_peek_cqe(&r->uring, &cqe) == 0) {
		uint64_t name = cqe->user_data;

		*ret_result = cqe->res;
		io_uring_cqe_seen(&r->uring, cqe);
		if (name == NO_SLOT)
			continue;
		*ret_slot = (uint32_t)name;
		/* The kernel has the piece from the submitting thread, which no longer reads it. */
		(void)atomic_load(&r->rounds);
		return true;
	}
	return false;
}

bool io_ring_may_sleep(struct io_ring *r)
{
	io_ring_submit(r);
	return !io_uring_cq_ready(&r->uring);
}

/* SPDX-License-Identifier: MIT */
/* io_ring.c - the io_uring of a reactor */
#include "io_ring.h"

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>

#include "backend_io.h"
#include "io_buffers.h"

/* A slot has at most a piece and a request to cancel it queued, so there is always an SQE. */
#define ENTRIES (2 * IO_SLOTS)

/* user_data of what is no piece. */
#define NO_SLOT UINT64_MAX

struct io_ring {
	struct io_uring uring;
};

int io_ring_new(struct io_ring **ret)
{
	struct io_ring *r = calloc(1, sizeof *r);
	unsigned workers[2] = {IO_SLOTS, 0}; /* for files; for all else leave it */
	int err;

	*ret = NULL;
	if (!r)
		return -ENOMEM;
	err = io_uring_queue_init(ENTRIES, &r->uring, 0);
	if (err < 0) {
		free(r);
		return err;
	}
	/* Before Linux 5.15 the kernel decides how many; then as many as it likes may hang. */
	(void)io_uring_register_iowq_max_workers(&r->uring, workers);
	*ret = r;
	return 0;
}

void io_ring_free(struct io_ring *r)
{
	if (!r)
		return;
	io_uring_queue_exit(&r->uring);
	free(r);
}

int io_ring_fd(const struct io_ring *r)
{
	return r->uring.ring_fd;
}

int io_ring_make_buffers(struct io_ring *r)
{
	return io_uring_register_buffers_sparse(&r->uring, IO_RING_BUFFERS);
}

int io_ring_set_buffer(struct io_ring *r, unsigned number, void *at, uint64_t bytes)
{
	struct iovec buffer = {.iov_base = at, .iov_len = bytes};
	int done = io_uring_register_buffers_update_tag(&r->uring, number, &buffer, NULL, 1);

	return done < 0 ? done : 0;
}

void io_ring_send(struct io_ring *r, unsigned slot, const struct io_piece *p)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&r->uring);

	if (p->write && p->buffer != IO_NO_BUFFER)
		io_uring_prep_write_fixed(sqe, p->fd, p->at, p->bytes, p->offset, (int)p->buffer);
	else if (p->write)
		io_uring_prep_write(sqe, p->fd, p->at, p->bytes, p->offset);
	else if (p->buffer != IO_NO_BUFFER)
		io_uring_prep_read_fixed(sqe, p->fd, p->at, p->bytes, p->offset, (int)p->buffer);
	else
		io_uring_prep_read(sqe, p->fd, p->at, p->bytes, p->offset);
	/*
	 * Else it would be tried in our system call first, and not every file system that says
	 * it returns rather than wait does (FUSE): its server would hang the reactor.
	 */
	io_uring_sqe_set_flags(sqe, IOSQE_ASYNC);
	io_uring_sqe_set_data64(sqe, slot);
}

void io_ring_cancel(struct io_ring *r, unsigned slot)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&r->uring);

	io_uring_prep_cancel64(sqe, slot, 0);
	io_uring_sqe_set_data64(sqe, NO_SLOT);
}

void io_ring_submit(struct io_ring *r)
{
	if (io_uring_sq_ready(&r->uring))
		(void)io_uring_submit(&r->uring); /* what it does not take now stays queued */
}

bool io_ring_next(struct io_ring *r, unsigned *ret_slot, int32_t *ret_result)
{
	struct io_uring_cqe *cqe;

	while (io_uring_cq_ready(&r->uring) && io_uring_peek_cqe(&r->uring, &cqe) == 0) {
		uint64_t slot = cqe->user_data;

		*ret_result = cqe->res;
		io_uring_cqe_seen(&r->uring, cqe);
		if (slot == NO_SLOT)
			continue;
		*ret_slot = (unsigned)slot;
		return true;
	}
	return false;
}

bool io_ring_may_sleep(struct io_ring *r)
{
	io_ring_submit(r);
	return !io_uring_sq_ready(&r->uring) && !io_uring_cq_ready(&r->uring);
}

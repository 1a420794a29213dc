/* SPDX-License-Identifier: MIT */
/* sqpoll.c - measure io_uring's NOP with a kernel thread that polls */
#include "sqpoll.h"

#include <errno.h>
#include <liburing.h>

#include <quoit/pause.h>

#include "floor_process.h"

#define IDLE_MS   2000 /* the kernel's thread does not sleep during a run */
#define MAX_DEPTH 4096u

static int uring_open(const struct floor_params *p, struct io_uring *ret)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_SQPOLL,
		.sq_thread_idle = IDLE_MS,
	};

	if (p->server_cpu >= 0) {
		params.flags |= IORING_SETUP_SQ_AFF;
		params.sq_thread_cpu = (uint32_t)p->server_cpu;
	}
	return io_uring_queue_init_params(p->depth, ret, &params);
}

/* Submit as many NOPs as there is room for, up to number `end`; returns the next number. */
static uint64_t submit_nops(struct io_uring *ring, uint64_t next, uint64_t end)
{
	uint64_t first = next;

	for (; next < end; next++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

		if (sqe == NULL)
			break;
		io_uring_prep_nop(sqe);
		sqe->user_data = next;
	}
	if (next > first)
		io_uring_submit(ring);
	return next;
}

/* NOPs complete in order.  Returns how many have; *wrong counts unexpected completions. */
static uint64_t reap_nops(struct io_uring *ring, uint64_t done, uint64_t *wrong)
{
	struct io_uring_cqe *cqe;
	unsigned int head;
	unsigned int count = 0;

	io_uring_for_each_cqe(ring, head, cqe)
	{
		*wrong += cqe->user_data != done + count || cqe->res != 0;
		count++;
	}
	io_uring_cq_advance(ring, count);
	return count;
}

static uint64_t drive_nops(struct io_uring *ring, const struct floor_params *p)
{
	uint64_t sent = 0, done = 0, wrong = 0;

	while (done < p->requests) {
		uint64_t end = done + p->depth < p->requests ? done + p->depth : p->requests;
		uint64_t before = done;

		sent = submit_nops(ring, sent, end);
		done += reap_nops(ring, done, &wrong);
		if (done == before)
			quoit_pause();
	}
	return wrong;
}

int sqpoll_run(const struct floor_params *p, struct floor_result *ret)
{
	struct io_uring ring;
	cpu_set_t before;
	int r;

	if (p->depth == 0 || p->depth > MAX_DEPTH || p->requests == 0)
		return -EINVAL;
	r = uring_open(p, &ring);
	if (r < 0)
		return r;
	r = floor_pin(p->client_cpu, &before);
	if (r < 0)
		goto close;
	drive_nops(&ring, &(struct floor_params){.depth = p->depth, .requests = p->depth});

	uint64_t start = floor_now();
	uint64_t wrong = drive_nops(&ring, p);

	ret->ns = (double)(floor_now() - start) / (double)p->requests;
	ret->rate = 1e9 / ret->ns;
	r = wrong != 0 ? -EBADMSG : 0;
	floor_unpin(&before);
close:
	io_uring_queue_exit(&ring);
	return r;
}

/* SPDX-License-Identifier: MIT */
/* bench_client.c - the client side that the benchmarks share */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include <quoit/pause.h>

#include "bench.h"

#define LEASE_BYTES (UINT64_C(64) << 20)
#define MOST_BATCH  32u
#define BATCHES     8u /* in flight */

/* Used with a device: enough for the largest copy and the largest product. */
#define PINNED_BYTES (UINT64_C(256) << 20)
#define DEVICE_BYTES (UINT64_C(512) << 20)

static int wait_for_each(struct quoit_ring *q, struct quoit_sqe sqe, uint64_t count)
{
	int err = 0;

	for (uint64_t i = 0; !err && i < count; i++) {
		quoit_job job;

		err = quoit_start(q, sqe, &job);
		if (!err)
			err = quoit_wait(q, job, QUOIT_FOREVER);
	}
	return err;
}

int bench_repeat_each(struct quoit_ring *q, struct quoit_sqe sqe, uint64_t count, double *ret)
{
	int err = wait_for_each(q, sqe, count / 10);
	double start = bench_now();

	if (!err)
		err = wait_for_each(q, sqe, count);
	*ret = (bench_now() - start) * 1e9 / (double)count;
	return err;
}

static int keep_in_flight(struct quoit_ring *q, struct quoit_sqe sqe, uint64_t count)
{
	int err = 0;

	for (uint64_t i = 0; !err && i < count; i++) {
		err = quoit_push(q, sqe);
		if (!err && i % MOST_BATCH == MOST_BATCH - 1)
			err = quoit_window(q, BATCHES - 1, QUOIT_FOREVER);
	}
	return err ? err : quoit_wait_all(q, QUOIT_FOREVER);
}

int bench_repeat_many(struct quoit_ring *q, struct quoit_sqe sqe, uint64_t count, double *ret)
{
	int err = keep_in_flight(q, sqe, count / 10);
	double start = bench_now();

	if (!err)
		err = keep_in_flight(q, sqe, count);
	*ret = (bench_now() - start) * 1e9 / (double)count;
	return err;
}

int bench_expect(struct quoit_ring *q, quoit_tensor x, uint64_t sum)
{
	float is[2] = {0};
	int err = quoit_read(q, x, is, sizeof is);

	return err ? err : is[0] == (float)sum && is[1] == (float)sum ? 0 : -EBADMSG;
}

double bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int open_client(const struct bench *b, enum bench_cores cores, bool direct,
		       const struct quoit_ring_params *params, struct bench_client *ret)
{
	struct quoit_open_params open = {.socket = b->daemon[cores].socket,
					 .name = "quoit bench",
					 .host_bytes = LEASE_BYTES,
					 .arena_bytes = LEASE_BYTES / 64,
					 .flags = direct ? QUOIT_OPEN_DIRECT : 0};
	int err;

	if (cores == BENCH_DEVICE) {
		open.host_bytes += PINNED_BYTES;
		open.pinned_bytes = PINNED_BYTES;
		open.device_bytes = DEVICE_BYTES;
	}
	err = quoit_open(&open, &ret->session);

	if (err) {
		fprintf(stderr, "quoit bench: cannot open a session: %s\n", quoit_open_text());
		return err;
	}
	err = quoit_open_ring(ret->session, params, &ret->ring);
	if (err) {
		fprintf(stderr, "quoit bench: cannot open a ring: %s\n", quoit_strerror(err));
		quoit_close(ret->session, 0);
	}
	return err;
}

int bench_open(const struct bench *b, enum bench_cores cores,
	       const struct quoit_ring_params *params, struct bench_client *ret)
{
	return open_client(b, cores, false, params, ret);
}

int bench_open_direct(const struct bench *b, struct bench_client *ret)
{
	int err = open_client(b, BENCH_DEVICE, true, NULL, ret);
	struct quoit_info info;

	if (err)
		return err;
	quoit_get_info(ret->session, &info);
	if (info.direct)
		return 0;
	bench_close(ret);
	return -ENOTSUP;
}

void bench_close(struct bench_client *c)
{
	quoit_close(c->session, 0);
}

/* ---- NOPs ---- */

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Both sides work at once only if a part of the jobs in flight is published while the rest is on
 * its way.  The floor has the same rule, so that the two can be compared.
 */
static uint64_t batch_of(unsigned depth)
{
	return depth < 4 ? 1 : smaller(depth / 4, MOST_BATCH);
}

static uint64_t put_nops(struct quoit_ring *q, uint64_t next, uint64_t end)
{
	static const struct quoit_sqe nop = {.opcode = QUOIT_OP_NOP};
	struct quoit_sqe *sqe;
	unsigned n;

	while (next < end && (n = quoit_get_sqes(q, (unsigned)(end - next), &sqe)) > 0)
		for (; n; n--, sqe++) {
			*sqe = nop;
			sqe->user_data = next++;
		}
	(void)quoit_flush(q);
	return next;
}

/* NOPs of one ring end in order.  Returns how many have ended, or a negative errno. */
static int reap_nops(struct quoit_ring *q, uint64_t done)
{
	const struct quoit_cqe *cqe;
	int n = quoit_peek(q, &cqe);

	for (int i = 0; i < n; i++)
		if (cqe[i].user_data != done + (unsigned)i || cqe[i].res)
			return -EBADMSG;
	if (n > 0)
		quoit_release(q, (unsigned)n);
	return n;
}

/* A depth of 1 waits, like a client that needs the answer to go on; a larger depth polls. */
static int await_nops(struct quoit_ring *q, unsigned depth)
{
	if (depth == 1)
		return quoit_wait_cqe(q, QUOIT_FOREVER);
	quoit_pause();
	return 0;
}

int bench_run_nops(struct quoit_ring *q, unsigned depth, uint64_t total)
{
	uint64_t sent = 0, done = 0, batch = batch_of(depth);

	while (done < total) {
		uint64_t window = smaller(total, done + depth);
		int n;

		if (sent < window)
			sent = put_nops(q, sent, smaller(window, sent + batch));
		n = reap_nops(q, done);
		if (!n && sent == window)
			n = await_nops(q, depth);
		if (n < 0)
			return n;
		done += (uint64_t)n;
	}
	return 0;
}

int bench_nops_each(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct bench_client c;
	int err = bench_open(b, s->cores, NULL, &c);

	if (err)
		return err;
	err = bench_repeat_each(c.ring, quoit_nop(0), s->count, ret);
	bench_close(&c);
	return err;
}

/* ---- anything else ---- */

int bench_repeat(struct quoit_ring *q, struct quoit_sqe sqe, uint64_t count, double *ret)
{
	double start = bench_now();
	int err = 0;

	for (uint64_t i = 0; !err && i < count; i++)
		err = quoit_push(q, sqe);
	if (!err)
		err = quoit_wait_all(q, QUOIT_FOREVER);
	*ret = (bench_now() - start) * 1e9 / (double)count;
	return err ? err : quoit_count_failures(q, NULL) ? -EBADMSG : 0;
}

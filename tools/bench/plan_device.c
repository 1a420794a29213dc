/* SPDX-License-Identifier: MIT */
/* plan_device.c - measure jobs on a device, beside direct calls of its device layer */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "read/process.h"

#define SIDE       1000u
#define LARGE_SIDE 4096u
#define COPY_BYTES "268435456" /* 256 MiB of the pinned region */
#define COPY_COUNT 67108864u   /* the same in elements of float32 */
#define WINDOW     192u
#define PATIENCE_S 10 /* time for a process to come back */
#define TRIES      3  /* attempts until a consumer comes up and stays */

/*
 * A soft device is only for trying this out: here, as in quoit-peer, it makes fewer products by
 * this factor.
 */
#define SOFT_PART 100u

static bool is_soft(void)
{
	const char *kind = getenv("QUOIT_GPU");

	return !kind || !strncmp(kind, "soft", 4);
}

/* ---- small jobs ---- */

/*
 * Time x + 1 on 1 x 2 numbers, one at a time, after a tenth as many to warm up; *ret: nanoseconds
 * each.
 */
static int time_adds(struct quoit_ring *q, uint64_t count, double *ret)
{
	double start = 0;
	int err = quoit_use_device(q, 1);
	quoit_tensor x = quoit_create_matrix(q, QUOIT_F32, 1, 2),
		     y = quoit_create_matrix(q, QUOIT_F32, 1, 2);

	if (!err)
		err = quoit_push(q, quoit_fill(x, 1.0));
	for (uint64_t i = 0; i < count + count / 10 && !err; i++) {
		quoit_job job;

		if (i == count / 10)
			start = bench_now();
		err = quoit_start(q, quoit_add_scalar(y, x, 1.0), &job);
		if (!err)
			err = quoit_wait(q, job, QUOIT_FOREVER);
	}
	*ret = (bench_now() - start) * 1e9 / (double)count;
	(void)quoit_free(q, x);
	(void)quoit_free(q, y);
	return err;
}

static int measure_add(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct bench_client c;
	int err = bench_open(b, s->cores, NULL, &c);

	if (err)
		return err;
	err = time_adds(c.ring, s->count, ret);
	bench_close(&c);
	return err;
}

/* How many jobs went through a stream although they were meant for the consumer on the device. */
static int count_streamed(struct quoit_session *s, uint64_t *ret)
{
	struct quoit_device_desc d;
	int err = quoit_query_device(s, 1, &d);

	*ret = err ? 0 : d.jobs_streamed;
	return err;
}

/* The same in GPU-direct mode.  The time counts only if the consumer ran nearly all of them. */
static int measure_resident(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct bench_client c;
	uint64_t before = 0, after = s->count;
	int err = bench_open_direct(b, &c);

	if (err)
		return err;
	for (int i = 0; i < TRIES && !err && after - before > s->count / 10; i++) {
		err = count_streamed(c.session, &before);
		if (!err)
			err = time_adds(c.ring, s->count, ret);
		if (!err)
			err = count_streamed(c.session, &after);
	}
	if (!err && after - before > s->count / 10) {
		fprintf(stderr,
			"quoit bench: %llu of %llu small jobs found no running consumer on the "
			"device\n",
			(unsigned long long)(after - before), (unsigned long long)s->count);
		err = -ENOTSUP;
	}
	bench_close(&c);
	return err;
}

/* y = x + 1, with create and free, WINDOW / 3 in flight; nanoseconds each. */
static int measure_chain(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct bench_client c;
	quoit_tensor x, y;
	double start = 0;
	int err = bench_open(b, s->cores, NULL, &c);

	if (err)
		return err;
	err = quoit_use_device(c.ring, 1);
	x = quoit_create_matrix(c.ring, QUOIT_F32, 1, 2);
	for (uint64_t i = 0; i < s->count + s->count / 10 && !err; i++) {
		if (i == s->count / 10) {
			err = quoit_wait_all(c.ring, QUOIT_FOREVER);
			start = bench_now();
		}
		y = quoit_create_matrix(c.ring, QUOIT_F32, 1, 2);
		if (!err)
			err = quoit_push(c.ring, quoit_add_scalar(y, x, 1.0));
		if (!err)
			err = quoit_free(c.ring, x);
		x = y;
		if (!err && i % (WINDOW / 2) == 0)
			err = quoit_window(c.ring, 1, QUOIT_FOREVER);
	}
	if (!err)
		err = quoit_wait_all(c.ring, QUOIT_FOREVER);
	*ret = (bench_now() - start) * 1e9 / (double)s->count;
	if (!err)
		err = bench_expect(c.ring, x, s->count + s->count / 10);
	bench_close(&c);
	return err;
}

/* ---- large ones ---- */

/* Fill with normal numbers: a device's speed depends on the values that it multiplies. */
static int fill_matrix(struct quoit_ring *q, quoit_tensor x, uint8_t dtype, uint32_t side)
{
	quoit_tensor single =
		dtype == QUOIT_F32 ? x : quoit_create_matrix(q, QUOIT_F32, side, side);
	double ns;
	int err = bench_repeat(q, quoit_normal(single, 1, 0), 1, &ns);

	if (dtype == QUOIT_F32)
		return err;
	if (!err)
		err = bench_repeat(q, quoit_cast(x, single), 1, &ns);
	(void)quoit_free(q, single);
	return err;
}

static int time_products(const struct bench *b, const struct bench_series *s, uint8_t dtype,
			 double *ret)
{
	const uint64_t count = is_soft() ? s->count / SOFT_PART + 1 : s->count;
	struct bench_client c;
	quoit_tensor x, z;
	int err = bench_open(b, s->cores, NULL, &c);

	if (err)
		return err;
	err = quoit_use_device(c.ring, 1);
	x = quoit_create_matrix(c.ring, dtype, s->depth, s->depth);
	z = quoit_create_matrix(c.ring, dtype, s->depth, s->depth);
	if (!err)
		err = fill_matrix(c.ring, x, dtype, s->depth);
	if (!err)
		err = bench_repeat(c.ring, quoit_gemm(z, x, x, 0, 1.0, 0.0), count / 10 + 1, ret);
	if (!err)
		err = bench_repeat(c.ring, quoit_gemm(z, x, x, 0, 1.0, 0.0), count, ret);
	bench_close(&c);
	return err;
}

static int measure_gemm(const struct bench *b, const struct bench_series *s, double *ret)
{
	return time_products(b, s, QUOIT_F32, ret);
}

static int measure_gemm_bf16(const struct bench *b, const struct bench_series *s, double *ret)
{
	return time_products(b, s, QUOIT_BF16, ret);
}

/* Copies between the pinned region and the device; depth: 0: to the device, 1: from it. */
static int measure_copy(const struct bench *b, const struct bench_series *s, double *ret)
{
	const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, COPY_COUNT}};
	struct bench_client c;
	quoit_tensor here, there;
	struct quoit_sqe sqe;
	int err = bench_open(b, s->cores, NULL, &c);

	if (err)
		return err;
	here = quoit_create(c.ring, &shape, QUOIT_CREATE_PINNED);
	there = quoit_create(c.ring, &shape, QUOIT_CREATE_ON(1));
	sqe = s->depth ? quoit_copy(here, there) : quoit_copy(there, here);
	err = bench_repeat(c.ring, quoit_fill(s->depth ? there : here, 1.0), 1, ret);
	if (!err)
		err = bench_repeat(c.ring, sqe, 2, ret);
	if (!err)
		err = bench_repeat(c.ring, sqe, s->count, ret);
	bench_close(&c);
	return err;
}

/* Copies to the device and products there; each kind takes about the same time. */
struct both {
	struct quoit_ring *q;
	struct quoit_sqe copy, product;
	uint64_t copies, products;
};

/* Run this many of both; *ret: seconds. */
static int run_both(const struct both *w, uint64_t copies, uint64_t products, double *ret)
{
	const double start = bench_now();
	int err = 0;

	for (uint64_t i = 0; i < products && !err; i++)
		err = quoit_push(w->q, w->product);
	for (uint64_t i = 0; i < copies && !err; i++)
		err = quoit_push(w->q, w->copy);
	if (!err)
		err = quoit_wait_all(w->q, QUOIT_FOREVER);
	*ret = bench_now() - start;
	return err ? err : quoit_count_failures(w->q, NULL) ? -EBADMSG : 0;
}

/* Choose as many products as take the copies' time.  Afterwards each kind has run once. */
static int balance(struct both *w)
{
	double copies = 0, product = 0;
	int err = run_both(w, w->copies, 1, &copies);

	if (!err)
		err = run_both(w, 0, 1, &product);
	if (!err)
		err = run_both(w, w->copies, 0, &copies);
	w->products = (uint64_t)(copies / product) + 1;
	return err;
}

/* The time of both at once, in multiples of the longer one alone. */
static int measure_overlap(const struct bench *b, const struct bench_series *s, double *ret)
{
	const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, COPY_COUNT}};
	const uint32_t side = is_soft() ? SIDE : LARGE_SIDE;
	double copies = 0, products = 0, at_once = 0;
	struct both w = {.copies = s->count};
	struct bench_client c;
	quoit_tensor x, z, here, there;
	int err = bench_open(b, s->cores, NULL, &c);

	if (err)
		return err;
	w.q = c.ring;
	here = quoit_create(c.ring, &shape, QUOIT_CREATE_PINNED);
	there = quoit_create(c.ring, &shape, QUOIT_CREATE_ON(1));
	err = quoit_use_device(c.ring, 1);
	x = quoit_create_matrix(c.ring, QUOIT_F32, side, side);
	z = quoit_create_matrix(c.ring, QUOIT_F32, side, side);
	w.copy = quoit_copy(there, here);
	w.product = quoit_gemm(z, x, x, 0, 1.0, 0.0);
	if (!err)
		err = bench_repeat(c.ring, quoit_fill(here, 1.0), 1, ret);
	if (!err)
		err = fill_matrix(c.ring, x, QUOIT_F32, side);
	if (!err)
		err = balance(&w);
	if (!err)
		err = run_both(&w, w.copies, 0, &copies);
	if (!err)
		err = run_both(&w, 0, w.products, &products);
	if (!err)
		err = run_both(&w, w.copies, w.products, &at_once);
	*ret = at_once / (copies > products ? copies : products);
	bench_close(&c);
	return err;
}

/* ---- after a fault ---- */

static int run_once(struct quoit_ring *q, struct quoit_sqe sqe)
{
	quoit_job job;
	int err = quoit_start(q, sqe, &job);

	return err ? err : quoit_wait(q, job, QUOIT_FOREVER);
}

/*
 * The time from the death of the device's process until the next process has ended a job;
 * milliseconds.
 */
static int measure_back(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct bench_client c;
	double start = 0;
	quoit_tensor x;
	int err = bench_open(b, s->cores, NULL, &c);

	if (err)
		return err;
	err = quoit_use_device(c.ring, 1);
	x = quoit_create_matrix(c.ring, QUOIT_F32, 1, 2);
	if (!err)
		err = run_once(c.ring, quoit_fill(x, 1.0));
	start = bench_now();
	if (!err && !process_kill_children((uint32_t)b->daemon[s->cores].pid, "quoit-exec"))
		err = -ESRCH;
	if (!err)
		do /* the first job may still be sent to the dead process, and fails */
			err = run_once(c.ring, quoit_fill(x, 1.0));
		while (err && bench_now() - start < PATIENCE_S);
	*ret = (bench_now() - start) * 1e3;
	bench_close(&c);
	return err;
}

static const struct bench_series series[] = {
	{"quoit_add", "ns", BENCH_DEVICE, measure_add, .count = 2000},
	{"direct_add", "ns", 0, bench_peer, .peer = {"device", "add", "0", "20000"},
	 .peer_word = "ns"},
	{"quoit_resident", "ns", BENCH_DEVICE, measure_resident, .count = 5000},
	{"direct_sync", "ns", 0, bench_peer, .peer = {"device", "sync", "0", "5000"},
	 .peer_word = "ns"},
	{"direct_ring", "ns", 0, bench_peer, .peer = {"device", "ring", "0", "20000"},
	 .peer_word = "ns"},
	{"leave", "ns", 0, bench_peer, .peer = {"device", "leave", "0", "100"}, .peer_word = "ns"},
	{"quoit_chain", "ns", BENCH_DEVICE, measure_chain, .count = 50000},
	{"direct_chain", "ns", 0, bench_peer, .peer = {"device", "chain", "0", "50000"},
	 .peer_word = "ns"},
	{"quoit_gemm_1000", "ns", BENCH_DEVICE, measure_gemm, SIDE, 1000},
	{"direct_gemm_1000", "ns", 0, bench_peer, .peer = {"device", "gemm", "1000", "1000"},
	 .peer_word = "ns"},
	{"quoit_gemm_4096", "ns", BENCH_DEVICE, measure_gemm, LARGE_SIDE, 50},
	{"direct_gemm_4096", "ns", 0, bench_peer, .peer = {"device", "gemm", "4096", "50"},
	 .peer_word = "ns"},
	{"quoit_gemm_4096_bf16", "ns", BENCH_DEVICE, measure_gemm_bf16, LARGE_SIDE, 200},
	{"direct_gemm_4096_bf16", "ns", 0, bench_peer,
	 .peer = {"device", "gemm_bf16", "4096", "200"}, .peer_word = "ns"},
	{"quoit_in", "ns", BENCH_DEVICE, measure_copy, 0, 10},
	{"direct_in", "ns", 0, bench_peer, .peer = {"device", "in", COPY_BYTES, "10"},
	 .peer_word = "ns"},
	{"quoit_out", "ns", BENCH_DEVICE, measure_copy, 1, 10},
	{"direct_out", "ns", 0, bench_peer, .peer = {"device", "out", COPY_BYTES, "10"},
	 .peer_word = "ns"},
	{"quoit_overlap", "ratio", BENCH_DEVICE, measure_overlap, .count = 10},
	{"back", "ms", BENCH_DEVICE, measure_back},
	{NULL},
};

static const struct bench_ratio ratios[] = {
	{"device_add/direct", "quoit_add", "direct_add"},
	{"device_resident/direct", "quoit_resident", "direct_sync"},
	{"device_resident/ring", "quoit_resident", "direct_ring"},
	{"device_chain/direct", "quoit_chain", "direct_chain"},
	{"device_gemm_1000/direct", "direct_gemm_1000", "quoit_gemm_1000"},
	{"device_gemm_4096/direct", "direct_gemm_4096", "quoit_gemm_4096"},
	{"device_gemm_4096_bf16/direct", "direct_gemm_4096_bf16", "quoit_gemm_4096_bf16"},
	{"device_in/direct", "direct_in", "quoit_in"},
	{"device_out/direct", "direct_out", "quoit_out"},
	{NULL},
};

const struct bench_plan bench_device = {
	"device",
	"jobs on the device of $QUOIT_GPU (soft) beside its device layer, or CUDA, called directly",
	3, series, ratios};

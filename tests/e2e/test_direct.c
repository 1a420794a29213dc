/* SPDX-License-Identifier: MIT */
/* test_direct.c - GPU-direct mode on a soft device: the same results, in order, with memory */
#include <errno.h>
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>

#include <quoit.h>
#include <quoit/direct.h>

#include "direct.h"

TestSuite(direct, .timeout = 120);

/* ---- sessions with and without it ---- */

Test(direct, is_for_those_who_ask)
{
	struct device_room r = direct_open("", NULL);
	struct quoit_session *plain = direct_session(&r, false);
	struct quoit_info info;

	quoit_get_info(plain, &info);
	cr_expect(!info.direct);
	quoit_close(plain, 0);
	room_close(&r);
}

Test(direct, is_not_to_be_had_without_a_device_or_memory_there)
{
	const char *const options[][4] = {
		{"--gpu=none", "--log=error", NULL},
		{"--gpu=soft", "--gpu-memory=75M", "--log=error", NULL},
	};

	for (size_t i = 0; i < 2; i++) {
		struct device_room r = {0};
		struct quoit_open_params p = {.host_bytes = UINT64_C(32) << 20,
					      .flags = QUOIT_OPEN_DIRECT};
		struct quoit_info info;

		if (i)
			p.device_bytes = UINT64_C(64) << 20;
		cr_assert_eq(daemon_start(&r.daemon, options[i]), 0);
		p.socket = r.daemon.socket;
		cr_assert_eq(quoit_open(&p, &r.s), 0, "%s", quoit_open_text());
		quoit_get_info(r.s, &info);
		cr_expect(!info.direct, "row %zu", i);
		room_close(&r);
	}
}

/* ---- results ---- */

#define ROWS  7u
#define COLS  9u
#define COUNT (ROWS * COLS)

/* The results, each a tensor of float64, except the mask (i32) and places (i64). */
enum {
	SUM_OF,
	REVERSE,
	BROADCAST,
	TURNED,
	FUNCTION,
	CHOSEN,
	GRADIENT,
	PRODUCT,
	SUMS,
	MEANS,
	LOSS,
	NORM,
	WHOLE,
	MASK_OF,
	PLACES,
	RESULTS
};

struct results {
	uint8_t at[RESULTS][COUNT * 2 * sizeof(double)];
};

static uint32_t rows_of(unsigned i)
{
	return i == LOSS || i == NORM ? 1 : i == WHOLE ? COLS : ROWS;
}

static uint32_t columns_of(unsigned i)
{
	return i == SUMS || i == MEANS || i == LOSS || i == NORM || i == PLACES ? 1 : COLS;
}

static enum quoit_dtype type_of(unsigned i)
{
	return i == MASK_OF ? QUOIT_I32 : i == PLACES ? QUOIT_I64 : QUOIT_F64;
}

static size_t bytes_of(unsigned i)
{
	return rows_of(i) * columns_of(i) * (type_of(i) == QUOIT_I32 ? 4 : 8);
}

static struct quoit_sqe reduce(uint8_t opcode, quoit_tensor out, quoit_tensor x, uint8_t axis)
{
	return quoit_op_arg(quoit_op4(opcode, out, x, 0, 0), axis, 0, 0);
}

/* One small job of each kind, on views of several kinds.  Returns how many jobs. */
static uint64_t compute(struct quoit_ring *q, struct results *ret)
{
	const struct quoit_shape columns = {
		.dtype = QUOIT_F64, .dim = {1, 1, ROWS, COLS}, .stride = {1, 1, 1, ROWS}};
	quoit_tensor x = quoit_create_matrix(q, QUOIT_F64, ROWS, COLS);
	quoit_tensor y = quoit_create_matrix(q, QUOIT_F64, ROWS, COLS);
	quoit_tensor row = quoit_create_matrix(q, QUOIT_F64, 1, COLS), z[RESULTS], turned;

	for (unsigned i = 0; i < RESULTS; i++)
		z[i] = quoit_create_matrix(q, type_of(i), rows_of(i), columns_of(i));
	turned = quoit_view(q, z[TURNED], &columns, 0);
	cr_assert_eq(direct_run(q, quoit_normal(x, 1, 0), NULL), 0);
	cr_assert_eq(direct_run(q, quoit_normal(y, 2, 0), NULL), 0);
	cr_assert_eq(direct_run(q, quoit_uniform(row, 3, 0), NULL), 0);

	const struct quoit_sqe jobs[] = {
		quoit_add(z[SUM_OF], x, y),
		quoit_op_arg(quoit_op4(QUOIT_OP_SUB, z[REVERSE], x, 0, 0),
			     QUOIT_EW_SCALAR | QUOIT_EW_REVERSE, quoit_bits(0.3), 0),
		quoit_mul(z[BROADCAST], x, row),
		quoit_copy(turned, x),
		quoit_tanh(z[FUNCTION], x),
		quoit_compare(z[MASK_OF], x, QUOIT_CMP_LT, y),
		quoit_select(z[CHOSEN], z[MASK_OF], x, row),
		reduce(QUOIT_OP_SUM, z[SUMS], x, 3),
		reduce(QUOIT_OP_MEAN, z[MEANS], y, 3),
		reduce(QUOIT_OP_ARGMAX, z[PLACES], x, 3),
		reduce(QUOIT_OP_SQNORM, z[NORM], x, QUOIT_AXIS_ALL),
		quoit_sqloss(z[LOSS], x, y, z[GRADIENT], 0.5),
		quoit_gemm(z[WHOLE], x, y, QUOIT_GEMM_TRANS_A, 0.7, 0.0),
		quoit_gemm(z[PRODUCT], y, z[WHOLE], 0, 1.1, 0.0),
	};

	for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
		cr_assert_eq(direct_run(q, jobs[i], NULL), 0, "job %zu", i);
	memset(ret, 0, sizeof *ret);
	for (unsigned i = 0; i < RESULTS; i++) {
		cr_assert_eq(quoit_read(q, z[i], ret->at[i], bytes_of(i)), 0);
		quoit_free(q, z[i]);
	}
	quoit_free(q, turned);
	quoit_free(q, x);
	quoit_free(q, y);
	quoit_free(q, row);
	return sizeof jobs / sizeof jobs[0];
}

static void expect_equal(const struct results *a, const struct results *b)
{
	for (unsigned i = 0; i < RESULTS; i++)
		cr_expect_eq(memcmp(a->at[i], b->at[i], sizeof a->at[i]), 0, "result %u", i);
}

/*
 * A product may be tiled otherwise than on a core; on a real device sums and functions may differ,
 * too.
 */
static bool is_rounded(unsigned i)
{
	const bool sum = i == FUNCTION || i == SUMS || i == MEANS || i == LOSS || i == NORM;

	return i == PRODUCT || i == WHOLE || (sum && !room_is_soft());
}

/* Expect numbers of one type to be equal, apart from the rounding of sums of `terms` terms. */
static void expect_near(const void *a, const void *b, size_t bytes, enum quoit_dtype dtype,
			double terms, unsigned which)
{
	const double unit = dtype == QUOIT_F32 ? 0x1p-23 : 0x1p-52;

	for (size_t i = 0; i < bytes / (dtype == QUOIT_F32 ? 4 : 8); i++) {
		const double x =
			dtype == QUOIT_F32 ? (double)((const float *)a)[i] : ((const double *)a)[i];
		const double y =
			dtype == QUOIT_F32 ? (double)((const float *)b)[i] : ((const double *)b)[i];

		cr_expect_lt(fabs(x - y), 64 * terms * unit,
			     "result %u, element %zu: %.17g and %.17g", which, i, x, y);
	}
}

static void expect_alike(const struct results *here, const struct results *there)
{
	for (unsigned i = 0; i < RESULTS; i++)
		if (is_rounded(i))
			expect_near(here->at[i], there->at[i], bytes_of(i), QUOIT_F64, COUNT, i);
		else
			cr_expect_eq(memcmp(here->at[i], there->at[i], bytes_of(i)), 0, "result %u",
				     i);
}

Test(direct, computes_the_same_bits_as_a_stream_and_the_host)
{
	static struct results here, streamed, there;
	struct device_room r = direct_open("", NULL);
	struct quoit_session *plain = direct_session(&r, false);
	struct quoit_ring *q = direct_ring(plain, 1);
	struct quoit_device_desc before, after;
	int tries = 0;

	(void)compute(r.q, &here);
	(void)compute(q, &streamed);
	expect_alike(&here, &streamed);
	do { /* until no job had to go through streams */
		uint64_t jobs;

		direct_bring_up(&r);
		before = direct_device(&r);
		jobs = compute(r.d, &there);
		after = direct_device(&r);
		cr_assert_eq(after.jobs_direct + after.jobs_streamed,
			     before.jobs_direct + before.jobs_streamed + jobs);
		expect_equal(&streamed, &there);
	} while (after.jobs_streamed != before.jobs_streamed && ++tries < 1000);
	cr_expect_lt(tries, 1000);
	quoit_close(plain, 0);
	room_close(&r);
}

/* Small tensors of every type, as large as they may be. */
enum {
	TYPED_ADD,
	TYPED_MUL,
	TYPED_LEAST,
	TYPED_AXPBY,
	TYPED_MASK,
	TYPED_SUM,
	TYPED_ROWS,
	TYPED_MOST,
	TYPED_PLACE,
	TYPED_ABS,
	TYPED_POWER,
	TYPED_FACTORS,
	TYPED_FEWEST,
	TYPED_LEAST_PLACE,
	TYPED_PRODUCT,
	TYPED_RESULTS
};

#define SIDE QUOIT_DIRECT_SIDE

_Static_assert(SIDE *SIDE == QUOIT_DIRECT_ELEMENTS, "the largest");

struct typed {
	uint8_t at[TYPED_RESULTS][SIDE * SIDE * sizeof(double)];
};

/* Integers get whole numbers from about -1000 to 1000; other types get normal numbers. */
static quoit_tensor make_numbers(struct quoit_ring *q, enum quoit_dtype dtype, uint64_t seed)
{
	quoit_tensor from = quoit_create_matrix(q, QUOIT_F64, SIDE, SIDE);
	quoit_tensor x = quoit_create_matrix(q, dtype, SIDE, SIDE);

	cr_assert_eq(direct_run(q, quoit_normal(from, seed, 0), NULL), 0);
	if (dtype == QUOIT_I32 || dtype == QUOIT_I64)
		cr_assert_eq(direct_run(q, quoit_mul_scalar(from, from, 300.0), NULL), 0);
	cr_assert_eq(direct_run(q, quoit_cast(x, from), NULL), 0);
	quoit_free(q, from);
	return x;
}

static bool is_float(enum quoit_dtype dtype)
{
	return dtype == QUOIT_F32 || dtype == QUOIT_F64;
}

static uint32_t typed_rows(unsigned i)
{
	return i == TYPED_SUM || i == TYPED_PLACE || i == TYPED_MOST || i == TYPED_FACTORS ||
			       i == TYPED_FEWEST || i == TYPED_LEAST_PLACE
		       ? 1
		       : SIDE;
}

static uint32_t typed_columns(unsigned i)
{
	return i == TYPED_SUM || i == TYPED_PLACE || i == TYPED_ROWS || i == TYPED_LEAST_PLACE
		       ? 1
		       : SIDE;
}

static enum quoit_dtype typed_dtype(unsigned i, enum quoit_dtype dtype)
{
	return i == TYPED_MASK                              ? QUOIT_I32
	       : i == TYPED_PLACE || i == TYPED_LEAST_PLACE ? QUOIT_I64
							    : dtype;
}

static size_t typed_bytes(unsigned i, enum quoit_dtype dtype)
{
	const enum quoit_dtype of = typed_dtype(i, dtype);

	return (size_t)typed_rows(i) * typed_columns(i) *
	       (of == QUOIT_I32 || of == QUOIT_F32 ? 4 : 8);
}

static void compute_typed(struct quoit_ring *q, enum quoit_dtype dtype, struct typed *ret)
{
	quoit_tensor x = make_numbers(q, dtype, 7), y = make_numbers(q, dtype, 8), z[TYPED_RESULTS];
	const size_t jobs = is_float(dtype) ? TYPED_RESULTS : TYPED_PRODUCT;

	for (unsigned i = 0; i < TYPED_RESULTS; i++)
		z[i] = quoit_create_matrix(q, typed_dtype(i, dtype), typed_rows(i),
					   typed_columns(i));

	const struct quoit_sqe job[TYPED_RESULTS] = {
		[TYPED_ADD] = quoit_add(z[TYPED_ADD], x, y),
		[TYPED_MUL] = quoit_mul(z[TYPED_MUL], x, y),
		[TYPED_LEAST] = quoit_min(z[TYPED_LEAST], x, y),
		[TYPED_AXPBY] = is_float(dtype) ? quoit_axpby(z[TYPED_AXPBY], 3, x, -2, y)
						: quoit_axpby_int(z[TYPED_AXPBY], 3, x, -2, y),
		[TYPED_MASK] = quoit_compare(z[TYPED_MASK], x, QUOIT_CMP_LT, y),
		[TYPED_SUM] = reduce(QUOIT_OP_SUM, z[TYPED_SUM], x, QUOIT_AXIS_ALL),
		[TYPED_ROWS] = reduce(QUOIT_OP_SUM, z[TYPED_ROWS], y, 3),
		[TYPED_MOST] = reduce(QUOIT_OP_AMAX, z[TYPED_MOST], x, 2),
		[TYPED_PLACE] = reduce(QUOIT_OP_ARGMAX, z[TYPED_PLACE], y, QUOIT_AXIS_ALL),
		[TYPED_ABS] = quoit_abs(z[TYPED_ABS], x),
		[TYPED_POWER] = is_float(dtype) ? quoit_pow_scalar(z[TYPED_POWER], x, 2)
						: quoit_pow_int(z[TYPED_POWER], x, 5),
		[TYPED_FACTORS] = reduce(QUOIT_OP_PROD, z[TYPED_FACTORS], x, 2),
		[TYPED_FEWEST] = reduce(QUOIT_OP_AMIN, z[TYPED_FEWEST], x, 2),
		[TYPED_LEAST_PLACE] =
			reduce(QUOIT_OP_ARGMIN, z[TYPED_LEAST_PLACE], y, QUOIT_AXIS_ALL),
		[TYPED_PRODUCT] = quoit_gemm(z[TYPED_PRODUCT], x, y, QUOIT_GEMM_TRANS_B, 0.7, 0.0),
	};

	memset(ret, 0, sizeof *ret);
	for (size_t i = 0; i < jobs; i++)
		cr_assert_eq(direct_run(q, job[i], NULL), 0, "type %u, job %zu", dtype, i);
	for (unsigned i = 0; i < jobs; i++)
		cr_assert_eq(quoit_read(q, z[i], ret->at[i], typed_bytes(i, dtype)), 0);
	for (unsigned i = 0; i < TYPED_RESULTS; i++)
		quoit_free(q, z[i]);
	quoit_free(q, x);
	quoit_free(q, y);
}

static void expect_typed(const struct typed *a, const struct typed *b, enum quoit_dtype dtype)
{
	for (unsigned i = 0; i < TYPED_RESULTS; i++)
		cr_expect_eq(memcmp(a->at[i], b->at[i], sizeof a->at[i]), 0, "type %u, result %u",
			     dtype, i);
}

static void expect_typed_alike(const struct typed *here, const struct typed *there,
			       enum quoit_dtype dtype)
{
	for (unsigned i = 0; i < TYPED_RESULTS; i++) {
		const bool sum =
			i == TYPED_SUM || i == TYPED_ROWS || i == TYPED_FACTORS || i == TYPED_POWER;

		if (is_float(dtype) && (i == TYPED_PRODUCT || (sum && !room_is_soft())))
			expect_near(here->at[i], there->at[i], typed_bytes(i, dtype), dtype,
				    SIDE * SIDE, i);
		else
			cr_expect_eq(memcmp(here->at[i], there->at[i], sizeof here->at[i]), 0,
				     "type %u, result %u", dtype, i);
	}
}

Test(direct, computes_the_same_bits_of_every_type_and_of_the_largest_small_tensors)
{
	static const enum quoit_dtype types[] = {QUOIT_F32, QUOIT_F64, QUOIT_I32, QUOIT_I64};
	static struct typed here, streamed, there;
	struct device_room r = direct_open("", NULL);
	struct quoit_session *plain = direct_session(&r, false);
	struct quoit_ring *q = direct_ring(plain, 1);

	for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
		struct quoit_device_desc before, after;
		int tries = 0;

		compute_typed(r.q, types[t], &here);
		compute_typed(q, types[t], &streamed);
		expect_typed_alike(&here, &streamed, types[t]);
		do { /* until most of it had a consumer, which leaves while numbers are made */
			direct_bring_up(&r);
			before = direct_device(&r);
			compute_typed(r.d, types[t], &there);
			after = direct_device(&r);
			expect_typed(&streamed, &there, types[t]);
		} while (after.jobs_direct < before.jobs_direct + TYPED_PRODUCT / 2 &&
			 ++tries < 1000);
		cr_expect_lt(tries, 1000);
	}
	quoit_close(plain, 0);
	room_close(&r);
}

/* ---- order ---- */

/* y = -x or x + i, 3000 times, from 5; and the result. */
static int64_t run_chain(struct quoit_ring *q, int64_t got[3])
{
	quoit_tensor x = quoit_create_vector(q, QUOIT_I64, 3), y;
	int64_t v = 5;

	quoit_push(q, quoit_fill_int(x, 5));
	for (int i = 0; i < 3000; i++) {
		y = quoit_create_vector(q, QUOIT_I64, 3);
		quoit_push(q, i % 3 ? quoit_add_int(y, x, i) : quoit_mul_int(y, x, -1));
		quoit_free(q, x);
		x = y;
		v = i % 3 ? v + i : -v;
	}
	cr_assert_eq(quoit_read(q, x, got, 3 * sizeof *got), 0);
	quoit_free(q, x);
	return v;
}

/* A chain that begins while the consumer is away from its core goes through a stream to its end. */
Test(direct, runs_a_chain_in_its_order)
{
	struct device_room r = direct_open("", NULL);
	struct quoit_device_desc before, after;
	int64_t got[3], v;
	int tries = 0;

	do {
		direct_bring_up(&r);
		before = direct_device(&r);
		v = run_chain(r.d, got);
		after = direct_device(&r);
		cr_expect(got[0] == v && got[2] == v, "%ld, not %ld", (long)got[0], (long)v);
		cr_expect_eq(after.jobs_direct + after.jobs_streamed,
			     before.jobs_direct + before.jobs_streamed + 3001);
	} while (after.jobs_direct == before.jobs_direct && ++tries < 100);
	cr_expect_lt(tries, 100);
	room_close(&r);
}

/* Small jobs, large jobs on the same device, and cores, each on the others' results. */
Test(direct, streams_and_cores_wait_for_each_other)
{
	struct device_room r = direct_open("", NULL);
	quoit_tensor small = quoit_create_vector(r.d, QUOIT_F64, 4);
	quoit_tensor large = quoit_create_matrix(r.d, QUOIT_F64, 2000, 4);
	quoit_tensor back = quoit_create_vector(r.d, QUOIT_F64, 4), here;
	struct quoit_shape four = {.dtype = QUOIT_F64, .dim = {1, 1, 1, 4}};
	double got[4], v = 1;

	here = quoit_create(r.d, &four, QUOIT_CREATE_ON(0));
	direct_bring_up(&r);
	quoit_push(r.d, quoit_fill(small, 1.0));
	for (int i = 0; i < 200; i++) {
		quoit_push(r.d, quoit_mul_scalar(small, small, 0.5));
		quoit_push(r.d, quoit_add_scalar(small, small, 1.0));
		quoit_push(r.d, quoit_copy(large, small)); /* 2000 of its elements */
		quoit_push(r.d, quoit_add_scalar(large, large, 1.0));
		quoit_push(r.d, quoit_op_arg(quoit_op4(QUOIT_OP_AMAX, back, large, 0, 0), 2, 0, 0));
		quoit_push(r.d, quoit_mul_scalar(back, back, 0.25));
		quoit_push(r.d, quoit_copy(here, back));
		quoit_push(r.d, quoit_add_scalar(here, here, 0.5));
		quoit_push(r.d, quoit_copy(small, here));
		v = ((v * 0.5 + 1) + 1) * 0.25 + 0.5;
	}
	cr_assert_eq(quoit_read(r.d, small, got, sizeof got), 0);
	cr_assert_eq(quoit_count_failures(r.d, NULL), 0);
	cr_expect(got[0] == v && got[3] == v, "%.17g, not %.17g", got[0], v);
	room_close(&r);
}

/* ---- memory ---- */

Test(direct, reads_zeros_from_what_was_never_written)
{
	struct device_room r = direct_open("", NULL);

	direct_bring_up(&r);
	for (int i = 0; i < 100; i++)
		room_expect_zeros(&r, 1000);
	room_close(&r);
}

/* The device has no buffer of any of these sizes yet: its consumer must leave, and comes back. */
Test(direct, gives_way_to_whoever_needs_memory)
{
	struct device_room r = direct_open("", NULL);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F64, 2), large[24];
	double got[2];

	direct_bring_up(&r);
	quoit_push(r.d, quoit_fill(x, 0.0));
	for (uint32_t i = 0; i < 24; i++) {
		large[i] = quoit_create_vector(r.d, QUOIT_F32, 10000u * (i + 1));
		for (int k = 0; k < 10; k++)
			quoit_push(r.d, quoit_add_scalar(x, x, 1.0));
		quoit_push(r.d, quoit_fill(large[i], 1.0));
	}
	cr_assert_eq(quoit_read(r.d, x, got, sizeof got), 0);
	cr_assert_eq(quoit_wait_all(r.d, DIRECT_PATIENCE_MS), 0);
	cr_assert_eq(quoit_count_failures(r.d, NULL), 0);
	cr_expect(got[0] == 240.0 && got[1] == 240.0, "%f", got[0]);
	direct_bring_up(&r);
	room_close(&r);
}

/*
 * Run it while a consumer is there.  Several tries, since the consumer leaves by itself when it is
 * idle.
 */
static void run_beside_it(struct device_room *r, struct quoit_sqe sqe)
{
	struct quoit_error error = {0};

	for (int i = 0; i < 10; i++) {
		direct_bring_up(r);
		cr_assert_eq(room_run(r->d, sqe, &error), 0, "code %d, field %u", error.code,
			     error.field);
	}
}

/* The device can reach a pinned tensor only once its memory is registered. */
Test(direct, gives_way_to_whoever_copies_to_pinned_memory_for_the_first_time)
{
	const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 100, 100}};
	struct device_room r = direct_open("", NULL);
	quoit_tensor here, there = quoit_create_matrix(r.d, QUOIT_F32, 100, 100);

	cr_assert_eq(quoit_use_device(r.d, 0), 0);
	here = quoit_create(r.d, &shape, QUOIT_CREATE_PINNED);
	cr_assert_eq(quoit_use_device(r.d, 1), 0);
	cr_assert_eq(room_run(r.d, quoit_fill(there, 1.0), NULL), 0);
	run_beside_it(&r, quoit_copy(here, there));
	room_close(&r);
}

/* For a large product a driver may have to load code. */
Test(direct, gives_way_to_a_large_product)
{
	struct device_room r = direct_open("", NULL);
	quoit_tensor a = quoit_create_matrix(r.d, QUOIT_F32, 100, 100);
	quoit_tensor c = quoit_create_matrix(r.d, QUOIT_F32, 100, 100);

	cr_assert_eq(room_run(r.d, quoit_fill(a, 1.0), NULL), 0);
	cr_assert_eq(room_run(r.d, quoit_fill(c, 1.0), NULL), 0);
	run_beside_it(&r, quoit_gemm(c, a, a, 0, 1.0, 0.0));
	room_close(&r);
}

/* Loading a kernel may wait for the device, so all kernels are loaded before the consumer comes. */
Test(direct, streams_run_what_they_never_ran_beside_it)
{
	struct device_room r = direct_open("", NULL);
	quoit_tensor x = quoit_create_matrix(r.d, QUOIT_F64, 100, 100);
	quoit_tensor y = quoit_create_matrix(r.d, QUOIT_F64, 100, 100);
	quoit_tensor mask = quoit_create_matrix(r.d, QUOIT_I32, 100, 100);
	quoit_tensor rows = quoit_create_matrix(r.d, QUOIT_F64, 100, 1);

	cr_assert_eq(room_run(r.d, quoit_fill(x, 1.0), NULL), 0);
	cr_assert_eq(room_run(r.d, quoit_fill(y, 1.0), NULL), 0);
	cr_assert_eq(room_run(r.d, quoit_fill_int(mask, 0), NULL), 0);
	cr_assert_eq(room_run(r.d, quoit_fill(rows, 1.0), NULL), 0);
	run_beside_it(&r, quoit_uniform(x, 1, 0));
	run_beside_it(&r, quoit_transpose(y, x, QUOIT_PERM(0, 1, 3, 2)));
	run_beside_it(&r, quoit_compare(mask, x, QUOIT_CMP_LT, y));
	run_beside_it(&r, quoit_cast(y, mask));
	run_beside_it(&r, quoit_exp(x, x));
	run_beside_it(&r, reduce(QUOIT_OP_AMAX, rows, x, 3));
	room_close(&r);
}

Test(direct, has_more_small_tensors_than_places)
{
	struct device_room r = direct_open("", NULL);
	static quoit_tensor x[1500];
	float got[8];

	direct_bring_up(&r);
	for (unsigned i = 0; i < 1500; i++) {
		x[i] = quoit_create_vector(r.d, QUOIT_F32, 8);
		cr_assert_eq(quoit_push(r.d, quoit_fill(x[i], i)), 0);
		if (i)
			quoit_push(r.d, quoit_add(x[i], x[i], x[i - 1]));
	}
	for (unsigned i = 0; i < 1500; i += 100) {
		cr_assert_eq(quoit_read(r.d, x[i], got, sizeof got), 0);
		cr_expect_eq(got[7], (float)(i * (i + 1) / 2), "tensor %u: %f", i, (double)got[7]);
	}
	cr_assert_eq(quoit_count_failures(r.d, NULL), 0);
	room_close(&r);
}

Test(direct, says_what_poisoned_its_inputs)
{
	struct device_room r = direct_open("", NULL);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 10),
		     y = quoit_create_vector(r.d, QUOIT_F32, 1);
	quoit_tensor index = quoit_create_vector(r.d, QUOIT_I32, 1),
		     z = quoit_create_vector(r.d, QUOIT_F32, 1);
	struct quoit_error error;
	int32_t bad = 100;

	direct_bring_up(&r);
	quoit_push(r.d, quoit_fill(x, 1.0));
	cr_assert_eq(quoit_write(r.d, index, &bad, sizeof bad), 0);
	for (int i = 0; i < 20; i++) {
		quoit_job gather, after;

		quoit_push(r.d, quoit_fill(z, 1.0));
		cr_assert_eq(quoit_start(r.d, quoit_gather(y, x, index, 3), &gather), 0);
		cr_assert_eq(quoit_start(r.d, quoit_add(z, z, y), &after), 0);
		cr_assert_eq(quoit_wait_all(r.d, DIRECT_PATIENCE_MS), 0);
		cr_expect_eq(quoit_get_result(r.d, gather), -ERANGE);
		cr_expect_eq(quoit_get_result(r.d, after), -QUOIT_EPOISON);
		cr_assert(quoit_get_job_error(r.d, after, &error));
		cr_expect_eq(error.code, -ERANGE);
		quoit_detach(r.d, gather);
		quoit_detach(r.d, after);
		cr_expect_eq(direct_run(r.d, quoit_fill(y, 2.0), NULL), 0);
		cr_expect_eq(direct_run(r.d, quoit_add(z, y, y), NULL), 0,
			     "written whole, it is good");
	}
	room_close(&r);
}

#define AHEAD 8 /* jobs of the chain before the reader */

/*
 * Start a chain of small jobs on z, and a reader of y behind it: z += y.  Returns whether all went
 * through the consumer's ring, in which the reader does not wait for the chain's end.
 */
static bool read_in_ring(const struct device_room *r, quoit_tensor z, quoit_tensor y,
			 quoit_job *ret_reader)
{
	const uint64_t before = direct_device(r).jobs_direct;

	for (int i = 0; i < AHEAD; i++)
		quoit_push(r->d, quoit_fill(z, i));
	cr_assert_eq(quoit_start(r->d, quoit_add(z, z, y), ret_reader), 0);
	cr_assert_eq(quoit_wait_all(r->d, DIRECT_PATIENCE_MS), 0);
	return direct_device(r).jobs_direct == before + AHEAD + 1;
}

/* Nothing looks for poison before such a job runs: it is found once the consumer has run the job. */
Test(direct, a_reader_of_poison_that_the_consumer_has_run_says_so)
{
	struct device_room r = direct_open("", NULL);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 10),
		     y = quoit_create_vector(r.d, QUOIT_F32, 1);
	quoit_tensor index = quoit_create_vector(r.d, QUOIT_I32, 1),
		     z = quoit_create_vector(r.d, QUOIT_F32, 1);
	int32_t bad = 100;
	unsigned in_ring = 0;

	quoit_push(r.d, quoit_fill(x, 1.0));
	cr_assert_eq(quoit_write(r.d, index, &bad, sizeof bad), 0);
	cr_assert_eq(direct_run(r.d, quoit_gather(y, x, index, 3), NULL), -ERANGE);
	for (int i = 0; i < 1000 && !in_ring; i++) {
		struct quoit_error error;
		quoit_job reader;

		direct_bring_up(&r); /* beside other work the consumer may have left */
		in_ring += read_in_ring(&r, z, y, &reader);
		cr_expect_eq(quoit_get_result(r.d, reader), -QUOIT_EPOISON);
		cr_assert(quoit_get_job_error(r.d, reader, &error));
		cr_expect_eq(error.code, -ERANGE);
		quoit_detach(r.d, reader);
	}
	cr_expect(in_ring, "the consumer never ran the reader");
	room_close(&r);
}

/* ---- other sessions ---- */

Test(direct, sessions_come_and_go)
{
	struct device_room r = direct_open("", NULL);

	for (int i = 0; i < 30; i++) {
		struct device_room other = {.daemon = r.daemon};

		other.s = direct_session(&r, i % 4 != 0);
		other.q = other.d = direct_ring(other.s, 1);
		direct_expect_works(&other, 20);
		direct_expect_works(&r, 5);
		cr_assert_eq(quoit_close(other.s, 0), 0);
	}
	room_close(&r);
}

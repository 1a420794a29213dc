/* SPDX-License-Identifier: MIT */
/* hostile_jobs.c - well-formed jobs at the limits of what a job can be */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "stage.h"

#define MIB         (UINT64_C(1) << 20)
#define ENTRIES     64u
#define PATIENCE_MS 60000

/* Numbers of elements: the reactor divides LITTLE itself, workers divide the other in tiles. */
#define LITTLE 64u
#define LARGE  (256u << 10)

static const struct raw_wish wish = {.host_bytes = 64 * MIB,
				     .arena_bytes = 16 * MIB,
				     .max_tensors = 64,
				     .sq_entries = ENTRIES,
				     .cq_entries = 2 * ENTRIES};

static struct quoit_sqe vector_of(uint8_t dtype, uint32_t handle, uint32_t n, uint64_t offset)
{
	struct quoit_sqe sqe = raw_vector(handle, n, offset);

	sqe.arg = (uint8_t)((sqe.arg & ~QUOIT_CREATE_DTYPE_MASK) | dtype);
	return sqe;
}

/* ---- operations that do not exist ---- */

static const char *const without[] = {"--disable=cos,argmax,file_write", NULL};

/* Is this number reserved for later operations? */
static bool is_kept(unsigned opcode)
{
	return opcode == QUOIT_OP_SORT || opcode == QUOIT_OP_SCATTER;
}

static bool is_switched_off(unsigned opcode)
{
	return opcode == QUOIT_OP_COS || opcode == QUOIT_OP_ARGMAX || opcode == QUOIT_OP_FILE_WRITE;
}

static const uint8_t known[] = {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help) nr,
#include <quoit/ops.def>
#undef QUOIT_OP
};

static bool is_known(unsigned opcode)
{
	return memchr(known, (int)opcode, sizeof known) != NULL;
}

/* Submit one job with this number and without operands; returns its error, and the field. */
static int32_t ask(struct stage *s, struct raw_client *c, unsigned opcode, uint8_t *ret_field)
{
	struct quoit_sqe sqe = {.opcode = (uint8_t)opcode, .user_data = opcode};
	struct quoit_error error = {0};
	struct quoit_cqe cqe = {0};

	CHECK(s, raw_submit(c, &sqe) && !raw_reap(c, PATIENCE_MS, &cqe, &error));
	CHECK(s, cqe.user_data == opcode);
	*ret_field = error.field;
	return cqe.res;
}

/* A disabled operation has another error than one that does not exist, or an invalid job. */
static void number_that_is_switched_off_or_unknown(struct stage *s)
{
	struct raw_client c;

	if (!stage_open(s, &c, &wish))
		return;
	for (unsigned i = 0; i < QUOIT_OP_NR && !s->bad; i++) {
		bool offered = c.info.ops[i / 64] >> i % 64 & 1;
		uint8_t field = 0;
		int32_t res = ask(s, &c, i, &field);

		CHECK(s, offered == (is_known(i) && !is_switched_off(i)));
		CHECK(s, (res == -ENOTSUP) == (is_switched_off(i) || is_kept(i)));
		if (!offered)
			CHECK(s, field == QUOIT_FIELD_OPCODE);
		if (!is_known(i) && !is_kept(i))
			CHECK(s, res == -EINVAL);
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* Jobs beside it, on the same tensors, go on. */
static void job_that_is_switched_off_fails_alone(struct stage *s)
{
	struct quoit_sqe two = raw_job(QUOIT_OP_FILL, 1, 0, 0);
	struct quoit_sqe quiet = raw_job(QUOIT_OP_COS, 2, 1, 0); /* only successes are quiet */
	struct quoit_cqe cqe = {0};
	struct raw_client c;

	quiet.flags = QUOIT_SQE_QUIET;
	if (!stage_open(s, &c, &wish))
		return;
	for (unsigned i = 1; i <= 3; i++)
		CHECK(s, !raw_run(&c, raw_vector(i, LITTLE, RAW_ARENA_NOT)));
	for (unsigned i = 0; i < stage_times(s, 100, 100000) && !s->bad; i++) {
		CHECK(s, !raw_run(&c, two));
		CHECK(s, raw_submit(&c, &quiet) && !raw_reap(&c, PATIENCE_MS, &cqe, NULL));
		CHECK(s, cqe.res == -ENOTSUP);
		CHECK(s, raw_run(&c, raw_job(QUOIT_OP_COS, 2, 1, 0)) == -ENOTSUP);
		CHECK(s, !raw_run(&c, raw_job(QUOIT_OP_SIN, 3, 1, 0)));
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- deadlines ---- */

/* Reap the results of `count` jobs with user_data 0, 1, ...; false: something else came. */
static bool reap_results(struct raw_client *c, unsigned count, int32_t *ret)
{
	for (unsigned i = 0; i < count; i++) {
		struct quoit_cqe cqe;

		if (raw_reap(c, PATIENCE_MS, &cqe, NULL) || cqe.user_data >= count)
			return false;
		ret[cqe.user_data] = cqe.res;
	}
	return true;
}

/*
 * Behind a job of many milliseconds.  The shortest deadline passes before the job's turn comes; a
 * job without one, or with the longest, is in time.  Output of a late job is poison.
 */
static void deadline_that_is_past_none_and_the_longest(struct stage *s)
{
	static const struct {
		uint8_t opcode;
		uint32_t out, in, deadline;
		int32_t res;
	} rows[] = {
		{QUOIT_OP_TANH, 1, 1, 0, 0},
		{QUOIT_OP_COPY, 2, 1, 1, -ETIME},
		{QUOIT_OP_COPY, 3, 1, 0, 0},
		{QUOIT_OP_COPY, 4, 1, UINT32_MAX, 0},
		{QUOIT_OP_COPY, 5, 2, 0, -QUOIT_EPOISON},
		{QUOIT_OP_COPY, 6, 4, UINT32_MAX, 0},
	};
	enum { JOBS = sizeof rows / sizeof rows[0] };
	struct raw_client c;

	if (!stage_open(s, &c, &wish))
		return;
	for (unsigned i = 1; i <= JOBS; i++)
		CHECK(s, !raw_run(&c, raw_vector(i, 2 * MIB, RAW_ARENA_NOT)));
	for (unsigned n = 0; n < stage_times(s, 3, 1000) && !s->bad; n++) {
		struct quoit_sqe sqes[JOBS];
		int32_t res[JOBS] = {0};

		for (unsigned i = 0; i < JOBS; i++) {
			sqes[i] = raw_job(rows[i].opcode, rows[i].out, rows[i].in, 0);
			sqes[i].deadline = rows[i].deadline;
			sqes[i].user_data = i;
		}
		/* All at once: otherwise the first may end before the next one is there. */
		if (!CHECK(s, raw_submit_all(&c, sqes, JOBS) && reap_results(&c, JOBS, res)))
			break;
		for (unsigned i = 0; i < JOBS; i++)
			if (!CHECK(s, res[i] == rows[i].res))
				printf("  job %u: %d\n", i, (int)res[i]);
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/*
 * Whether a job that need not wait is late is a race; but it ends exactly once, one way or the
 * other.
 */
static void shortest_deadline_of_jobs_without_number(struct stage *s)
{
	struct quoit_sqe fill = raw_job(QUOIT_OP_FILL, 1, 0, 0);
	struct raw_client c;

	fill.deadline = 1;
	if (!stage_open(s, &c, &wish))
		return;
	CHECK(s, !raw_run(&c, raw_vector(1, LITTLE, RAW_ARENA_NOT)));
	for (unsigned n = 0; n < stage_times(s, 300, 100000) && !s->bad; n++) {
		int32_t res[ENTRIES];

		for (unsigned i = 0; i < ENTRIES; i++) {
			fill.user_data = i;
			CHECK(s, raw_submit(&c, &fill));
			res[i] = 1;
		}
		CHECK(s, reap_results(&c, ENTRIES, res));
		for (unsigned i = 0; i < ENTRIES; i++)
			CHECK(s, !res[i] || res[i] == -ETIME);
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- integers ---- */

/* Sign-extended, so that both types fit. */
static const int64_t edges32[] = {0, 1, -1, INT32_MIN, INT32_MAX, 7, -7};
static const int64_t edges64[] = {0, 1, -1, INT64_MIN, INT64_MAX, 7, -7};
#define EDGES 7u

/* The quotient by docs/limits.md. */
static int64_t quotient(int64_t x, int64_t y, uint8_t dtype)
{
	int64_t least = dtype == QUOIT_I32 ? INT32_MIN : INT64_MIN;

	if (!y)
		return 0;
	return y == -1 ? x == least ? least : -x : x / y;
}

static int64_t load(const struct raw_client *c, uint64_t offset, uint32_t i, uint8_t dtype)
{
	if (dtype == QUOIT_I32)
		return __atomic_load_n((const int32_t *)(const void *)(c->arena + offset) + i,
				       __ATOMIC_RELAXED);
	return __atomic_load_n((const int64_t *)(const void *)(c->arena + offset) + i,
			       __ATOMIC_RELAXED);
}

static void store(const struct raw_client *c, uint64_t offset, uint32_t i, uint8_t dtype,
		  int64_t value)
{
	if (dtype == QUOIT_I32)
		__atomic_store_n((int32_t *)(void *)(c->arena + offset) + i, (int32_t)value,
				 __ATOMIC_RELAXED);
	else
		__atomic_store_n((int64_t *)(void *)(c->arena + offset) + i, value,
				 __ATOMIC_RELAXED);
}

/* Tensors 1 = 2 / 3, in the arena one after the other. */
enum { OUT, X, Y };

static uint64_t place(unsigned tensor)
{
	return tensor * LARGE * sizeof(int64_t);
}

static bool make_vectors(struct stage *s, struct raw_client *c, uint8_t dtype, uint32_t n)
{
	const int64_t *edges = dtype == QUOIT_I32 ? edges32 : edges64;

	for (unsigned t = OUT; t <= Y; t++)
		if (!CHECK(s, !raw_run(c, vector_of(dtype, t + 1, n, place(t)))))
			return false;
	for (uint32_t i = 0; i < n; i++) {
		store(c, place(X), i, dtype, edges[i % EDGES]);
		store(c, place(Y), i, dtype, edges[i / EDGES % EDGES]);
	}
	return true;
}

/* Make a division: of two tensors, by a scalar, or of a scalar by the tensor. */
static struct quoit_sqe division(uint8_t arg, int64_t scalar)
{
	struct quoit_sqe sqe = raw_job(QUOIT_OP_DIV, OUT + 1, X + 1, arg ? 0 : Y + 1);

	sqe.arg = arg;
	sqe.flags = arg ? QUOIT_SQE_INT : 0;
	sqe.scalar[0] = arg ? (uint64_t)scalar : 0;
	return sqe;
}

static void check_quotients(struct stage *s, const struct raw_client *c, uint8_t dtype, uint32_t n,
			    uint8_t arg, int64_t scalar)
{
	for (uint32_t i = 0; i < n; i++) {
		int64_t x = load(c, place(X), i, dtype);
		int64_t y = arg ? scalar : load(c, place(Y), i, dtype);

		if (arg & QUOIT_EW_REVERSE) {
			y = x;
			x = scalar;
		}
		if (!CHECK(s, load(c, place(OUT), i, dtype) == quotient(x, y, dtype))) {
			printf("  %lld / %lld\n", (long long)x, (long long)y);
			return;
		}
	}
}

static void divide_all_ways(struct stage *s, struct raw_client *c, uint8_t dtype, uint32_t n)
{
	const int64_t *edges = dtype == QUOIT_I32 ? edges32 : edges64;

	CHECK(s, !raw_run(c, division(0, 0)));
	check_quotients(s, c, dtype, n, 0, 0);
	for (unsigned i = 0; i < EDGES && !s->bad; i++)
		for (unsigned reverse = 0; reverse < 2; reverse++) {
			uint8_t arg = QUOIT_EW_SCALAR | (reverse ? QUOIT_EW_REVERSE : 0);

			CHECK(s, !raw_run(c, division(arg, edges[i])));
			check_quotients(s, c, dtype, n, arg, edges[i]);
		}
}

static void division_by_zero_and_of_the_least_by_minus_one(struct stage *s)
{
	static const uint32_t lengths[] = {1, LITTLE, LARGE};
	static const uint8_t types[] = {QUOIT_I32, QUOIT_I64};

	for (unsigned i = 0; i < 2; i++)
		for (unsigned j = 0; j < sizeof lengths / sizeof lengths[0]; j++) {
			struct raw_client c;

			if (!stage_open(s, &c, &wish))
				return;
			if (make_vectors(s, &c, types[i], lengths[j]))
				divide_all_ways(s, &c, types[i], lengths[j]);
			CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
		}
}

struct flicker {
	const struct raw_client *client;
	uint32_t n;
	uint8_t dtype;
	_Atomic bool stop;
};

/* Divisors that are 2 when they are checked, and 0 or -1 when they are used. */
static void *flicker(void *arg)
{
	static const int64_t values[] = {2, 0, -1, 2, -1, 0};
	struct flicker *f = arg;

	for (unsigned round = 0; !f->stop; round++)
		for (uint32_t i = 0; i < f->n; i++)
			store(f->client, place(Y), i, f->dtype, values[(round + i) % 6]);
	return NULL;
}

static bool is_some_quotient(int64_t got, uint8_t dtype)
{
	int64_t least = dtype == QUOIT_I32 ? INT32_MIN : INT64_MIN;

	return got == least / 2 || got == 0 || got == least;
}

static void divisor_that_changes_while_it_is_used(struct stage *s)
{
	static const uint8_t types[] = {QUOIT_I32, QUOIT_I64};

	for (unsigned k = 0; k < 2; k++) {
		struct raw_client c;
		struct flicker f = {.client = &c, .n = LARGE, .dtype = types[k]};
		pthread_t thread;

		if (!stage_open(s, &c, &wish) || !make_vectors(s, &c, f.dtype, f.n))
			return;
		for (uint32_t i = 0; i < f.n; i++) {
			store(&c, place(X), i, f.dtype,
			      types[k] == QUOIT_I32 ? INT32_MIN : INT64_MIN);
			store(&c, place(Y), i, f.dtype, 2);
		}
		pthread_create(&thread, NULL, flicker, &f);
		for (unsigned n = 0; n < stage_times(s, 30, 10000) && !s->bad; n++) {
			CHECK(s, !raw_run(&c, division(0, 0)));
			for (uint32_t i = 0; i < f.n && !s->bad; i++)
				CHECK(s,
				      is_some_quotient(load(&c, place(OUT), i, f.dtype), f.dtype));
		}
		f.stop = true;
		pthread_join(thread, NULL);
		CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
}

static const struct stage_case partial[] = {
	{"number that is switched off or unknown", number_that_is_switched_off_or_unknown},
	{"job that is switched off fails alone", job_that_is_switched_off_fails_alone},
};

static const struct stage_case whole[] = {
	{"deadline that is past, none, and the longest",
	 deadline_that_is_past_none_and_the_longest},
	{"shortest deadline of jobs without number", shortest_deadline_of_jobs_without_number},
	{"division by zero, and of the least by -1",
	 division_by_zero_and_of_the_least_by_minus_one},
	{"divisor that changes while it is used", divisor_that_changes_while_it_is_used},
};

int main(int argc, char **argv)
{
	const struct stage_scene some = {.options = without}, all = {0};
	struct stage stage;

	if (!stage_init(&stage, argc, argv))
		return 2;
	stage_play(&stage, &some, partial, sizeof partial / sizeof partial[0]);
	stage_play(&stage, &all, whole, sizeof whole / sizeof whole[0]);
	return stage_end(&stage);
}

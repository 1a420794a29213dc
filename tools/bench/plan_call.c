/* SPDX-License-Identifier: MIT */
/* plan_call.c - functions of the program's own, and rings that wait for each other */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <string.h>

#include "bench.h"

#define SHARED_BYTES (UINT64_C(24) << 20)
#define ELEMENTS     1000000u
#define PART         25000u /* elements of one piece */

/* ---- the functions ---- */

static int do_nothing(void *state, struct quoit_exec_call *call)
{
	(void)state;
	(void)call;
	return 0;
}

static int hypotenuse(void *state, struct quoit_exec_call *call)
{
	const double *x = call->tensor[1].data, *y = call->tensor[2].data;
	double *out = call->tensor[0].data;
	uint32_t end = (call->piece + 1) * PART;

	(void)state;
	if (end > call->tensor[0].dim[3])
		end = call->tensor[0].dim[3];
	for (uint32_t i = call->piece * PART; i < end; i++)
		out[i] = hypot(x[i], y[i]);
	return 0;
}

static uint32_t parts(void *state, const struct quoit_exec_call *call)
{
	(void)state;
	return (call->tensor[0].dim[3] + PART - 1) / PART;
}

static int add_one(void *state, struct quoit_exec_call *call)
{
	double *x = call->tensor[0].data;

	(void)state;
	*x += 1;
	return 0;
}

static const struct quoit_function functions[] = {
	{.name = "do_nothing", .access = "----", .run = do_nothing},
	{.name = "hypotenuse", .access = "WRR-", .run = hypotenuse, .pieces = parts},
	{.name = "add_one", .access = "M---", .run = add_one},
};

/* ---- a session with a team ---- */

struct caller {
	struct quoit_session *session;
	struct quoit_ring *ring;
	struct quoit_team *team;
};

static int open_caller(const struct bench *b, enum bench_cores cores,
		       const struct quoit_ring_params *ring, const struct quoit_team_params *team,
		       struct caller *ret)
{
	const struct quoit_open_params open = {.socket = b->daemon[cores].socket,
					       .name = "quoit bench",
					       .shared_bytes = SHARED_BYTES};
	int err = quoit_open(&open, &ret->session);

	if (err)
		return err;
	err = quoit_open_ring(ret->session, ring, &ret->ring);
	if (!err)
		err = quoit_open_team(ret->session, functions, sizeof functions / sizeof *functions,
				      team, &ret->team);
	if (err)
		quoit_close(ret->session, 0);
	return err;
}

static struct quoit_sqe empty(const struct caller *c)
{
	return quoit_call(quoit_find_function(c->team, "do_nothing"), 0, 0, 0, 0);
}

/* ---- one at a time ---- */

/* depth: lanes; 0: the thread that waits runs the call */
static int measure_call(const struct bench *b, const struct bench_series *s, double *ret)
{
	const struct quoit_team_params team = {.lanes = s->depth,
					       .flags = s->depth ? 0 : QUOIT_TEAM_NO_LANES};
	const struct quoit_ring_params ring = {.flags = s->depth ? QUOIT_RING_NO_CALLS : 0};
	struct caller c;
	int err = open_caller(b, s->cores, &ring, &team, &c);

	if (err)
		return err;
	err = bench_repeat_each(c.ring, empty(&c), s->count, ret);
	quoit_close(c.session, 0);
	return err;
}

/* ---- many in flight ---- */

static int open_for_many(const struct bench *b, const struct bench_series *s, struct caller *ret)
{
	const struct quoit_ring_params ring = {.entries = 512, .flags = QUOIT_RING_NO_CALLS};
	const struct quoit_team_params team = {.lanes = 1};

	return open_caller(b, s->cores, &ring, &team, ret);
}

static int measure_calls(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct caller c;
	int err = open_for_many(b, s, &c);

	if (err)
		return err;
	err = bench_repeat_many(c.ring, empty(&c), s->count, ret);
	quoit_close(c.session, 0);
	return err;
}

/* All add to one number, so each waits for the one before. */
static int measure_calls_in_order(const struct bench *b, const struct bench_series *s, double *ret)
{
	const struct quoit_shape shape = {.dtype = QUOIT_F64, .dim = {1, 1, 1, 1}};
	struct quoit_sqe sqe;
	struct caller c;
	double is = 0;
	quoit_tensor x;
	int err = open_for_many(b, s, &c);

	if (err)
		return err;
	x = quoit_create(c.ring, &shape, QUOIT_CREATE_SHARED);
	sqe = quoit_call(quoit_find_function(c.team, "add_one"), x, 0, 0, 0);
	err = quoit_run(c.ring, quoit_fill(x, 0), QUOIT_FOREVER);
	if (!err)
		err = bench_repeat_many(c.ring, sqe, s->count, ret);
	if (!err)
		err = quoit_read(c.ring, x, &is, sizeof is);
	if (!err && is != (double)(s->count + s->count / 10))
		err = -EBADMSG;
	quoit_close(c.session, 0);
	return err;
}

/* ---- a loop in pieces ---- */

/* A team with a thread on each of the two CPUs; this thread stays on its own. */
static int open_on_both(const struct bench *b, const struct bench_series *s, struct caller *ret)
{
	cpu_set_t before, both;
	int err;

	CPU_ZERO(&both);
	CPU_SET((unsigned)b->client_cpu, &both);
	CPU_SET((unsigned)b->server_cpu, &both);
	(void)sched_getaffinity(0, sizeof before, &before);
	(void)sched_setaffinity(0, sizeof both, &both);
	err = open_caller(b, s->cores, NULL, NULL, ret);
	(void)sched_setaffinity(0, sizeof before, &before);
	return err;
}

static quoit_tensor shared_vector(struct quoit_ring *q)
{
	const struct quoit_shape shape = {.dtype = QUOIT_F64, .dim = {1, 1, 1, ELEMENTS}};

	return quoit_create(q, &shape, QUOIT_CREATE_SHARED);
}

static int measure_hypot(const struct bench *b, const struct bench_series *s, double *ret)
{
	quoit_tensor out, x, y;
	struct caller c;
	struct quoit_sqe sqe;
	int err = open_on_both(b, s, &c);

	if (err)
		return err;
	out = shared_vector(c.ring);
	x = shared_vector(c.ring);
	y = shared_vector(c.ring);
	err = quoit_push(c.ring, quoit_uniform(x, 1, 0));
	if (!err)
		err = quoit_push(c.ring, quoit_uniform(y, 2, 0));
	sqe = quoit_call(quoit_find_function(c.team, "hypotenuse"), out, x, y, 0);
	if (!err)
		err = bench_repeat_each(c.ring, sqe, s->count, ret);
	*ret /= 1e3;
	quoit_close(c.session, 0);
	return err;
}

static const struct bench_series call_series[] = {
	{"nop_wait", "ns", BENCH_ALL_CORES, bench_nops_each, 1, 100000},
	{"call_wait", "ns", BENCH_ALL_CORES, measure_call, 0, 100000},
	{"call_lane", "ns", BENCH_ALL_CORES, measure_call, 1, 20000},
	{"handovers", "ns", 0, bench_peer, .peer = {"handover", "20000"}, .peer_word = "ns"},
	{"calls_256", "ns", BENCH_ALL_CORES, measure_calls, 256, 500000},
	{"calls_256_in_order", "ns", BENCH_ALL_CORES, measure_calls_in_order, 256, 20000},
	{"quoit_addition", "ns", BENCH_ALL_CORES, bench_additions, 192, 300000},
	{"hypot", "us", BENCH_ALL_CORES, measure_hypot, 1, 100},
	{"hypot_openmp", "us", 0, bench_peer, .peer = {"hypot", "100"}, .peer_word = "us"},
	{NULL},
};

static const struct bench_ratio call_ratios[] = {
	{"call/nop", "call_wait", "nop_wait"},
	{"call_lane/handovers", "call_lane", "handovers"},
	{"calls_256/addition", "calls_256", "quoit_addition"},
	{"hypot/openmp", "hypot", "hypot_openmp"},
	{NULL},
};

const struct bench_plan bench_call = {"call", "functions of the program's own, as jobs", 7,
				      call_series, call_ratios};

/* ---- rings that wait for each other ---- */

#define SIDE 256u

/* Products, each of the one before; depth: rings, on which they take turns. */
static int multiply(struct quoit_ring *const *q, const struct bench_series *s,
		    const quoit_tensor t[2], uint64_t count)
{
	struct quoit_event event = {0, 0};
	int err = 0;

	for (uint64_t i = 0; !err && i < count; i++) {
		struct quoit_ring *at = q[i % s->depth];
		struct quoit_sqe sqe = quoit_gemm(t[~i & 1], t[i & 1], t[i & 1], 0, 1, 0);

		if (s->depth > 1 && i)
			sqe = quoit_with_event(sqe, event);
		err = quoit_push(at, sqe);
		if (!err && s->depth > 1)
			err = quoit_record_event(at, &event);
	}
	for (unsigned i = 0; !err && i < s->depth; i++)
		err = quoit_wait_all(q[i], QUOIT_FOREVER);
	return err;
}

static int measure_rings(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct quoit_ring *q[2];
	struct bench_client c;
	quoit_tensor t[2];
	double start;
	int err = bench_open(b, s->cores, NULL, &c);

	if (err)
		return err;
	q[0] = c.ring;
	err = quoit_open_ring(c.session, NULL, &q[1]);
	for (int i = 0; i < 2; i++)
		t[i] = quoit_create_matrix(c.ring, QUOIT_F32, SIDE, SIDE);
	if (!err) /* its square is itself */
		err = quoit_push(c.ring, quoit_fill(t[0], 1.0 / SIDE));
	if (!err)
		err = multiply(q, s, t, s->count / 10);
	start = bench_now();
	if (!err)
		err = multiply(q, s, t, s->count);
	*ret = (bench_now() - start) * 1e6 / (double)s->count;
	bench_close(&c);
	return err;
}

static const struct bench_series event_series[] = {
	{"rings_2", "us", BENCH_ALL_CORES, measure_rings, 2, 500},
	{"rings_1", "us", BENCH_ALL_CORES, measure_rings, 1, 500},
	{NULL},
};

static const struct bench_ratio event_ratios[] = {
	{"rings_2/rings_1", "rings_2", "rings_1"},
	{NULL},
};

const struct bench_plan bench_event = {"event", "two rings that wait for each other, and one", 7,
				       event_series, event_ratios};

/* SPDX-License-Identifier: MIT */
/* test_probes.c - the USDT probes as bpftrace sees them (quoit_probes(7)) */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>
#include <quoit/trace.h>

#include "tracer.h"

#define LARGE  (1u << 20) /* elements: workers run a job on this many */
#define JOBS   3u
#define WAIT   60000
#define MEGA   (UINT64_C(1) << 20)
#define REST   300000 /* us: then both sides sleep, and counters have been published */
#define QUOITD false
#define OURS   true

/* Numbers of the arguments, as in the manual. */
enum { SESSION, RING, INDEX, COUNT, USER_DATA = 3, OPCODE, PLACE, RES = 5 };
enum { REFUSED_OPCODE = 3, REFUSED_CODE, REFUSED_FIELD };

struct scene {
	struct daemon d;
	struct quoit_session *s;
	struct quoit_ring *q;
	int64_t session;
};

static struct tracer tracer;

/* Start quoitd with a device and trace it; then open a session, so that the trace has all of it. */
static void open_scene(struct scene *c)
{
	const char *options[] = {"--gpu=soft:1", NULL};
	struct quoit_open_params p = {.host_bytes = 64 * MEGA, .device_bytes = 16 * MEGA};
	struct quoit_info info;

	cr_assert_eq(daemon_start(&c->d, options), 0);
	tracer_start(&tracer, &c->d);
	p.socket = c->d.socket;
	cr_assert_eq(quoit_open(&p, &c->s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(c->s, NULL, &c->q), 0);
	quoit_get_info(c->s, &info);
	c->session = (int64_t)info.session;
}

static void close_scene(struct scene *c)
{
	cr_assert_eq(quoit_close(c->s, 0), 0);
	daemon_stop(&c->d);
}

static void finish(struct scene *c)
{
	cr_assert_eq(quoit_wait_all(c->q, WAIT), 0);
	usleep(REST);
}

/* How many times this probe fired with that operation; `last`: and with this last argument. */
static unsigned count_of(const char *name, uint8_t opcode, int64_t last)
{
	const struct tracer_event *e;
	unsigned from = 0, n = 0;

	while ((e = tracer_next(&tracer, name, QUOITD, &from)))
		n += e->arg[OPCODE] == opcode && e->arg[PLACE] == last;
	return n;
}

TestSuite(probes, .timeout = 240);

/* Every SQE is submitted and fetched, and every CQE is posted and reaped, in bursts. */
Test(probes, bursts_count_every_sqe_and_every_cqe)
{
	struct scene c;
	int64_t sqes;

	open_scene(&c);
	for (unsigned i = 0; i < 10; i++) {
		quoit_job job;

		cr_assert_eq(quoit_start(c.q, quoit_nop(QUOIT_NO_TENSOR), &job), 0);
		quoit_detach(c.q, job);
	}
	finish(&c);
	sqes = (int64_t)daemon_session_counter(&c.d, (uint64_t)c.session, QUOIT_SESSION_SUBMITTED);
	tracer_stop(&tracer, (uint64_t)c.session);
	cr_expect_geq(sqes, 11); /* the wait was an SQE, too */
	cr_expect_eq(tracer_sum(&tracer, "submit", OURS, COUNT), sqes);
	cr_expect_eq(tracer_sum(&tracer, "fetch", QUOITD, COUNT), sqes);
	cr_expect_eq(tracer_sum(&tracer, "post", QUOITD, COUNT), sqes);
	cr_expect_eq(tracer_sum(&tracer, "reap", OURS, COUNT), sqes);
	cr_expect_eq(tracer_count(&tracer, "submit", OURS), 1, "all at once");
	cr_expect_eq(tracer_count(&tracer, "start", QUOITD), 0, "they end at their fetch");
	close_scene(&c);
}

/* Indices continue those of the burst before, and belong to this session and ring. */
static void expect_in_order(const char *name, bool ours, int64_t session)
{
	const struct tracer_event *e;
	unsigned from = 0, n = 0;
	uint32_t next = 0;

	for (; (e = tracer_next(&tracer, name, ours, &from)); n++) {
		cr_expect_eq(e->arg[SESSION], session, "%s", name);
		cr_expect_eq(e->arg[RING], 0, "%s", name);
		cr_expect_eq((uint32_t)e->arg[INDEX], next, "%s", name);
		next += (uint32_t)e->arg[COUNT];
	}
	cr_expect_gt(n, 1, "%s: there was %u", name, n);
}

Test(probes, bursts_say_whose_they_are_and_where_they_begin)
{
	struct scene c;

	open_scene(&c);
	for (unsigned i = 0; i < JOBS; i++)
		cr_assert_eq(quoit_wait_all(c.q, WAIT), 0);
	tracer_stop(&tracer, (uint64_t)c.session);
	expect_in_order("submit", OURS, c.session);
	expect_in_order("fetch", QUOITD, c.session);
	expect_in_order("post", QUOITD, c.session);
	expect_in_order("reap", OURS, c.session);
	close_scene(&c);
}

/* On workers and on a device, with a different operation for each. */
Test(probes, jobs_of_the_table_start_somewhere_and_end)
{
	const struct quoit_shape there = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 64}};
	struct scene c;
	quoit_tensor x, y;

	open_scene(&c);
	x = quoit_create_vector(c.q, QUOIT_F32, LARGE);
	y = quoit_create(c.q, &there, QUOIT_CREATE_ON(1));
	for (unsigned i = 0; i < JOBS; i++)
		cr_assert_eq(quoit_push(c.q, quoit_normal(x, i, 0)), 0);
	cr_assert_eq(quoit_push(c.q, quoit_fill(y, 1.0)), 0);
	finish(&c);
	tracer_stop(&tracer, (uint64_t)c.session);
	cr_expect_eq(count_of("start", QUOIT_OP_NORMAL, QUOIT_TRACE_WORKERS), JOBS);
	cr_expect_eq(count_of("end", QUOIT_OP_NORMAL, 0), JOBS);
	cr_expect_eq(count_of("start", QUOIT_OP_FILL, QUOIT_TRACE_DEVICE + 1), 1);
	cr_expect_eq(count_of("end", QUOIT_OP_FILL, 0), 1);
	cr_expect_eq(tracer_count(&tracer, "start", QUOITD), tracer_count(&tracer, "end", QUOITD));
	close_scene(&c);
}

/* The fourth job names a tensor that does not exist. */
Test(probes, a_refusal_says_what_its_error_record_says)
{
	const struct tracer_event *e;
	struct quoit_error error;
	unsigned from = 0;
	struct scene c;

	open_scene(&c);
	for (unsigned i = 0; i < JOBS; i++)
		cr_assert_eq(quoit_push(c.q, quoit_nop(QUOIT_NO_TENSOR)), 0);
	cr_assert_eq(quoit_push(c.q, quoit_fill(12345, 1.0)), 0);
	finish(&c);
	cr_assert_eq(quoit_count_failures(c.q, &error), 1);
	tracer_stop(&tracer, (uint64_t)c.session);
	cr_assert_eq(tracer_count(&tracer, "refuse", QUOITD), 1);
	e = tracer_next(&tracer, "refuse", QUOITD, &from);
	cr_expect_eq(e->arg[SESSION], c.session);
	cr_expect_eq(e->arg[INDEX], JOBS);
	cr_expect_eq(e->arg[REFUSED_OPCODE], QUOIT_OP_FILL);
	cr_expect_eq(e->arg[REFUSED_CODE], error.code);
	cr_expect_lt(e->arg[REFUSED_CODE], 0);
	cr_expect_eq(e->arg[REFUSED_FIELD], error.field);
	close_scene(&c);
}

/* After a rest quoitd sleeps; the client sleeps while workers are busy. */
Test(probes, wakes_are_those_that_quoitd_counts)
{
	struct scene c;
	quoit_tensor x;

	open_scene(&c);
	x = quoit_create_vector(c.q, QUOIT_F32, LARGE);
	finish(&c);
	for (unsigned i = 0; i < 8 * JOBS; i++)
		cr_assert_eq(quoit_push(c.q, quoit_normal(x, i, 0)), 0);
	finish(&c);
	tracer_stop(&tracer, (uint64_t)c.session);
	cr_expect_geq(tracer_count(&tracer, "wake", OURS), 1);
	cr_expect_geq(tracer_count(&tracer, "wake", QUOITD), 1);
	cr_expect_eq(tracer_count(&tracer, "wake", OURS),
		     daemon_session_counter(&c.d, (uint64_t)c.session, QUOIT_SESSION_KICKS));
	cr_expect_eq(tracer_count(&tracer, "wake", QUOITD),
		     daemon_session_counter(&c.d, (uint64_t)c.session, QUOIT_SESSION_WAKES));
	close_scene(&c);
}

/* SPDX-License-Identifier: MIT */
/* test_executor.c - operations of a plug-in module */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <quoit.h>
#include <quoit/stats.h>

#include "executor.h"

TestSuite(executor, .timeout = 60);

/* ---- operations ---- */

Test(executor, runs_operations_of_a_module_on_client_and_daemon_memory)
{
	struct house h = house_open(64);
	float *x, *out;
	quoit_tensor tx = house_vector(h.s, h.q, 1000, &x),
		     tout = house_vector(h.s, h.q, 1000, &out);
	quoit_tensor y = quoit_create_vector(h.q, QUOIT_F32, 1000);

	for (int i = 0; i < 1000; i++)
		x[i] = (float)i * 0.25f;
	cr_assert_eq(house_run(h.q, quoit_fill(y, 3.0)), 0);
	cr_assert_eq(house_run(h.q, house_axpy(&h, tout, 2.0, tx, y)), 0);
	for (int i = 0; i < 1000; i++)
		cr_assert_float_eq(out[i], 2.0f * x[i] + 3.0f, 0.0f, "element %d", i);
	cr_assert_eq(house_run(h.q, quoit_op4(h.smooth, tout, tx, 0, 0)), 0);
	cr_assert_float_eq(out[0], x[0], 0.0f);
	for (int i = 1; i < 999; i++)
		cr_assert_float_eq(out[i], 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1], 1e-4f,
				   "element %d", i);
	house_close(&h);
}

Test(executor, gives_way_to_reactors_as_workers_do)
{
	struct house h = house_open(64);

	cr_expect_eq(getpriority(PRIO_PROCESS, (id_t)house_executor(&h)), 19);
	cr_expect_eq(getpriority(PRIO_PROCESS, (id_t)h.d.pid), getpriority(PRIO_PROCESS, 0));
	house_close(&h);
}

Test(executor, sees_strides_and_offsets_of_views)
{
	struct house h = house_open(64);
	struct quoit_shape reversed = {
		.dtype = QUOIT_F32, .dim = {1, 1, 1, 10}, .stride = {1, 1, 1, -2}};
	float *x, *out;
	quoit_tensor tx = house_vector(h.s, h.q, 20, &x), tout = house_vector(h.s, h.q, 10, &out);
	quoit_tensor view = quoit_view(h.q, tx, &reversed, 19 * sizeof *x);

	for (int i = 0; i < 20; i++)
		x[i] = (float)i;
	cr_assert_eq(house_run(h.q, house_axpy(&h, tout, 1.0, view, view)), 0);
	for (int i = 0; i < 10; i++)
		cr_assert_float_eq(out[i], 2.0f * (float)(19 - 2 * i), 0.0f);
	house_close(&h);
}

Test(executor, reads_zeros_from_what_was_never_written)
{
	struct house h = house_open(64);
	float *x, *out;
	quoit_tensor tx = house_vector(h.s, h.q, 100000, &x),
		     tout = house_vector(h.s, h.q, 100000, &out);
	quoit_tensor old = quoit_create_vector(h.q, QUOIT_F32, 100000), fresh;

	cr_assert_eq(house_run(h.q, quoit_fill(old, 5.0)), 0);
	quoit_free(h.q, old);
	fresh = quoit_create_vector(h.q, QUOIT_F32, 100000);
	cr_assert_eq(house_run(h.q, house_axpy(&h, tout, 1.0, tx, fresh)), 0);
	for (int i = 0; i < 100000; i++)
		cr_assert_float_eq(out[i], 0.0f, 0.0f, "element %d", i);
	house_close(&h);
}

Test(executor, says_in_the_error_record_what_the_module_refused)
{
	struct house h = house_open(64);
	float *x, *out;
	quoit_tensor tx = house_vector(h.s, h.q, 7, &x), tout = house_vector(h.s, h.q, 8, &out);
	struct quoit_error error = {0};

	house_submit(h.q, house_axpy(&h, tout, 1.0, tx, tx), 5);
	cr_assert_eq(house_reap(h.q, &error).res, -EINVAL);
	cr_assert_eq(error.field, QUOIT_FIELD_TENSOR1);
	cr_assert_eq(error.value[0], 7);
	cr_assert_eq(error.value[1], 8);
	cr_assert_eq(error.cause, 5);
	house_close(&h);
}

Test(executor, shows_its_operations_to_clients)
{
	struct house h = house_open(64);
	struct quoit_info info;

	quoit_get_info(h.s, &info);
	cr_assert(info.ops[h.axpy / 64] >> h.axpy % 64 & 1);
	cr_assert_eq(quoit_find_op(h.s, "gemm"), QUOIT_OP_GEMM);
	cr_assert_eq(quoit_find_op(h.s, "sample_nothing"), -ENOENT);
	cr_assert_eq(quoit_find_op(h.s, ""), -ENOENT);
	house_close(&h);
}

/* ---- modules that do not start ---- */

struct refusal {
	char module[32], init[8];
};

static struct refusal refusals[] = {{"modules/sample.so", "refuse"},
				    {"modules/sample.so", "die"},
				    {"libquoit.a", ""},
				    {"no/such.so", ""}};

ParameterizedTestParameters(executor, a_module_that_does_not_start_is_left_out)
{
	return cr_make_param_array(struct refusal, refusals, sizeof refusals / sizeof refusals[0]);
}

ParameterizedTest(struct refusal *refusal, executor, a_module_that_does_not_start_is_left_out,
		  .timeout = 60)
{
	const char *build = getenv("QUOIT_BUILD");
	char option[512];
	const char *options[] = {option, "--log=error", NULL};
	struct house h = {0};

	snprintf(option, sizeof option, "--module=%s/%s", build ? build : "build", refusal->module);
	if (*refusal->init)
		setenv("QUOIT_SAMPLE_INIT", refusal->init, 1);
	cr_assert_eq(daemon_start(&h.d, options), 0);
	house_visit(&h, &h.s, &h.q);
	cr_assert_eq(quoit_find_op(h.s, "sample_axpy"), -ENOENT);
	cr_assert(house_says(&h, "left out"));
	cr_assert_eq(house_run(h.q, quoit_nop(0)), 0);
	house_close(&h);
}

/* ---- a module's time ---- */

#define NAP_MS 50

static uint64_t had(const struct house *h, const struct quoit_session *s)
{
	struct quoit_info info;

	quoit_get_info(s, &info);
	return daemon_session_counter(&h->d, info.session, QUOIT_SESSION_EXECUTOR_TICKS);
}

static bool has_had(const struct house *h, uint64_t ms)
{
	struct quoit_info info;

	quoit_get_info(h->s, &info);
	return had(h, h->s) >= ms * (info.tsc_hz / 1000);
}

Test(executor, counts_its_time_for_the_session_whose_job_it_runs)
{
	struct house h = house_open(64);
	struct quoit_session *other;
	struct quoit_ring *q;
	float *x;

	house_visit(&h, &other, &q);
	cr_assert_eq(house_run(q, house_nap(&h, house_vector(other, q, 16, &x), 0, SLEEP_WELL)), 0);
	cr_assert_eq(
		house_run(h.q, house_nap(&h, house_vector(h.s, h.q, 16, &x), NAP_MS, SLEEP_WELL)),
		0);
	cr_expect(house_until(has_had, &h, NAP_MS), "%llu ticks", (unsigned long long)had(&h, h.s));
	cr_expect_lt(had(&h, other), had(&h, h.s) / 2);
	cr_assert_eq(quoit_close(other, QUOIT_CLOSE_CANCEL), 0);
	house_close(&h);
}

/* The executor reports time when the job has ended; quoitd looks at the session before that. */
Test(executor, counts_all_time_of_a_job_beside_which_its_session_has_others)
{
	struct house h = house_open(64);
	float *x;

	house_submit(h.q, house_nap(&h, house_vector(h.s, h.q, 16, &x), NAP_MS, SLEEP_WELL), 1);
	do {
		house_submit(h.q, quoit_nop(0), 2);
		usleep(100);
	} while (house_reap(h.q, NULL).user_data != 1);
	cr_expect(house_until(has_had, &h, NAP_MS), "%llu ticks", (unsigned long long)had(&h, h.s));
	house_close(&h);
}

/* ---- turns ---- */

#define CROWD 24u                  /* three times as many sessions as there are places */
#define AHEAD 4u                   /* independent jobs of each session */
#define EACH  10u                  /* jobs that every session should have had */
#define ALL   (CROWD * EACH * 10u) /* when this many have ended */

struct visitor {
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor x, y[AHEAD];
	unsigned put, done;
};

static void put_one(const struct house *h, struct visitor *v)
{
	house_submit(v->q, house_axpy(h, v->y[v->put++ % AHEAD], 1, v->x, v->x), 0);
}

static void visit(const struct house *h, struct visitor *v)
{
	struct quoit_open_params p = {.socket = h->d.socket, .host_bytes = UINT64_C(1) << 20};
	struct quoit_ring_params r = {.flags = QUOIT_RING_RAW, .entries = 4 * AHEAD};

	cr_assert_eq(quoit_open(&p, &v->s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(v->s, &r, &v->q), 0);
	v->x = quoit_create_vector(v->q, QUOIT_F32, 16);
	for (unsigned i = 0; i < AHEAD; i++) {
		v->y[i] = quoit_create_vector(v->q, QUOIT_F32, 16);
		put_one(h, v);
	}
}

/* Start another job for each that has ended. */
static unsigned go_on(const struct house *h, struct visitor *v)
{
	const struct quoit_cqe *cqe;
	int n = quoit_peek(v->q, &cqe);

	cr_assert_geq(n, 0);
	for (int i = 0; i < n; i++) {
		cr_assert_eq(cqe[i].res, 0);
		put_one(h, v);
	}
	quoit_release(v->q, (unsigned)n);
	v->done += (unsigned)n;
	return (unsigned)n;
}

Test(executor, more_sessions_than_it_has_places_have_turns)
{
	struct house h = house_open(64);
	struct visitor v[CROWD] = {0};
	unsigned least = 0, all = 0;

	for (unsigned i = 0; i < CROWD; i++)
		visit(&h, &v[i]);
	while (least < EACH && all < ALL) {
		least = UINT32_MAX;
		for (unsigned i = 0; i < CROWD; i++) {
			all += go_on(&h, &v[i]);
			least = v[i].done < least ? v[i].done : least;
		}
	}
	cr_expect_geq(least, EACH, "of %u, somebody has had %u", all, least);
	for (unsigned i = 0; i < CROWD; i++)
		(void)quoit_close(v[i].s, QUOIT_CLOSE_CANCEL);
	house_close(&h);
}

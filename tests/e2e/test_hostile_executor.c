/* SPDX-License-Identifier: MIT */
/* test_hostile_executor.c - a hostile quoit-exec harms only its own module's jobs */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include <quoit/stats.h>

#include "executor.h"
#include "process.h"

TestSuite(hostile_executor, .timeout = 60);

/* sqe.arg of tests/modules/hostile.c. */
enum { WELL, LEAVE_GROUP, STOP_SOON, RING_BELLS, SCRIBBLE };

static struct house open_house(const char *option)
{
	const char *build = getenv("QUOIT_BUILD");
	char module[PATH_MAX];
	const char *options[] = {module, "--log=error", option, NULL};
	struct house h = {0};
	int number;

	snprintf(module, sizeof module, "--module=%s/modules/hostile.so", build ? build : "build");
	cr_assert_eq(daemon_start(&h.d, options), 0);
	house_visit(&h, &h.s, &h.q);
	number = quoit_find_op(h.s, "turn");
	cr_assert_geq(number, QUOIT_OP_MODULE_FIRST);
	h.sleep = (uint8_t)number;
	return h;
}

static struct quoit_sqe turn(const struct house *h, int way, uint64_t milliseconds)
{
	return (struct quoit_sqe){
		.opcode = h->sleep, .arg = (uint8_t)way, .scalar = {milliseconds}};
}

/* quoitd goes on, and so does the module in a new process. */
static void expect_recovery(const struct house *h)
{
	quoit_tensor t = quoit_create_vector(h->q, QUOIT_F32, 64);
	int res = -1;

	cr_assert_eq(house_run(h->q, quoit_fill(t, 1.0)), 0);
	for (int i = 0; i < 100 && res; i++)
		res = house_run(h->q, turn(h, WELL, 0));
	cr_assert_eq(res, 0, "%s", quoit_strerror(res));
}

Test(hostile_executor, is_killed_also_outside_its_process_group)
{
	struct house h = open_house(NULL);

	house_submit(h.q, quoit_with_deadline(turn(&h, LEAVE_GROUP, 1000000), 100000), 1);
	cr_assert_eq(house_reap(h.q, NULL).res, -ETIME);
	expect_recovery(&h);
	cr_expect_geq(house_total(&h, QUOIT_DAEMON_EXECUTORS_DIED), 1);
	house_close(&h);
}

Test(hostile_executor, that_says_it_does_nothing_is_not_waited_for)
{
	struct house h = open_house("--module-ms=300");
	pid_t executor = house_executor(&h);

	cr_assert_eq(house_run(h.q, turn(&h, STOP_SOON, 0)), 0);
	/* no job meanwhile: one at which it stops is late, and ends with -ETIME */
	process_await_stop(executor);
	cr_assert_eq(house_run(h.q, turn(&h, WELL, 0)), -QUOIT_EEXEC);
	expect_recovery(&h);
	house_close(&h);
}

Test(hostile_executor, whose_bells_never_stop_does_not_keep_quoitd_from_its_work)
{
	struct house h = open_house(NULL);
	quoit_tensor t = quoit_create_vector(h.q, QUOIT_F32, 64);

	for (int i = 0; i < 4; i++)
		cr_assert_eq(house_run(h.q, turn(&h, RING_BELLS, 0)), 0);
	for (int i = 0; i < 1000; i++)
		cr_assert_eq(house_run(h.q, quoit_fill(t, i)), 0);
	cr_assert_eq(house_run(h.q, turn(&h, WELL, 0)), 0);
	house_close(&h);
}

Test(hostile_executor, that_scribbles_on_its_answers_is_ended_and_each_job_ends_once)
{
	struct house h = open_house("--module-ms=300");

	for (int round = 0; round < 5; round++) {
		for (unsigned i = 0; i < 50; i++)
			house_submit(h.q, turn(&h, i ? WELL : SCRIBBLE, 1), i);
		house_reap_each(h.q, 50);
		expect_recovery(&h);
	}
	house_close(&h);
}

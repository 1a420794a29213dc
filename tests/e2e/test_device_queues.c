/* SPDX-License-Identifier: MIT */
/* test_device_queues.c - jobs that wait for a device, and must not wait for ever */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>
#include <quoit/stats.h>

#include "clock.h"
#include "device.h"
#include "executor.h"
#include "process.h"

TestSuite(device_queues, .timeout = 60);

#define CROWD 600 /* more requests than two rings hold */

static int run(struct quoit_ring *q, struct quoit_sqe sqe)
{
	quoit_job job;
	int res;

	cr_assert_eq(quoit_start(q, sqe, &job), 0);
	cr_assert_eq(quoit_wait_n(q, &job, 1, 1, 20000), 1);
	res = quoit_get_result(q, job);
	quoit_detach(q, job);
	return res;
}

/* ---- a stopped executor ---- */

/* Free many buffers with bytes there while the executor is stopped. */
static pid_t drop_a_crowd(struct device_room *r)
{
	pid_t executor = room_executor(r, 0);
	static quoit_tensor crowd[CROWD];

	for (int i = 0; i < CROWD; i++) {
		crowd[i] = quoit_create_vector(r->d, QUOIT_F32, 1);
		quoit_push(r->d, quoit_fill(crowd[i], 1.0));
	}
	cr_assert_eq(quoit_wait_all(r->d, 20000), 0);
	cr_assert_eq(quoit_count_failures(r->d, NULL), 0);
	process_stop(executor);
	for (int i = 0; i < CROWD; i++)
		quoit_free(r->d, crowd[i]);
	cr_assert_eq(quoit_wait_all(r->d, 20000), 0);
	return executor;
}

Test(device_queues, more_freed_buffers_than_requests_fit_do_not_stop_them)
{
	struct device_room r = room_open("--gpu=soft", 64);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 10);

	cr_assert_eq(run(r.d, quoit_fill(x, 0.0)), 0);
	kill(drop_a_crowd(&r), SIGCONT);
	cr_expect_eq(run(r.d, quoit_fill(x, 1.0)), 0);
	room_close(&r);
}

Test(device_queues, an_executor_that_takes_nothing_is_ended)
{
	const char *options[] = {"--gpu=soft", "--log=error", "--gpu-ms=300", NULL};
	struct device_room r = room_open_with(options, 64);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 10);
	pid_t executor = drop_a_crowd(&r);

	cr_expect_eq(run(r.d, quoit_fill(x, 1.0)), 0, "by the next one");
	cr_expect_neq(room_executor(&r, executor), executor);
	room_close(&r);
}

/* The executor is idle and says so; a session that leaves waits for it at most a second. */
Test(device_queues, an_executor_that_does_nothing_and_does_not_answer_is_ended)
{
	struct device_room r = room_open("--gpu=soft", 64);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, 10);
	pid_t executor = room_executor(&r, 0);
	float got[10];

	cr_assert_eq(run(r.d, quoit_fill(x, 1.0)), 0);
	cr_assert_eq(quoit_read(r.d, x, got, sizeof got), 0); /* through the staging buffer */
	usleep(50000);                                        /* until the executor sleeps */
	process_stop(executor);
	cr_expect_eq(quoit_close(r.s, QUOIT_CLOSE_CANCEL), 0);
	cr_expect_neq(room_executor(&r, executor), executor);
	daemon_stop(&r.daemon);
}

/* ---- a client that dies ---- */

#define FLOOD    180 /* about what the launcher holds at a time */
#define RUNS_OUT 150 /* number of the operation that kills the device */
#define BEGUN    80 /* of the flood: more than is in streams when the executor hears of the death */

static _Noreturn void flood_and_wait(const char *socket, int ready)
{
	struct quoit_open_params p = {.socket = socket};
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor x, large;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (quoit_open(&p, &s) || quoit_open_ring(s, NULL, &q) || quoit_use_device(q, 1))
		_exit(1);
	x = quoit_create_vector(q, QUOIT_F32, 10);
	large = quoit_create_vector(q, QUOIT_F32, 3u << 20);
	quoit_push(q, quoit_normal(large, 1, 0)); /* while it runs, quoitd fetches all requests */
	quoit_push(q, quoit_with_link(quoit_fill(x, 0.0), 1));
	for (int i = 2; i < FLOOD; i++)
		quoit_push(q, quoit_add_scalar(x, x, 1.0));
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		(void)pause();
}

/* The device stops at the first job; the client dies; the device goes on. */
static void flood_and_die(const struct device_room *r)
{
	const struct house house = {.d = r->daemon};
	pid_t executor = room_executor(r, 0), child;
	int ready[2];
	char byte;

	cr_assert_eq(pipe(ready), 0);
	child = fork();
	if (!child)
		flood_and_wait(r->daemon.socket, ready[1]);
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	process_await_stop(executor);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	for (int i = 0; i < 10000 && !house_total(&house, QUOIT_DAEMON_CLIENTS_DIED); i++)
		usleep(1000);
	usleep(50000); /* until the executor knows of it, too */
	kill(executor, SIGCONT);
	close(ready[0]);
	close(ready[1]);
}

Test(device_queues, what_a_dead_clients_device_has_not_begun_does_not_run)
{
	struct device_room r;
	quoit_tensor x;
	int runs = 1;

	setenv("QUOIT_SOFT_FAULTS", "stop:1,die:150", 1);
	r = room_open("--gpu=soft", 64);
	flood_and_die(&r);
	x = quoit_create_vector(r.d, QUOIT_F32, 10);
	while (!run(r.d, quoit_fill(x, 0.0)))
		runs++;
	cr_expect_geq(runs, RUNS_OUT - BEGUN, "%d of %d were run", RUNS_OUT - runs, FLOOD);
	room_close(&r);
}

/* ---- jobs behind failed ones ---- */

/* The second job was sent before the first one failed, and computed with the values there. */
Test(device_queues, a_job_that_ran_on_poison_says_so_whatever_it_found)
{
	struct device_room r = room_open("--gpu=soft", 64);
	quoit_tensor table = quoit_create_vector(r.d, QUOIT_I32, 10),
		     bad = quoit_create_vector(r.d, QUOIT_I32, 2);
	quoit_tensor first = quoit_create_vector(r.d, QUOIT_I32, 2),
		     second = quoit_create_vector(r.d, QUOIT_I32, 2);
	const int32_t indices[2] = {100, 0};
	struct quoit_error error;
	quoit_job job[2];

	quoit_push(r.d, quoit_fill_int(table, 77));
	cr_assert_eq(quoit_write(r.d, bad, indices, sizeof indices), 0);
	quoit_push(r.d, quoit_normal(quoit_create_vector(r.d, QUOIT_F32, 1u << 20), 1, 0));
	cr_assert_eq(
		quoit_start(r.d, quoit_with_link(quoit_gather(first, table, bad, 3), 1), &job[0]),
		0);
	cr_assert_eq(quoit_start(r.d, quoit_gather(second, table, first, 3), &job[1]), 0);
	cr_assert_eq(quoit_wait_n(r.d, job, 2, 2, 20000), 2);
	cr_expect_eq(quoit_get_result(r.d, job[0]), -ERANGE);
	cr_expect_eq(quoit_get_result(r.d, job[1]), -QUOIT_EPOISON, "%d",
		     quoit_get_result(r.d, job[1]));
	cr_assert(quoit_get_job_error(r.d, job[1], &error));
	cr_expect_eq(error.value[0], 100, "found by the first one");
	room_close(&r);
}

#define CHAIN   2000
#define IN_VAIN 400 /* more than was in flight when the first one failed */

/* Each job depends on the one before, and is sent before that has ended. */
Test(device_queues, only_what_was_in_flight_runs_in_vain_behind_a_failure)
{
	struct device_room r = room_open("--gpu=soft", 64);
	quoit_tensor table = quoit_create_vector(r.d, QUOIT_I32, 10),
		     bad = quoit_create_vector(r.d, QUOIT_I32, 1);
	static quoit_tensor x[CHAIN + 1];
	const int32_t index = 100;
	uint64_t before;

	for (int i = 0; i <= CHAIN; i++)
		x[i] = quoit_create_vector(r.d, QUOIT_I32, 1);
	quoit_push(r.d, quoit_fill_int(table, 77));
	cr_assert_eq(quoit_write(r.d, bad, &index, sizeof index), 0);
	usleep(300000);
	before = room_count(&r, QUOIT_REACTOR_EXEC_REQUESTS);
	quoit_push(r.d, quoit_normal(quoit_create_vector(r.d, QUOIT_F32, 1u << 21), 1, 0));
	quoit_push(r.d, quoit_with_link(quoit_gather(x[0], table, bad, 3), 1));
	for (int i = 0; i < CHAIN; i++)
		quoit_push(r.d, quoit_add_scalar(x[i + 1], x[i], 1.0));
	cr_assert_eq(quoit_wait_all(r.d, 20000), 0);
	cr_expect_eq(quoit_count_failures(r.d, NULL), CHAIN + 1);
	usleep(300000); /* counters are published ten times a second */
	cr_expect_leq(room_count(&r, QUOIT_REACTOR_EXEC_REQUESTS) - before, IN_VAIN);
	room_close(&r);
}

#define READERS 40 /* more than one request can name */

Test(device_queues, a_job_behind_more_than_a_request_can_name_is_behind_all)
{
	struct device_room r = room_open("--gpu=soft", 64);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_I32, 10000), copy[2][READERS];
	static int32_t got[10000];

	for (int round = 0; round < 20; round++) {
		for (int k = 0; k < 2; k++) {
			quoit_push(r.d, quoit_fill_int(x, 2 * round + k));
			for (int i = 0; i < READERS; i++) {
				copy[k][i] = quoit_create_vector(r.d, QUOIT_I32, 10000);
				quoit_push(r.d, quoit_copy(copy[k][i], x));
			}
		}
		for (int k = 0; k < 2; k++)
			for (int i = 0; i < READERS; i++) {
				cr_assert_eq(quoit_read(r.d, copy[k][i], got, sizeof got), 0);
				cr_expect_eq(got[0], 2 * round + k);
				cr_expect_eq(got[9999], 2 * round + k);
				quoit_free(r.d, copy[k][i]);
			}
	}
	room_close(&r);
}

#define GPU_MS 1200 /* a machine may stand still for less than that */

/* The copy waits for all of them in a stream of its own. */
Test(device_queues, what_waits_for_long_work_is_not_taken_for_hung)
{
	const char *options[] = {"--gpu=soft", "--log=error", "--gpu-ms=1200", NULL};
	struct device_room r = room_open_with(options, 64);
	struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 10}};
	quoit_tensor large = quoit_create_vector(r.d, QUOIT_F32, 3u << 20);
	quoit_tensor there = quoit_create_vector(r.d, QUOIT_F32, 10), here;
	double begin, one;

	cr_assert_eq(quoit_use_device(r.d, 0), 0);
	here = quoit_create(r.d, &shape, QUOIT_CREATE_PINNED);
	cr_assert_eq(run(r.d, quoit_fill(there, 1.0)), 0);
	cr_assert_eq(run(r.d, quoit_normal(large, 1, 0)), 0);
	begin = clock_ms();
	cr_assert_eq(run(r.d, quoit_normal(large, 1, 0)), 0);
	one = clock_ms() - begin;
	for (uint64_t i = 0; (double)i * one < 3 * GPU_MS; i++)
		quoit_push(r.d, quoit_normal(large, i, 0));
	cr_expect_eq(run(r.d, quoit_with_link(quoit_copy(here, there), 1)), 0);
	cr_expect_eq(quoit_count_failures(r.d, NULL), 0);
	room_close(&r);
}

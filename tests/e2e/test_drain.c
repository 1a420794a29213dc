/* SPDX-License-Identifier: MIT */
/* test_drain.c - what happens to jobs when quoitd is told to end */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "executor.h"

#define MOST_JOBS 100
#define PATIENCE  6000 /* times 10 ms */

static struct house h;

static void prepare(const struct daemon *d)
{
	cr_assert_eq(daemon_log_to_file(d), 0);
}

/* Use the sample module: its sleep takes the same time on any machine. */
static void start(const char *drain, const char *option)
{
	const char *build = getenv("QUOIT_BUILD");
	char module[512];
	const char *options[] = {module, "--log=info", drain, option, NULL};

	snprintf(module, sizeof module, "--module=%s/modules/sample.so", build ? build : "build");
	h = (struct house){0};
	cr_assert_eq(daemon_start_prepared(&h.d, options, prepare), 0);
	house_visit(&h, &h.s, &h.q);
	h.sleep = quoit_find_op(h.s, "sample_sleep");
}

static void submit_naps(unsigned count, int64_t milliseconds)
{
	for (unsigned i = 0; i < count; i++)
		house_submit(h.q, house_nap(&h, 0, milliseconds, SLEEP_WELL), i);
}

static void wait_until_fetched(uint64_t count)
{
	struct quoit_info info;

	quoit_get_info(h.s, &info);
	for (int i = 0; i < PATIENCE; i++) {
		uint64_t n = daemon_session_counter(&h.d, info.session, QUOIT_SESSION_SUBMITTED);

		if (n != UINT64_MAX && n >= count)
			return;
		usleep(10000);
	}
	cr_assert_fail("they are not fetched");
}

static void ask_to_end(void)
{
	cr_assert_eq(kill(h.d.pid, SIGTERM), 0);
}

static void wait_until_it_ends(void)
{
	int status = -1;

	for (int i = 0; i < PATIENCE && waitpid(h.d.pid, &status, WNOHANG) != h.d.pid; i++)
		usleep(10000);
	cr_expect_eq(status, 0, "wait status %#x", (unsigned)status);
	if (status != -1)
		h.d.pid = -1;
}

/* Expect one CQE for each job, of naps in their order, and then the news that quoitd is gone. */
static void reap(unsigned jobs, unsigned *ret_done, unsigned *ret_cancelled)
{
	bool seen[MOST_JOBS] = {false};
	struct quoit_cqe cqe;

	*ret_done = *ret_cancelled = 0;
	for (unsigned i = 0; i < jobs; i++) {
		cqe = house_reap(h.q, NULL);
		cr_assert_lt(cqe.user_data, MOST_JOBS);
		cr_expect_not(seen[cqe.user_data], "twice");
		seen[cqe.user_data] = true;
		cr_expect(cqe.res == 0 || cqe.res == -ECANCELED, "%d", cqe.res);
		cr_expect(cqe.res || !*ret_cancelled, "one that is done behind one that is not");
		*ret_done += !cqe.res;
		*ret_cancelled += cqe.res != 0;
	}
	cr_expect_eq(quoit_wait_cqe(h.q, 60000), -ECONNRESET);
}

static void finish(void)
{
	(void)quoit_close(h.s, 0);
	daemon_stop(&h.d);
}

/* Case 75 of the threat model: ten seconds of work, and one second to end. */
Test(drain, what_is_not_done_by_the_deadline_is_cancelled)
{
	unsigned done, cancelled;
	char words[64];

	start("--drain-ms=1000", NULL);
	submit_naps(MOST_JOBS, 100);
	wait_until_fetched(MOST_JOBS);
	ask_to_end();
	reap(MOST_JOBS, &done, &cancelled);
	wait_until_it_ends();
	cr_expect_gt(done, 0);
	cr_expect_gt(cancelled, 0);
	cr_expect_eq(daemon_log_count(&h.d, "1 sessions were open when quoitd ended: ", 1), 1);
	snprintf(words, sizeof words, " finished, %u were cancelled", cancelled);
	cr_expect_eq(daemon_log_count(&h.d, words, 1), 1, "%s", words);
	finish();
}

Test(drain, what_is_fetched_ends_in_time_and_then_quoitd_does)
{
	unsigned done, cancelled;

	start("--drain-ms=3600000", NULL);
	submit_naps(10, 100);
	wait_until_fetched(10);
	ask_to_end();
	reap(10, &done, &cancelled);
	wait_until_it_ends();
	cr_expect_eq(done, 10);
	cr_expect_eq(daemon_log_count(&h.d, " finished, 0 were cancelled", 1), 1);
	finish();
}

Test(drain, no_time_is_no_drain)
{
	unsigned done, cancelled;

	start("--drain-ms=0", NULL);
	submit_naps(MOST_JOBS, 100);
	wait_until_fetched(MOST_JOBS);
	ask_to_end();
	reap(MOST_JOBS, &done, &cancelled);
	wait_until_it_ends();
	cr_expect_gt(cancelled, 50);
	finish();
}

Test(drain, asking_once_more_ends_it_at_once)
{
	struct quoit_open_params p = {.socket = h.d.socket};
	struct quoit_session *other;
	unsigned done, cancelled;

	start("--drain-ms=3600000", NULL);
	submit_naps(MOST_JOBS, 1000);
	wait_until_fetched(MOST_JOBS);
	ask_to_end();
	cr_assert_eq(daemon_log_count(&h.d, "Terminated: ending", 1), 1);
	for (int i = 0; i < PATIENCE && access(h.d.socket, F_OK) == 0; i++)
		usleep(10000);
	cr_expect_lt(quoit_open(&p, &other), 0, "nobody is taken any more");
	cr_expect_eq(waitpid(h.d.pid, NULL, WNOHANG), 0);
	ask_to_end();
	reap(MOST_JOBS, &done, &cancelled);
	cr_expect_gt(cancelled, 0);
	cr_expect_eq(daemon_log_count(&h.d, "Terminated: ending at once", 1), 1);
	wait_until_it_ends();
	finish();
}

/* Jobs beyond the limit in flight stay in the ring: quoitd has never fetched them. */
Test(drain, what_is_not_fetched_by_then_stays_so)
{
	const struct quoit_cqe *cqe;
	unsigned cqes = 0;

	start("--drain-ms=200", "--max-jobs=64");
	submit_naps(MOST_JOBS, 100);
	wait_until_fetched(64);
	ask_to_end();
	wait_until_it_ends();
	while (quoit_wait_cqe(h.q, 0) >= 0 && quoit_peek(h.q, &cqe) > 0) {
		cr_expect_eq(cqe->user_data, cqes);
		quoit_release(h.q, 1);
		cqes++;
	}
	cr_expect_geq(cqes, 64);
	cr_expect_lt(cqes, MOST_JOBS);
	cr_expect_eq(quoit_wait_cqe(h.q, 60000), -ECONNRESET);
	finish();
}

/* Jobs on cores, where a tile that has begun cannot be called back. */
Test(drain, tiles_are_cancelled_like_all_others)
{
	quoit_tensor t;
	unsigned done, cancelled;

	start("--drain-ms=100", NULL);
	t = quoit_create_vector(h.q, QUOIT_F32, 4u << 20);
	for (unsigned i = 0; i < MOST_JOBS; i++)
		house_submit(h.q, quoit_normal(t, i, 0), i);
	wait_until_fetched(MOST_JOBS);
	ask_to_end();
	reap(MOST_JOBS, &done, &cancelled);
	cr_expect_eq(done + cancelled, MOST_JOBS);
	wait_until_it_ends();
	finish();
}

Test(drain, a_client_that_dies_meanwhile_is_waited_for_no_longer)
{
	int ready[2];
	char byte;
	pid_t pid;

	start("--drain-ms=3600000", NULL);
	cr_assert_eq(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		house_visit(&h, &h.s, &h.q);
		submit_naps(MOST_JOBS, 1000);
		wait_until_fetched(MOST_JOBS);
		(void)!write(ready[1], "", 1);
		pause();
	}
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	ask_to_end();
	cr_expect_eq(quoit_wait_cqe(h.q, 60000), -ECONNRESET, "who has no jobs ends first");
	kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	wait_until_it_ends();
	finish();
}

/*
 * A copy of the socket stays open, like that of a client that was stopped after its last request.
 */
Test(drain, session_that_is_closed_while_its_connection_stays_holds_nobody_up)
{
	pid_t keeper;

	start("--drain-ms=1000", NULL);
	keeper = fork();
	if (!keeper) {
		pause();
		_exit(0);
	}
	cr_assert_eq(quoit_close(h.s, 0), 0);
	ask_to_end();
	wait_until_it_ends();
	cr_expect_eq(kill(keeper, SIGKILL), 0);
	waitpid(keeper, NULL, 0);
	daemon_stop(&h.d);
}

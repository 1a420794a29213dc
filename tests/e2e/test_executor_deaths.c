/* SPDX-License-Identifier: MIT */
/* test_executor_deaths.c - the deaths of a module's process, of its clients, and of its quoitd */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <quoit.h>
#include <quoit/stats.h>

#include "clock.h"
#include "executor.h"

TestSuite(executor_deaths, .timeout = 60);

/* ---- death ---- */

struct death {
	uint8_t how;
	int status; /* from waitpid */
};

static struct death deaths[] = {{SLEEP_LOOP, SIGKILL}, /* killed from outside */
				{SLEEP_CRASH, SIGSEGV},
				{SLEEP_EXIT, 7 << 8},
				/* killed by quoitd: it has hung up but stays */
				{SLEEP_DEAF, SIGKILL}};

ParameterizedTestParameters(executor_deaths, a_death_fails_the_job_and_the_next_one_runs)
{
	return cr_make_param_array(struct death, deaths, sizeof deaths / sizeof deaths[0]);
}

ParameterizedTest(struct death *death, executor_deaths, a_death_fails_the_job_and_the_next_one_runs,
		  .timeout = 60)
{
	struct house h = house_open(64);
	pid_t pid = house_executor_wait(&h, 0);
	struct quoit_error error = {0};
	float *out;
	quoit_tensor t = house_vector(h.s, h.q, 1, &out);

	house_submit(h.q, house_nap(&h, t, 20, death->how), 1);
	if (death->how == SLEEP_LOOP) {
		usleep(30000);
		cr_assert_eq(kill(pid, SIGKILL), 0);
	}
	cr_assert_eq(house_reap(h.q, &error).res, -QUOIT_EEXEC);
	cr_assert_eq(error.field, QUOIT_FIELD_EXECUTOR);
	cr_assert_eq(error.value[0], (uint64_t)pid);
	cr_assert_eq(error.value[1], (uint64_t)death->status, "status %#llx",
		     (unsigned long long)error.value[1]);

	house_submit(h.q, quoit_nop(t), 2); /* a reader of the output hears of the first cause */
	cr_assert_eq(house_reap(h.q, &error).res, -QUOIT_EPOISON);
	cr_assert_eq(error.cause, 1);
	cr_assert_eq(error.code, -QUOIT_EEXEC);

	cr_assert_eq(house_run(h.q, house_nap(&h, t, 1, SLEEP_WELL)), 0);
	cr_assert_float_eq(*out, 1.0f, 0.0f);
	cr_assert_neq(house_executor_wait(&h, pid), pid);
	cr_assert_eq(house_total(&h, QUOIT_DAEMON_EXECUTORS_DIED), 1);
	house_close(&h);
}

/* Kill the executor again and again, a few milliseconds after it came up. */
static pid_t start_killer(const struct house *h)
{
	pid_t killer = fork();

	if (killer == 0) {
		unsigned seed = 20;
		pid_t last = 0;

		for (;;) {
			pid_t pid = house_executor(h);

			usleep(1000 + (useconds_t)rand_r(&seed) % 100000);
			if (pid && pid != last && kill(pid, SIGKILL) == 0)
				last = pid;
		}
	}
	return killer;
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

#define JOBS 1000u

struct storm {
	struct house *h;
	quoit_tensor x, out[JOBS];
	float *xs, *outs[JOBS];
	unsigned ends[JOBS];
	int res[JOBS];
	unsigned submitted, ended;
};

static void submit_some(struct storm *m, struct quoit_ring *q)
{
	struct quoit_sqe *slot;

	while (m->submitted < JOBS && m->submitted - m->ended < 128 && (slot = quoit_get_sqe(q))) {
		unsigned i = m->submitted++;

		*slot = i % 2 ? house_nap(m->h, m->out[i], 1, SLEEP_WELL)
			      : house_axpy(m->h, m->out[i], (double)i, m->x, m->x);
		slot->user_data = i;
	}
	quoit_flush(q);
}

static void check_storm(const struct storm *m)
{
	unsigned good = 0;

	for (unsigned i = 0; i < JOBS; i++) {
		cr_assert_eq(m->ends[i], 1, "job %u has %u completions", i, m->ends[i]);
		cr_assert(m->res[i] == 0 || m->res[i] == -QUOIT_EEXEC, "job %u: %s", i,
			  quoit_strerror(m->res[i]));
		if (m->res[i])
			continue;
		good++;
		cr_assert_float_eq(*m->outs[i], i % 2 ? 1.0f : (float)(i + 1), 0.0f, "job %u is %g",
				   i, (double)*m->outs[i]);
	}
	cr_assert_gt(good, 0);
	cr_assert_lt(good, JOBS, "nobody was killed in flight");
}

Test(executor_deaths, a_thousand_jobs_each_end_once_however_it_is_killed)
{
	static struct storm m;
	struct house h = house_open(256);
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor calm;
	float *sum;
	unsigned calm_jobs = 0;
	pid_t killer;

	m.h = &h;
	m.x = house_vector(h.s, h.q, 1, &m.xs);
	*m.xs = 1.0f;
	for (unsigned i = 0; i < JOBS; i++) {
		m.out[i] = house_vector(h.s, h.q, 1, &m.outs[i]);
		if (i % 64 == 0) /* makes room for more */
			cr_assert_eq(house_run(h.q, quoit_nop(m.out[i])), 0);
	}
	house_visit(&h, &s, &q);
	calm = house_vector(s, q, 1, &sum);
	cr_assert_eq(house_run(q, quoit_fill(calm, 0.0)), 0);
	killer = start_killer(&h);
	while (m.ended < JOBS) {
		struct quoit_cqe cqe;

		submit_some(&m, h.q);
		cqe = house_reap(h.q, NULL);
		m.ends[cqe.user_data]++;
		m.res[cqe.user_data] = cqe.res;
		m.ended++;
		/* a session that needs no executor notices nothing */
		cr_assert_eq(house_run(q, quoit_add_scalar(calm, calm, 1.0)), 0);
		calm_jobs++;
	}
	end_process(killer);
	check_storm(&m);
	cr_assert_float_eq(*sum, (float)calm_jobs, 0.0f);
	cr_assert_eq(house_run(h.q, house_axpy(&h, m.out[0], 9.0, m.x, m.x)), 0, "after the storm");
	cr_assert_gt(house_total(&h, QUOIT_DAEMON_EXECUTORS_DIED), 0);
	quoit_close(s, 0);
	house_close(&h);
}

static bool descriptors_are(const struct house *h, uint64_t n)
{
	return house_descriptors(h) == n;
}

Test(executor_deaths, leaves_no_descriptor_behind_when_it_dies_or_a_session_ends)
{
	struct house h = house_open(64);
	pid_t pid = house_executor_wait(&h, 0);
	unsigned before;

	cr_assert_eq(house_run(h.q, house_nap(&h, 0, 0, SLEEP_WELL)), 0);
	before = house_descriptors(&h);
	for (int i = 0; i < 4; i++) {
		struct quoit_session *s;
		struct quoit_ring *q;

		house_visit(&h, &s, &q);
		cr_assert_eq(house_run(q, house_nap(&h, 0, 0, SLEEP_WELL)), 0);
		cr_assert_eq(house_run(q, house_nap(&h, 0, 0, SLEEP_EXIT)), -QUOIT_EEXEC);
		cr_assert_eq(house_run(q, house_nap(&h, 0, 0, SLEEP_WELL)), 0);
		quoit_close(s, 0);
		pid = house_executor_wait(&h, pid);
	}
	cr_assert(house_until(descriptors_are, &h, before), "%u descriptors, before %u",
		  house_descriptors(&h), before);
	house_close(&h);
}

/* A reader of the text gets all of the old one or all of the new one. */
Test(executor_deaths, replaces_the_topology_text_whole)
{
	struct house h = house_open(64);
	pid_t pid = house_executor_wait(&h, 0);
	char path[128], before[8192], after[8192];
	ssize_t size;
	int old;

	snprintf(path, sizeof path, "%s/%s", h.d.folder, QUOIT_STATS_TOPOLOGY);
	old = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(old, 0);
	size = pread(old, before, sizeof before, 0);
	cr_assert_gt(size, 0);
	cr_assert_eq(house_run(h.q, house_nap(&h, 0, 0, SLEEP_EXIT)), -QUOIT_EEXEC);
	cr_assert_eq(house_run(h.q, house_nap(&h, 0, 0, SLEEP_WELL)), 0);
	(void)house_executor_wait(&h, pid);
	cr_expect_eq(pread(old, after, sizeof after, 0), size);
	cr_expect(!memcmp(before, after, (size_t)size), "the old text has changed");
	close(old);
	house_close(&h);
}

static bool is_lost(const struct house *h, uint64_t unused)
{
	(void)unused;
	return house_says(h, "lost");
}

static bool lost_are(const struct house *h, uint64_t number)
{
	return house_total(h, QUOIT_DAEMON_MODULES_LOST) == number;
}

Test(executor_deaths, is_lost_after_five_deaths_without_a_job_done_and_its_jobs_fail)
{
	struct house h = house_open(64);
	struct quoit_error error = {0};
	quoit_tensor t = quoit_create_vector(h.q, QUOIT_F32, 1);

	for (int i = 0; i < 5; i++)
		cr_assert_eq(house_run(h.q, house_nap(&h, 0, 0, SLEEP_CRASH)), -QUOIT_EEXEC);
	cr_assert(house_until(is_lost, &h, 0));
	cr_expect(house_until(lost_are, &h, 1));
	cr_expect_eq(house_total(&h, QUOIT_DAEMON_MODULES), 1);
	house_submit(h.q, house_nap(&h, 0, 0, SLEEP_WELL), 3);
	cr_assert_eq(house_reap(h.q, &error).res, -ENODEV);
	cr_assert_eq(error.field, QUOIT_FIELD_EXECUTOR);
	cr_assert_eq(house_run(h.q, quoit_fill(t, 1.0)), 0);
	cr_expect(house_until(lost_are, &h, 0), "once it was tried again");
	cr_expect_eq(house_run(h.q, house_nap(&h, 0, 0, SLEEP_WELL)), 0);
	house_close(&h);
}

/* ---- deadlines ---- */

Test(executor_deaths, a_deadline_ends_a_job_that_hangs_and_what_is_behind_it_by_name)
{
	struct house h = house_open(64);

	house_submit(h.q, quoit_with_deadline(house_nap(&h, 0, 0, SLEEP_LOOP), 100000), 1);
	house_submit(h.q, house_nap(&h, 0, 0, SLEEP_WELL), 2);
	for (int i = 0; i < 2; i++) {
		struct quoit_cqe cqe = house_reap(h.q, NULL);

		cr_assert_eq(cqe.res, cqe.user_data == 1 ? -ETIME : -QUOIT_EEXEC, "job %d: %s",
			     (int)cqe.user_data, quoit_strerror(cqe.res));
	}
	cr_assert_eq(house_run(h.q, house_nap(&h, 0, 0, SLEEP_WELL)), 0);
	house_close(&h);
}

Test(executor_deaths, a_deadline_of_a_job_that_has_not_begun_harms_nobody_else)
{
	struct house h = house_open(64);

	house_submit(h.q, house_nap(&h, 0, 300, SLEEP_WELL), 1);
	house_submit(h.q, quoit_with_deadline(house_nap(&h, 0, 0, SLEEP_WELL), 20000), 2);
	for (int i = 0; i < 2; i++) {
		struct quoit_cqe cqe = house_reap(h.q, NULL);

		cr_assert_eq(cqe.user_data, i ? 1 : 2);
		cr_assert_eq(cqe.res, i ? 0 : -ETIME);
	}
	cr_assert_eq(house_run(h.q, house_nap(&h, 0, 0, SLEEP_WELL)), 0);
	cr_assert_eq(house_total(&h, QUOIT_DAEMON_EXECUTORS_DIED), 0);
	house_close(&h);
}

/* Its client may have set no deadline, or a late one, and may never end. */
Test(executor_deaths, a_job_that_hangs_ends_when_the_modules_jobs_have_to)
{
	const char *build = getenv("QUOIT_BUILD");
	char option[512];
	const char *options[] = {option, "--module-ms=100", "--log=error", NULL};
	struct house h = {0};
	struct quoit_session *s;
	struct quoit_ring *q;
	int res;

	snprintf(option, sizeof option, "--module=%s/modules/sample.so", build ? build : "build");
	cr_assert_eq(daemon_start(&h.d, options), 0);
	house_visit(&h, &h.s, &h.q);
	h.sleep = quoit_find_op(h.s, "sample_sleep");
	house_visit(&h, &s, &q);
	house_submit(h.q, house_nap(&h, 0, 0, SLEEP_LOOP), 1);
	usleep(20000);
	res = house_run(q, house_nap(&h, 0, 0, SLEEP_WELL)); /* usually behind that job */
	cr_assert(res == 0 || res == -QUOIT_EEXEC);
	cr_assert_eq(house_reap(h.q, NULL).res, -ETIME);
	house_submit(h.q, quoit_with_deadline(house_nap(&h, 0, 0, SLEEP_LOOP), 1000000000), 2);
	cr_assert_eq(house_reap(h.q, NULL).res, -ETIME);
	cr_assert_eq(house_run(q, house_nap(&h, 0, 1, SLEEP_WELL)), 0);
	quoit_close(s, 0);
	house_close(&h);
}

/* ---- clients and daemons that end ---- */

static bool sessions_are(const struct house *h, uint64_t n)
{
	return house_sessions(h) == n;
}

Test(executor_deaths, does_not_hang_in_a_dead_clients_job)
{
	struct house h = house_open(64);
	pid_t child = fork();
	int res;

	if (child == 0) {
		struct quoit_session *s;
		struct quoit_ring *q;

		house_visit(&h, &s, &q);
		house_submit(q, house_nap(&h, 0, 0, SLEEP_LOOP), 1);
		usleep(50000);
		_exit(0);
	}
	(void)waitpid(child, NULL, 0);
	res = house_run(h.q, house_nap(&h, 0, 0, SLEEP_WELL)); /* usually behind that job */
	cr_assert(res == 0 || res == -QUOIT_EEXEC);
	cr_assert(house_until(sessions_are, &h, 1));
	cr_assert_eq(house_run(h.q, house_nap(&h, 0, 0, SLEEP_WELL)), 0);
	house_close(&h);
}

Test(executor_deaths, a_session_closes_while_another_ones_job_hangs)
{
	struct house h = house_open(64);
	struct quoit_session *s;
	struct quoit_ring *q;
	uint64_t died;
	double begun;

	house_visit(&h, &s, &q);
	cr_assert_eq(house_run(q, house_nap(&h, 0, 0, SLEEP_WELL)), 0);
	begun = clock_ms();
	house_submit(h.q, quoit_with_deadline(house_nap(&h, 0, 0, SLEEP_LOOP), 2500000), 1);
	usleep(20000);
	cr_assert_eq(quoit_close(s, 0), 0);
	died = house_total(&h, QUOIT_DAEMON_EXECUTORS_DIED);
	cr_expect(died == 0 || clock_ms() - begun >= 2500, "it hangs until its deadline");
	cr_assert_eq(house_reap(h.q, NULL).res, -ETIME);
	house_close(&h);
}

static bool is_gone(const struct house *h, uint64_t pid)
{
	(void)h;
	return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

static int oom_score(pid_t pid)
{
	char path[64];
	int score = -1001;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
	f = fopen(path, "re");
	cr_assert(f && fscanf(f, "%d", &score) == 1);
	fclose(f);
	return score;
}

/* Case 32 of the threat model: a module that leaks; tests/vm/guest/memory.sh does it. */
Test(executor_deaths, goes_before_its_daemon_where_memory_is_out)
{
	struct house h = house_open(64);
	int least = oom_score(h.d.pid) + 500;

	cr_expect_geq(oom_score(house_executor_wait(&h, 0)), least < 1000 ? least : 1000);
	house_close(&h);
}

Test(executor_deaths, dies_with_its_daemon)
{
	struct house h = house_open(64);
	pid_t pid = house_executor_wait(&h, 0);

	house_submit(h.q, house_nap(&h, 0, 0, SLEEP_LOOP), 1);
	usleep(20000);
	daemon_kill(&h.d);
	cr_assert(house_until(is_gone, &h, (uint64_t)pid));
	house_close(&h);
}

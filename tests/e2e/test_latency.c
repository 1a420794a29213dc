/* SPDX-License-Identifier: MIT */
/* test_latency.c - compare a session's latency file with this test's own clock and counts */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>
#include <quoit/sample.h>
#include <quoit/stats.h>

#include "client.h"
#include "executor.h"
#include "rounds.h"
#include "tool.h"

#define MS       1000 /* for usleep */
#define PATIENCE 500  /* times 10 ms */

static struct quoit_session_latency file;

static void read_file(const struct house *h)
{
	struct quoit_info info;
	char path[256], name[48];
	int fd;

	quoit_get_info(h->s, &info);
	snprintf(name, sizeof name, QUOIT_STATS_LATENCY, (unsigned long long)info.session);
	snprintf(path, sizeof path, "%s/%s", h->d.folder, name);
	fd = open(path, O_RDONLY);
	cr_assert_geq(fd, 0, "%s", path);
	cr_assert_eq(read(fd, &file, sizeof file), (ssize_t)sizeof file);
	close(fd);
}

static uint64_t jobs_of(unsigned phase)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < QUOIT_LATENCY_BUCKETS; i++)
		all += file.count[phase][i];
	return all;
}

/* Wait until the phase stands for this many jobs, apart from those behind the last sample. */
static bool becomes(const struct house *h, unsigned phase, uint64_t jobs)
{
	for (int i = 0; i < PATIENCE; i++) {
		read_file(h);
		if (jobs_of(phase) <= jobs && jobs_of(phase) + QUOIT_SAMPLE_EVERY > jobs)
			return true;
		usleep(10 * MS);
	}
	return false;
}

/* Wait until a job was timed in this phase. */
static bool begins(const struct house *h, unsigned phase)
{
	for (int i = 0; i < PATIENCE; i++) {
		read_file(h);
		if (jobs_of(phase))
			return true;
		usleep(10 * MS);
	}
	return false;
}

/* The begin, in seconds, of the bucket with a phase's shortest time; or with its longest. */
static double least_of(unsigned phase)
{
	for (unsigned i = 0; i < QUOIT_LATENCY_BUCKETS; i++)
		if (file.count[phase][i])
			return (double)quoit_latency_least(i) / (double)file.header.tsc_hz;
	return -1;
}

static double most_of(unsigned phase)
{
	for (unsigned i = QUOIT_LATENCY_BUCKETS; i-- > 0;)
		if (file.count[phase][i])
			return (double)quoit_latency_least(i) / (double)file.header.tsc_hz;
	return -1;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_nops(const struct house *h, unsigned count)
{
	struct quoit_sqe nop = quoit_nop(QUOIT_NO_TENSOR);

	for (unsigned i = 0; i < count; i++)
		cr_assert_eq(house_run(h->q, nop), 0);
}

/* One job every 2 us, so that no sample follows the one before too soon. */
static void run_slowly(const struct house *h, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		double next = now() + 2e-6;

		run_nops(h, 1);
		while (now() < next)
			;
	}
}

/* ---- samples ---- */

Test(latency, one_of_each_64_stands_for_all)
{
	const unsigned count = 20 * QUOIT_SAMPLE_EVERY;
	static const unsigned phases[] = {QUOIT_PHASE_SUBMIT, QUOIT_PHASE_DATA, QUOIT_PHASE_MEMORY,
					  QUOIT_PHASE_TURN,   QUOIT_PHASE_RUN,  QUOIT_PHASE_POST,
					  QUOIT_PHASE_WHOLE,  QUOIT_PHASE_REAP};
	struct house h = house_open(64);

	run_slowly(&h, count);
	for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++)
		cr_expect(becomes(&h, phases[i], count), "%s: %llu", file.label[phases[i]],
			  (unsigned long long)jobs_of(phases[i]));
	house_close(&h);
}

/* As many in flight as the ring allows. */
static void run_fast(const struct house *h, unsigned count)
{
	const struct quoit_cqe *cqe;
	unsigned sent = 0, done = 0;

	while (done < count) {
		struct quoit_sqe *sqe;
		int n;

		for (; sent < count && sent - done < 128 && (sqe = quoit_get_sqe(h->q)); sent++)
			*sqe = quoit_nop(QUOIT_NO_TENSOR);
		cr_assert_eq(quoit_flush(h->q), 0);
		n = quoit_peek(h->q, &cqe);
		cr_assert_geq(n, 0);
		quoit_release(h->q, (unsigned)n);
		done += (unsigned)n;
	}
}

/* Then only few jobs are noted, and quoitd looks at all of these. */
Test(latency, samples_stand_for_all_however_fast_jobs_come)
{
	const unsigned fast = 1000000, slow = 60 * QUOIT_SAMPLE_EVERY;
	struct house h = house_open(256);

	run_fast(&h, fast);
	usleep(300 * MS);
	read_file(&h);
	cr_expect_leq(jobs_of(QUOIT_PHASE_RUN), fast);
	cr_expect_gt(jobs_of(QUOIT_PHASE_RUN),
		     fast - 2 * (QUOIT_SAMPLE_EVERY << QUOIT_SAMPLE_RAREST));
	cr_expect_gt(jobs_of(QUOIT_PHASE_SUBMIT), fast / 10 * 8);
	cr_expect_gt(jobs_of(QUOIT_PHASE_REAP), fast / 10 * 5);
	run_slowly(&h, slow);
	cr_expect(becomes(&h, QUOIT_PHASE_RUN, fast + slow), "as often as before: %llu",
		  (unsigned long long)jobs_of(QUOIT_PHASE_RUN));
	house_close(&h);
}

Test(latency, operations_are_counted_each)
{
	struct house h = house_open(64);
	quoit_tensor t = quoit_create_vector(h.q, QUOIT_F32, 16);

	cr_assert_eq(house_run(h.q, quoit_fill(t, 1)), 0);
	for (int i = 0; i < 100; i++)
		cr_assert_eq(house_run(h.q, quoit_add_scalar(t, t, 1)), 0);
	cr_assert_neq(house_run(h.q, quoit_add_scalar(t, QUOIT_NO_TENSOR, 1)), 0);
	read_file(&h);
	cr_expect_eq(file.operation[QUOIT_OP_CREATE].jobs, 1);
	cr_expect_eq(file.operation[QUOIT_OP_FILL].jobs, 1);
	cr_expect_eq(file.operation[QUOIT_OP_ADD].jobs, 101);
	cr_expect_eq(file.operation[QUOIT_OP_NOP].jobs, 0);
	house_close(&h);
}

/* ---- times ---- */

Test(latency, a_job_behind_another_waited_for_its_data_as_long_as_that_ran)
{
	struct house h = house_open(8);
	quoit_tensor t = quoit_create_vector(h.q, QUOIT_F32, 16);
	double from, ended, both;

	from = now();
	*quoit_get_sqe(h.q) = house_nap(&h, t, 600, SLEEP_WELL);
	*quoit_get_sqe(h.q) = house_nap(&h, t, 10, SLEEP_WELL);
	cr_assert_eq(quoit_flush(h.q), 0);
	cr_expect_eq(house_reap(h.q, NULL).res, 0);
	ended = now();
	cr_expect_eq(house_reap(h.q, NULL).res, 0);
	both = now();
	for (int i = 0; i < PATIENCE && jobs_of(QUOIT_PHASE_RUN) != 2; i++, usleep(10 * MS))
		read_file(&h);
	cr_assert_eq(jobs_of(QUOIT_PHASE_RUN), 2);
	cr_expect_eq(jobs_of(QUOIT_PHASE_DATA), 2);
	cr_expect_geq(most_of(QUOIT_PHASE_DATA), 0.98 * 0.6);
	cr_expect_leq(most_of(QUOIT_PHASE_DATA), ended - from);
	cr_expect_geq(most_of(QUOIT_PHASE_RUN), 0.98 * 0.6);
	cr_expect_leq(most_of(QUOIT_PHASE_RUN), both - from);
	cr_expect_geq(most_of(QUOIT_PHASE_WHOLE), 0.98 * 0.61);
	house_close(&h);
}

Test(latency, results_that_nobody_looks_at_wait_to_be_reaped)
{
	struct house h = house_open(256);
	struct quoit_sqe nop = quoit_nop(QUOIT_NO_TENSOR);
	const struct quoit_cqe *cqe;

	for (int i = 0; i < 128; i++)
		*quoit_get_sqe(h.q) = nop;
	cr_assert_eq(quoit_flush(h.q), 0);
	for (int i = 0; i < PATIENCE && quoit_peek(h.q, &cqe) < 128; i++)
		usleep(10 * MS);
	usleep(300 * MS);
	for (int i = 0; i < 128; i++)
		(void)house_reap(h.q, NULL);
	cr_assert(begins(&h, QUOIT_PHASE_REAP));
	cr_expect_geq(least_of(QUOIT_PHASE_REAP), 0.98 * 0.3);
	house_close(&h);
}

/* ---- waits ---- */

static void wait_here(struct client *c, quoit_tensor t, const char *here)
{
	client_busy(c, t, 20); /* so that there is something to wait for */
	cr_assert_eq(quoit_wait_all_at(c->q, QUOIT_FOREVER, here), 0);
}

Test(latency, waits_are_told_by_their_place_in_the_program)
{
	struct client c;
	quoit_tensor t;
	char said[8192];
	bool told = false;

	client_open(&c, NULL, NULL);
	t = client_large(&c);
	for (int i = 0; i < 5; i++)
		wait_here(&c, t, "some/folder/often.c:7");
	wait_here(&c, t, "once.c:8");
	for (int i = 0; i < PATIENCE && !told; i++) {
		cr_assert_eq(tool_run(said, sizeof said, "top --batch -n1 --session=1 --socket=%s",
				      c.d.socket),
			     0);
		told = strstr(said, "once.c:8");
		usleep(10 * MS);
	}
	cr_expect(strstr(said, "\noften.c:7                              5 "), "%s", said);
	cr_expect(strstr(said, "\nonce.c:8                               1 "), "%s", said);
	client_close(&c);
}

/* ---- the files ---- */

static void leave_files(const struct daemon *d)
{
	static const char *const formats[] = {QUOIT_STATS_SESSION, QUOIT_STATS_LATENCY};

	char path[256];

	snprintf(path, sizeof path, "%s/" QUOIT_STATS_PRIVATE, d->folder);
	cr_assert_eq(mkdir(path, 0755), 0);
	snprintf(path, sizeof path, "%s/" QUOIT_STATS_SESSIONS, d->folder);
	cr_assert_eq(mkdir(path, 0755), 0);
	for (int i = 0; i < 2; i++) {
		char name[48];

		snprintf(name, sizeof name, formats[i], 77ull);
		snprintf(path, sizeof path, "%s/%s", d->folder, name);
		close(open(path, O_WRONLY | O_CREAT, 0400));
	}
}

Test(latency, what_a_quoitd_that_was_killed_has_left_is_removed)
{
	char said[256];
	struct daemon d;

	cr_assert_eq(daemon_start_prepared(&d, NULL, leave_files), 0);
	snprintf(said, sizeof said, "%s/private/sessions/session.77", d.folder);
	cr_expect_neq(access(said, F_OK), 0);
	snprintf(said, sizeof said, "%s/private/sessions/latency.77", d.folder);
	cr_expect_neq(access(said, F_OK), 0);
	daemon_stop(&d);
}

Test(latency, the_file_goes_with_its_session)
{
	struct house h = house_open(8);
	char path[256];

	snprintf(path, sizeof path, "%s/private/sessions/latency.1", h.d.folder);
	cr_expect_eq(access(path, F_OK), 0);
	quoit_close(h.s, 0);
	for (int i = 0; i < PATIENCE && access(path, F_OK) == 0; i++)
		usleep(10 * MS);
	cr_expect_neq(access(path, F_OK), 0);
	daemon_stop(&h.d);
}

/* ---- a session's limit ---- */

/* What a client of the limit's tests does again and again, and with what. */
struct habit {
	struct house h;
	quoit_tensor a, b, c[200];
};

/* Wait until `quoit ps` names this limit of the session, which does the same all the time. */
static void expect_limit(const struct house *h, const char *limit)
{
	char said[256];

	for (int i = 0; i < 10 * PATIENCE; i++, usleep(10 * MS)) {
		cr_expect_eq(tool_run(said, sizeof said, "ps --socket=%s -o limit=", h->d.socket),
			     0);
		said[strcspn(said, "\n")] = '\0';
		if (!strcmp(said, limit))
			return;
	}
	cr_expect_str_eq(said, limit);
}

static void reap_all(const struct house *h, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		cr_assert_eq(house_reap(h->q, NULL).res, 0);
}

/* A client that does nothing but this is limited by that. */
static void expect_limit_of(void (*round)(void *habit), uint32_t entries, const char *limit)
{
	struct habit habit = {.h = house_open(entries)};
	struct rounds rounds;

	habit.a = quoit_create_vector(habit.h.q, QUOIT_F32, 16);
	rounds_begin(&rounds, round, &habit);
	expect_limit(&habit.h, limit);
	rounds_end(&rounds);
	house_close(&habit.h);
}

static void think(void *arg)
{
	struct habit *habit = arg;

	cr_assert_eq(house_run(habit->h.q, quoit_nop(QUOIT_NO_TENSOR)), 0);
	usleep(40 * MS);
}

Test(latency, a_client_that_thinks_between_jobs_limits_itself, .timeout = 120)
{
	expect_limit_of(think, 8, "client");
}

static void chain(void *arg)
{
	struct habit *habit = arg;

	for (unsigned i = 0; i < 30; i++)
		house_submit(habit->h.q, house_nap(&habit->h, habit->a, 30, SLEEP_WELL), i);
	reap_all(&habit->h, 30);
}

Test(latency, a_chain_waits_for_data, .timeout = 120)
{
	expect_limit_of(chain, 64, "data");
}

static void want_much(void *arg)
{
	struct habit *habit = arg;
	struct quoit_info info;
	uint32_t much;

	quoit_get_info(habit->h.s, &info);
	much = (uint32_t)(info.host_bytes / 3 * 2 / sizeof(float));
	for (unsigned i = 0; i < 12; i++) {
		quoit_tensor t = quoit_create_vector(habit->h.q, QUOIT_F32, much);

		house_submit(habit->h.q, house_nap(&habit->h, t, 100, SLEEP_WELL), i);
		cr_assert_eq(quoit_free(habit->h.q, t), 0);
	}
	reap_all(&habit->h, 12);
}

Test(latency, jobs_beyond_the_lease_wait_for_memory, .timeout = 120)
{
	expect_limit_of(want_much, 64, "memory");
}

static void multiply(void *arg)
{
	struct habit *habit = arg;

	for (unsigned i = 0; i < 200; i++)
		house_submit(habit->h.q, quoit_gemm(habit->c[i], habit->a, habit->b, 0, 1, 0), i);
	reap_all(&habit->h, 200);
}

Test(latency, many_long_jobs_wait_for_their_turn, .timeout = 120)
{
	struct habit habit = {.h = house_open(1024)};
	struct quoit_ring *q = habit.h.q;
	struct rounds rounds;
	char said[8192];

	habit.a = quoit_create_matrix(q, QUOIT_F32, 64, 10000);
	habit.b = quoit_create_matrix(q, QUOIT_F32, 10000, 64);
	house_submit(q, quoit_fill(habit.a, 1), 0);
	house_submit(q, quoit_fill(habit.b, 1), 0);
	for (unsigned i = 0; i < 200; i++) {
		habit.c[i] = quoit_create_matrix(q, QUOIT_F32, 64, 64);
		house_submit(q, quoit_fill(habit.c[i], 1), i); /* so that it has its bytes */
	}
	reap_all(&habit.h, 202);
	rounds_begin(&rounds, multiply, &habit);
	expect_limit(&habit.h, "turn");
	cr_expect_eq(tool_run(said, sizeof said, "top --batch -n1 --session=1 --socket=%s",
			      habit.h.d.socket),
		     0);
	rounds_end(&rounds);
	cr_expect(strstr(said, "Limited by cores or devices: jobs wait"), "%s", said);
	cr_expect(strstr(said, "of what ran, gemm took"), "%s", said);
	house_close(&habit.h);
}

static void run_long(void *arg)
{
	struct habit *habit = arg;

	cr_assert_eq(house_run(habit->h.q, house_nap(&habit->h, QUOIT_NO_TENSOR, 200, SLEEP_WELL)),
		     0);
}

Test(latency, one_long_job_at_a_time_is_limited_by_how_long_it_runs, .timeout = 120)
{
	expect_limit_of(run_long, 8, "run");
}

/* SPDX-License-Identifier: MIT */
/*
 * test_figures.c - compare what the tools say about jobs, time and memory with counts that are not
 * Quoit's
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <jansson.h>
#include <quoit.h>

#include "client.h"
#include "executor.h"
#include "tool.h"

TestSuite(figures, .timeout = 120);

#define MS         1000 /* for usleep */
#define PATIENCE   1000 /* times 10 ms */
#define SAID_BYTES (64u << 10)

static double seconds(clockid_t clock)
{
	struct timespec t;

	cr_assert_eq(clock_gettime(clock, &t), 0);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The only session in `quoit ps --json` with these additional options; the caller frees it. */
static json_t *ps(const struct daemon *d, const char *options)
{
	static char said[SAID_BYTES];
	json_t *json, *one;

	cr_assert_eq(tool_run(said, sizeof said, "ps --json --socket=%s %s", d->socket, options), 0,
		     "%s", said);
	json = json_loads(said, 0, NULL);
	cr_assert_not_null(json, "%s", said);
	cr_assert_eq(json_array_size(json_object_get(json, "sessions")), 1, "%s", said);
	one = json_incref(json_array_get(json_object_get(json, "sessions"), 0));
	json_decref(json);
	return one;
}

static double figure(const json_t *session, const char *key)
{
	const json_t *value = json_object_get(session, key);

	if (!value)
		value = json_object_get(json_object_get(session, "counters"), key);
	cr_assert(json_is_number(value), "%s", key);
	return json_number_value(value);
}

/* ---- jobs ---- */

#define JOBS 5000

struct ended {
	uint64_t done, failed;
};

/* Run jobs; one in seven names a tensor that does not exist. */
static struct ended run_jobs(struct quoit_ring *q)
{
	struct ended e = {0};

	for (uint64_t i = 0; i < JOBS; i++) {
		house_submit(q, i % 7 ? quoit_nop(QUOIT_NO_TENSOR) : quoit_fill(12345, 1), i);
		if (house_reap(q, NULL).res < 0)
			e.failed++;
		else
			e.done++;
	}
	return e;
}

static uint64_t jobs_of_reactors(const struct quoit_totals *t)
{
	uint64_t jobs = 0;

	for (uint32_t i = 0; i < t->header.reactors; i++)
		jobs += t->reactor[i].value[QUOIT_REACTOR_JOBS];
	return jobs;
}

/* Jobs a second since the start, by `quoit stat`, times the time since then. */
static void expect_rate(const struct daemon *d, const struct quoit_totals *t, double jobs)
{
	double started = (double)t->header.started_ns / 1e9, rate;
	double before = seconds(CLOCK_BOOTTIME) - started, after;
	char said[4096];
	json_t *json;

	cr_assert_eq(tool_run(said, sizeof said, "stat --json --socket=%s", d->socket), 0);
	after = seconds(CLOCK_BOOTTIME) - started;
	json = json_loads(said, 0, NULL);
	cr_assert_not_null(json, "%s", said);
	rate = json_number_value(json_object_get(json, "jobs_per_second"));
	cr_expect_leq(rate * before, jobs * 1.000001, "%g for %g s", rate, before);
	cr_expect_geq(rate * after, jobs * 0.999999, "%g for %g s", rate, after);
	json_decref(json);
}

Test(figures, jobs_are_as_many_as_the_client_has_counted)
{
	const struct quoit_ring_params raw = {.flags = QUOIT_RING_RAW, .entries = 64};
	const struct quoit_totals *totals;
	struct client c;
	struct ended e;
	json_t *one;

	client_open(&c, NULL, &raw);
	totals = daemon_totals(&c.d);
	cr_assert_not_null(totals);
	e = run_jobs(c.q);
	for (int i = 0; i < PATIENCE && jobs_of_reactors(totals) < JOBS; i++)
		usleep(10 * MS);
	cr_expect_eq(jobs_of_reactors(totals), JOBS);
	one = ps(&c.d, "");
	cr_expect_eq(figure(one, "submitted"), JOBS);
	cr_expect_eq(figure(one, "done"), (double)e.done);
	cr_expect_eq(figure(one, "failed"), (double)e.failed);
	cr_expect_eq(figure(one, "refused"), (double)e.failed);
	cr_expect_eq(figure(one, "jobs_done") + figure(one, "jobs_failed"), JOBS);
	expect_rate(&c.d, totals, JOBS);
	json_decref(one);
	daemon_totals_unmap(totals);
	client_close(&c);
}

/* ---- time ---- */

static void sum_for_long(struct client *c)
{
	cr_assert_eq(quoit_push(c->q, client_giant(c)), 0);
	cr_assert_eq(quoit_wait_all(c->q, QUOIT_FOREVER), 0);
}

static double core_seconds(const struct client *c, double hz)
{
	json_t *one = ps(&c->d, "");
	double value = figure(one, "core_ticks") / hz;

	json_decref(one);
	return value;
}

/* The kernel's count for quoitd; its other threads have almost nothing to do. */
Test(figures, a_session_is_charged_for_the_cpu_time_of_its_jobs)
{
	const struct quoit_totals *totals;
	double charged, kernel, hz;
	clockid_t clock;
	struct client c;

	client_open(&c, NULL, NULL);
	cr_assert_eq(clock_getcpuclockid(c.d.pid, &clock), 0);
	totals = daemon_totals(&c.d);
	cr_assert_not_null(totals);
	hz = (double)totals->header.tsc_hz;
	sum_for_long(&c); /* the first one maps memory */
	usleep(300 * MS);
	charged = core_seconds(&c, hz);
	kernel = seconds(clock);
	for (int i = 0; i < 3; i++)
		sum_for_long(&c);
	kernel = seconds(clock) - kernel;
	usleep(300 * MS); /* until the counters are published */
	charged = core_seconds(&c, hz) - charged;
	cr_expect_geq(charged, 0.98 * kernel, "%g s of %g", charged, kernel);
	cr_expect_leq(charged, 1.02 * kernel, "%g s of %g", charged, kernel);
	daemon_totals_unmap(totals);
	client_close(&c);
}

struct flood {
	struct quoit_ring *q;
	_Atomic bool *stop;
	bool broken;
	pthread_t thread;
};

/* Jobs so short that the reactor runs them itself. */
static void *flood_with_short_jobs(void *arg)
{
	struct flood *f = arg;
	quoit_tensor t = quoit_create_vector(f->q, QUOIT_F32, 4096);

	while (!*f->stop && !f->broken) {
		for (int i = 0; i < 128; i++)
			f->broken |= quoit_push(f->q, quoit_add_scalar(t, t, 1)) < 0;
		f->broken |= quoit_wait_all(f->q, QUOIT_FOREVER) < 0;
	}
	return NULL;
}

static void *flood_with_long_jobs(void *arg)
{
	struct flood *f = arg;
	quoit_tensor t = quoit_create_vector(f->q, QUOIT_F32, 1u << 20);

	while (!*f->stop && !f->broken) {
		for (unsigned i = 0; i < 8; i++)
			f->broken |= quoit_push(f->q, quoit_normal(t, i, 0)) < 0;
		f->broken |= quoit_wait_all(f->q, QUOIT_FOREVER) < 0;
	}
	return NULL;
}

static void start_flood(struct flood *f, struct quoit_session *s, void *(*run)(void *),
			_Atomic bool *stop)
{
	*f = (struct flood){.stop = stop};
	cr_assert_eq(quoit_open_ring(s, NULL, &f->q), 0);
	cr_assert_eq(pthread_create(&f->thread, NULL, run, f), 0);
}

static void end_flood(struct flood *f)
{
	pthread_join(f->thread, NULL);
	cr_expect_not(f->broken);
}

/* The work that a core reports, read right after the report; and the time of the report. */
struct word {
	double busy, tiles, seconds;
};

/* early: `seconds` is not later than the report; else it is not earlier. */
static struct word next_word(const struct quoit_totals *t, bool early)
{
	const uint64_t *of = t->reactor[0].value;
	const uint64_t seen = __atomic_load_n(&of[QUOIT_REACTOR_HEARTBEAT], __ATOMIC_RELAXED);
	double hz = (double)t->header.tsc_hz;
	struct word w = {.seconds = seconds(CLOCK_MONOTONIC)};
	bool same = true;

	while (same) {
		double now = seconds(CLOCK_MONOTONIC);

		same = __atomic_load_n(&of[QUOIT_REACTOR_HEARTBEAT], __ATOMIC_RELAXED) == seen;
		if (same)
			w.seconds = now;
		usleep(MS); /* then all of the report is there */
	}
	if (!early)
		w.seconds = seconds(CLOCK_MONOTONIC);
	w.tiles = (double)t->core[0].value[QUOIT_CORE_TILE_TICKS] / hz;
	w.busy = w.tiles +
		 (double)(of[QUOIT_REACTOR_WORK_TICKS] + of[QUOIT_REACTOR_POLL_TICKS]) / hz;
	return w;
}

/* `--cpus=` with the first CPU that we may use. */
static const char *first_cpu(void)
{
	static char option[32];
	cpu_set_t set;
	int cpu = 0;

	cr_assert_eq(sched_getaffinity(0, sizeof set, &set), 0);
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	snprintf(option, sizeof option, "--cpus=%d", cpu);
	return option;
}

/* A reactor takes its core from tiles again and again; this time is charged once. */
Test(figures, a_core_is_not_busy_for_longer_than_it_is_there)
{
	const char *const options[] = {first_cpu(), "--reactors=1", NULL};
	const struct quoit_totals *totals;
	struct flood shorts, longs;
	struct quoit_session *other;
	_Atomic bool stop = false;
	struct word from, to;
	struct client c;

	client_open(&c, options, NULL);
	totals = daemon_totals(&c.d);
	cr_assert_not_null(totals);
	cr_assert_eq(totals->header.cores, 1);
	other = client_session(&c, UINT64_C(1) << 20);
	start_flood(&shorts, other, flood_with_short_jobs, &stop);
	start_flood(&longs, c.s, flood_with_long_jobs, &stop);
	from = next_word(totals, true);
	usleep(2000 * MS);
	to = next_word(totals, false);
	stop = true;
	end_flood(&shorts);
	end_flood(&longs);
	cr_expect_gt(to.tiles, from.tiles);
	cr_expect_leq(to.busy - from.busy, 1.02 * (to.seconds - from.seconds),
		      "%g s in %g, %g of them in tiles", to.busy - from.busy,
		      to.seconds - from.seconds, to.tiles - from.tiles);
	quoit_close(other, 0);
	daemon_totals_unmap(totals);
	client_close(&c);
}

/* ---- memory ---- */

#define TOUCHED ((size_t)24 << 20)

/* A client with a session and some memory that does nothing more. */
static pid_t start_client(const struct daemon *d)
{
	struct quoit_open_params p = {.socket = d->socket};
	struct quoit_session *s;
	struct quoit_ring *q;
	int ready[2];
	char byte;
	pid_t pid;

	cr_assert_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		void *memory = malloc(TOUCHED);

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!memory || quoit_open(&p, &s) < 0 || quoit_open_ring(s, NULL, &q) < 0)
			_exit(1);
		memset(memory, 7, TOUCHED);
		if (write(ready[1], memory, 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	close(ready[1]);
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

struct smaps {
	double resident, share; /* bytes */
	double mappings;
};

static struct smaps read_smaps(pid_t pid)
{
	struct smaps all = {0};
	char path[32], line[512];
	unsigned long kib;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
	file = fopen(path, "re");
	cr_assert_not_null(file);
	while (fgets(line, sizeof line, file)) {
		if (sscanf(line, "Rss: %lu", &kib) == 1) {
			all.resident += (double)kib * 1024;
			all.mappings++;
		}
		if (sscanf(line, "Pss: %lu", &kib) == 1)
			all.share += (double)kib * 1024;
	}
	fclose(file);
	return all;
}

static void expect_bytes(const char *what, double said, double counted, double most)
{
	cr_expect_geq(said, counted - most, "%s: %.0f, not %.0f", what, said, counted);
	cr_expect_leq(said, counted + most, "%s: %.0f, not %.0f", what, said, counted);
}

/* The last line of `numastat -p`, in MB with two digits: a node's figure is below its title. */
static void expect_nodes(pid_t pid, const json_t *nodes, double most)
{
	char line[4096], command[64], *rest = NULL;
	int node[64], count = 0, seen = 0;
	FILE *from;

	snprintf(command, sizeof command, "numastat -p %d", (int)pid);
	from = popen(command, "r");
	cr_assert_not_null(from);
	while (fgets(line, sizeof line, from)) {
		for (char *at = line; (at = strstr(at, "Node ")) && count < 64; at += 5)
			count += sscanf(at, "Node %d", &node[count]) == 1;
		if (strncmp(line, "Total", 5) != 0)
			continue;
		(void)strtok_r(line, " \n", &rest);
		for (; seen < count; seen++) {
			const char *word = strtok_r(NULL, " \n", &rest);
			char key[16];

			snprintf(key, sizeof key, "%d", node[seen]);
			cr_assert_not_null(word);
			expect_bytes("a node's", json_number_value(json_object_get(nodes, key)),
				     strtod(word, NULL) * 1048576, most + 0.005 * 1048576);
		}
	}
	cr_expect_eq(pclose(from), 0);
	cr_expect_gt(count, 0);
	cr_expect_eq(seen, count);
}

Test(figures, memory_is_what_proc_has_within_a_page_of_each_mapping)
{
	struct smaps before, after;
	struct daemon d;
	double most;
	json_t *one;
	pid_t pid;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	pid = start_client(&d);
	before = read_smaps(pid);
	one = ps(&d, "-o pss,nodes");
	after = read_smaps(pid);
	most = after.mappings * (double)sysconf(_SC_PAGESIZE);
	cr_expect_eq(before.resident, after.resident);
	expect_bytes("rss", figure(one, "rss_bytes"), after.resident, most);
	expect_bytes("pss", figure(one, "pss_bytes"), after.share, most);
	cr_expect_lt(most, (double)TOUCHED / 8);
	expect_nodes(pid, json_object_get(one, "node_bytes"), most);
	json_decref(one);
	kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	daemon_stop(&d);
}

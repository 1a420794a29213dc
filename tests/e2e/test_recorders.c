/* SPDX-License-Identifier: MIT */
/* test_recorders.c - recorders of all sessions take a limited part of the control thread's time */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>

#include "client.h"
#include "recorder.h"

#define RECORDERS 400u
#define SESSIONS  100u /* there is room for the traces of about ten */
#define LEASE     (UINT64_C(1) << 20)
#define SPAN_S    3.0
#define PAUSE_US  2000

/*
 * As in daemon/control/rests.c: recorders rest four times as long as they look, and may save up
 * rest for as long as one look takes.
 */
#define LOOKS_PART 0.2
#define SAVED_S    0.02

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* CPU time of quoitd's control thread, its first thread. */
static double control_s(const struct daemon *d)
{
	unsigned long user = 0, system = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)d->pid, (int)d->pid);
	f = fopen(path, "re");
	cr_assert(f);
	cr_assert_eq(fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
			    &user, &system),
		     2);
	fclose(f);
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

/* The control thread's work while recorders came and went. */
struct span {
	double s, control_s;
	unsigned recorders;
};

/* Recorders ask for this many records, and do not wait for the answer. */
static struct span come_and_go(const struct daemon *d, int *recorder, uint32_t records)
{
	const double begun = now(), control = control_s(d);
	struct span span = {0};

	for (; span.s < SPAN_S; span.s = now() - begun, span.recorders++) {
		int *next = &recorder[span.recorders % RECORDERS];

		close(*next);
		*next = recorder_connect(d);
		recorder_send(*next, 0, records);
		usleep(PAUSE_US);
	}
	span.control_s = control_s(d) - control;
	return span;
}

/*
 * There is no room for the traces of all sessions.  So each recorder looks at all sessions when it
 * comes, and all recorders do when one with a trace goes.  The control thread spends at most a
 * fifth of the time on that, by its own CPU time; other programs on the machine make it less.
 */
Test(recorders, a_crowd_of_them_takes_a_fifth_of_the_control_thread, .timeout = 120)
{
	static const char *const options[] = {"--uid-connections=1024", "--memory=8G",
					      "--uid-memory=8G", NULL};
	const struct rlimit files = {4096, 4096};
	static struct quoit_session *s[SESSIONS];
	static int recorder[RECORDERS];
	struct span refused, taken;
	struct client c;
	double looks;

#ifdef QUOIT_SANITIZE
	cr_skip_test("what is not charged takes several times as long with a sanitizer");
#endif
	(void)setrlimit(RLIMIT_NOFILE, &files);
	client_open(&c, options, NULL);
	for (unsigned i = 0; i < SESSIONS; i++)
		s[i] = client_session(&c, LEASE);
	for (unsigned i = 0; i < RECORDERS; i++)
		recorder[i] = recorder_connect(&c.d);
	refused = come_and_go(&c.d, recorder, 1);
	taken = come_and_go(&c.d, recorder, QUOIT_TRACE_MOST);
	looks = taken.control_s - refused.control_s / refused.recorders * taken.recorders;
	cr_expect_gt(looks, 0.1 * LOOKS_PART * taken.s, "nothing was tried");
	cr_expect_leq(looks, 1.5 * LOOKS_PART * taken.s + SAVED_S, "%.3f s of %.3f", looks,
		      taken.s);
	for (unsigned i = 0; i < RECORDERS; i++)
		close(recorder[i]);
	for (unsigned i = 0; i < SESSIONS; i++)
		quoit_close(s[i], 0);
	client_close(&c);
}

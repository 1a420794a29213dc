/* SPDX-License-Identifier: MIT */
/* test_recorders.c - what recorders of all sessions may take of the control thread */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>

#include "client.h"
#include "recorder.h"

#define RECORDERS 400u
#define SESSIONS  100u /* there is room for the traces of some ten */
#define LEASE     (UINT64_C(1) << 20)
#define SPAN_S    3.0
#define PAUSE_US  2000

/* As daemon/control/rests.c: they rest four times as long as they look, and that is saved up for as
 * long as a look may take. */
#define LOOKS_PART 0.2
#define SAVED_S    0.02

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* CPU time of quoitd's control thread, which is its first. */
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

/* What the control thread did while recorders came and went. */
struct span {
	double s, control_s;
	unsigned recorders;
};

static struct quoit_session *sessions[SESSIONS];
static int recorders[RECORDERS];

/* Those with one session each go soon, since there is room for the traces of a few. */
#define AT_A_TIME 4u

/* Of which sessions they ask for records. */
enum ask { ALL, ONE_EACH };

/* They ask for so many records and do not wait for the answer. */
static struct span come_and_go(const struct daemon *d, enum ask ask, uint32_t records)
{
	const double begun = now(), control = control_s(d);
	struct span span = {0};

	for (; span.s < SPAN_S; span.s = now() - begun, span.recorders++) {
		int *next = &recorders[span.recorders % (ask == ALL ? RECORDERS : AT_A_TIME)];
		struct quoit_session *s = sessions[span.recorders % SESSIONS];

		close(*next);
		*next = recorder_connect(d);
		recorder_send(*next, ask == ALL ? 0 : recorder_number(s), records);
		usleep(PAUSE_US);
	}
	span.control_s = control_s(d) - control;
	return span;
}

/* The control thread works for recorders a fifth of the time and no more, by its own CPU time: what
 * other programs take of the machine makes it less.
 */
static void expect_a_fifth(enum ask ask)
{
	static const char *const options[] = {"--uid-connections=1024", "--memory=8G",
					      "--uid-memory=8G", NULL};
	const struct rlimit files = {4096, 4096};
	struct span refused, taken;
	struct client c;
	double looks;

#ifdef QUOIT_SANITIZE
	cr_skip_test("what is not charged takes several times as long with a sanitizer");
#endif
	(void)setrlimit(RLIMIT_NOFILE, &files);
	client_open(&c, options, NULL);
	for (unsigned i = 0; i < SESSIONS; i++)
		sessions[i] = client_session(&c, LEASE);
	for (unsigned i = 0; i < RECORDERS; i++)
		recorders[i] = recorder_connect(&c.d);
	refused = come_and_go(&c.d, ask, 1);
	taken = come_and_go(&c.d, ask, QUOIT_TRACE_MOST);
	looks = taken.control_s - refused.control_s / refused.recorders * taken.recorders;
	cr_expect_gt(looks, 0.1 * LOOKS_PART * taken.s, "nothing was tried");
	cr_expect_leq(looks, 1.5 * LOOKS_PART * taken.s + SAVED_S, "%.3f s of %.3f", looks,
		      taken.s);
	for (unsigned i = 0; i < RECORDERS; i++)
		close(recorders[i]);
	for (unsigned i = 0; i < SESSIONS; i++)
		quoit_close(sessions[i], 0);
	client_close(&c);
}

/* There is no room for the traces of all sessions, so each recorder looks at all of them when it
 * comes, and all recorders do when one that has a trace goes. */
Test(recorders, a_crowd_of_them_takes_a_fifth_of_the_control_thread, .timeout = 120)
{
	expect_a_fifth(ALL);
}

Test(recorders, a_crowd_with_one_session_each_takes_no_more, .timeout = 120)
{
	expect_a_fifth(ONE_EACH);
}

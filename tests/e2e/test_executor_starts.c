/* SPDX-License-Identifier: MIT */
/* test_executor_starts.c - a device's process that does not come up again, or does not end */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <quoit/stats.h>

#include "device.h"

TestSuite(executor_starts, .timeout = 60);

/* ---- a folder with quoitd and a false quoit-exec ---- */

static char build[PATH_MAX / 4], folder[PATH_MAX / 2];

static const char *path_of(const char *where, const char *name)
{
	static char path[2][PATH_MAX];
	static unsigned turn;

	turn = !turn;
	snprintf(path[turn], sizeof path[turn], "%s/%s", where, name);
	return path[turn];
}

static void put_true_one(void)
{
	(void)unlink(path_of(folder, "quoit-exec"));
	cr_assert_eq(link(path_of(build, "quoit-exec"), path_of(folder, "quoit-exec")), 0);
}

static void put_text(const char *text)
{
	FILE *f = fopen(path_of(folder, "new"), "w");

	cr_assert_not_null(f);
	fputs(text, f);
	cr_assert_eq(fclose(f), 0);
	cr_assert_eq(chmod(path_of(folder, "new"), 0755), 0);
	cr_assert_eq(rename(path_of(folder, "new"), path_of(folder, "quoit-exec")), 0);
}

static void make_folder(void)
{
	const char *given = getenv("QUOIT_BUILD");

	snprintf(build, sizeof build, "%s", given ? given : "build");
	snprintf(folder, sizeof folder, "%s/starts.XXXXXX", build);
	cr_assert_not_null(mkdtemp(folder));
	cr_assert_eq(link(path_of(build, "quoitd"), path_of(folder, "quoitd")), 0);
	put_true_one();
	setenv("QUOIT_BUILD", folder, 1);
}

static void remove_folder(void)
{
	(void)unlink(path_of(folder, "quoit-exec"));
	(void)unlink(path_of(folder, "quoitd"));
	(void)rmdir(folder);
}

/* ---- the device's state ---- */

static int fill(struct device_room *r)
{
	quoit_tensor x = quoit_create_vector(r->d, QUOIT_F32, 10);
	int res = room_run(r->d, quoit_fill(x, 1.0), NULL);

	quoit_free(r->d, x);
	return res;
}

/* Within the 20 s of room_run; jobs that were in flight when it died do not count. */
static int fill_when_settled(struct device_room *r)
{
	int res = -QUOIT_EGPUFAULT;

	for (int i = 0; i < 20 && res == -QUOIT_EGPUFAULT; i++)
		res = fill(r);
	return res;
}

static void expect_lost(struct device_room *r, const char *why)
{
	quoit_tensor here = quoit_create_vector(r->q, QUOIT_F32, 10);
	quoit_tensor there = quoit_create_vector(r->d, QUOIT_F32, 10);
	struct quoit_device_desc d;
	struct quoit_error error;
	char words[160];

	cr_expect_eq(fill_when_settled(r), -ENODEV);
	cr_expect_eq(room_run(r->d, quoit_fill(there, 1.0), &error), -ENODEV);
	cr_expect_eq(error.field, QUOIT_FIELD_EXECUTOR);
	cr_expect_eq(error.value[0], 0);
	cr_expect_eq(error.value[1], 1, "device %llu", (unsigned long long)error.value[1]);
	snprintf(words, sizeof words, "lost: %s", why);
	cr_expect(room_topology_says(r, words), "no \"%s\"", words);
	cr_assert_eq(quoit_query_device(r->s, 1, &d), 0);
	cr_expect(d.lost);
	cr_expect(strstr(quoit_open_text(), why), "\"%s\", not \"%s\"", quoit_open_text(), why);
	cr_expect_eq(room_run(r->q, quoit_fill(here, 1.0), NULL), 0, "cores go on");
}

/* ---- it does not come up ---- */

struct start {
	char text[40]; /* a script in place of quoit-exec */
	char why[60];
};

static struct start starts[] = {
	{"no program", "cannot start quoit-exec: Exec format error"},
	{"#!/bin/sh\nexit 3\n", "quoit-exec"},
	{"#!/bin/sh\nexec sleep 1000\n", "quoit-exec was ended: it was not up in time"},
};

ParameterizedTestParameters(executor_starts, a_device_that_does_not_come_up_again_is_lost)
{
	return cr_make_param_array(struct start, starts, sizeof starts / sizeof starts[0]);
}

ParameterizedTest(struct start *start, executor_starts,
		  a_device_that_does_not_come_up_again_is_lost)
{
	const char *options[] = {"--gpu=soft", "--log=error", "--start-ms=1000", NULL};
	struct device_room r;

	make_folder();
	r = room_open_with(options, 0);
	cr_assert_eq(fill(&r), 0);
	put_text(start->text);
	kill(room_executor(&r, 0), SIGKILL);
	expect_lost(&r, start->why);
	room_close(&r);
	remove_folder();
}

/* quoitd tries again after ten seconds, and then again. */
Test(executor_starts, a_lost_device_is_lost_until_it_is_up)
{
	const char *options[] = {"--gpu=soft", "--log=error", "--start-ms=1000", NULL};
	char text[8192], *device;
	struct device_room r;
	int res = -ENODEV;

	make_folder();
	r = room_open_with(options, 0);
	put_text("#!/bin/sh\nexit 3\n");
	kill(room_executor(&r, 0), SIGKILL);
	expect_lost(&r, "quoit-exec");
	put_true_one();
	while (res == -ENODEV) {
		daemon_topology(&r.daemon, text, sizeof text);
		device = strstr(text, "device 1: soft:0");
		cr_assert(!device || !strstr(device, "being started"), "%s", text);
		usleep(2000);
		res = fill(&r);
	}
	cr_expect_eq(res, 0, "%s", quoit_strerror(res));
	cr_expect(room_topology_says(&r, ", pid "));
	room_close(&r);
	remove_folder();
}

/* ---- it does not end ---- */

/*
 * Clock ticks of processor time that a thread of quoitd of this name has had; 0: it has another
 * name.
 */
static unsigned long ticks_of(const char *path, const char *name)
{
	unsigned long user = 0, system = 0;
	char text[512] = "";
	FILE *f = fopen(path, "re");

	if (!f)
		return 0;
	if (fgets(text, sizeof text, f) && strstr(text, name))
		cr_assert_eq(sscanf(strrchr(text, ')') + 1,
				    " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
				    &system),
			     2);
	fclose(f);
	return user + system;
}

static double thread_seconds(const struct device_room *r, const char *name)
{
	unsigned long ticks = 0;
	char pattern[64];
	glob_t found;

	snprintf(pattern, sizeof pattern, "/proc/%d/task/*/stat", (int)r->daemon.pid);
	cr_assert_eq(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		ticks += ticks_of(found.gl_pathv[i], name);
	globfree(&found);
	return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

/* Keep a process from ending, as a driver could: a tracer can do that. */
static void hold(pid_t pid)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACEEXIT) < 0)
		cr_skip_test("a process cannot be traced here: %s", strerror(errno));
}

static void let_go(pid_t pid)
{
	int status;

	cr_assert_eq(waitpid(pid, &status, __WALL), pid);
	cr_assert_eq(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
}

Test(executor_starts, a_device_whose_process_does_not_go_is_lost_until_it_has_gone)
{
	const char *options[] = {"--gpu=soft", "--log=error", "--gpu-ms=200", "--start-ms=1500",
				 NULL};
	struct device_room r;
	pid_t pid;
	int res;

	setenv("QUOIT_SOFT_FAULTS", "hang:2", 1);
	r = room_open_with(options, 0);
	pid = room_executor(&r, 0);
	hold(pid);
	cr_assert_eq(fill(&r), 0);
	cr_expect_eq(fill(&r), -ETIME);
	expect_lost(
		&r,
		"quoit-exec was ended: a job took longer than allowed, but its process does not go");
	cr_expect_lt(thread_seconds(&r, "quoit-executors"), 0.15);
	cr_expect_eq(kill(pid, 0), 0);
	let_go(pid);
	while ((res = fill(&r)) == -ENODEV)
		usleep(2000);
	cr_expect_eq(res, 0);
	cr_expect_neq(room_executor(&r, pid), pid);
	room_close(&r);
}

Test(executor_starts, quoitd_ends_without_a_process_that_does_not_go)
{
	const char *options[] = {"--gpu=soft", "--log=error", "--gpu-ms=200", "--start-ms=300",
				 NULL};
	struct device_room r;
	pid_t pid;

	setenv("QUOIT_SOFT_FAULTS", "hang:1", 1);
	r = room_open_with(options, 0);
	pid = room_executor(&r, 0);
	hold(pid);
	cr_expect_eq(fill(&r), -ETIME);
	room_close(&r);
	let_go(pid);
}

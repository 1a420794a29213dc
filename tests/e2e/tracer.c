/* SPDX-License-Identifier: MIT */
/* tracer.c - run bpftrace and read what it has seen */
#include "tracer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tool.h"

#define TICK     100000 /* us */
#define PATIENCE 300    /* ticks, since it compiles its program first */
#define TELL     20     /* ticks */
#define SETTLE   300000 /* us; bpftrace reads its buffers more often than that */
#define PROGRAM  8192

/* The first and the last of its probes: when both have fired, all probes are attached. */
#define READY "usdt:%s:quoit:submit /pid == %d/ { printf(\"ready %d\\n\") }\n"

struct probe {
	const char *name;
	bool ours;
	const char *args; /* 's': signed, 32 bits; 'u': unsigned */
};

static const struct probe probes[] = {
	{"fetch", false, "uuuu"}, {"refuse", false, "uuuusu"}, {"start", false, "uuuuuu"},
	{"end", false, "uuuuus"}, {"post", false, "uuuu"},     {"wake", false, "uuu"},
	{"submit", true, "uuuu"}, {"wake", true, "uuu"},       {"reap", true, "uuuu"},
};

/* ---- its program ---- */

static int add_probe(char *to, size_t size, const struct probe *p, const char *path, pid_t pid)
{
	int n = snprintf(to, size, "usdt:%s:quoit:%s /pid == %d/ { printf(\"event %s %d %%lld",
			 path, p->name, (int)pid, p->name, p->ours);

	for (const char *a = p->args; *a; a++)
		n += snprintf(to + n, size - (size_t)n, " %%lld");
	n += snprintf(to + n, size - (size_t)n, "\\n\", nsecs");
	for (const char *a = p->args; *a; a++)
		n += snprintf(to + n, size - (size_t)n, ", (%s)arg%d",
			      *a == 's' ? "int32" : "uint64", (int)(a - p->args));
	return n + snprintf(to + n, size - (size_t)n, ") }\n");
}

static void write_program(char *to, size_t size, const struct daemon *d)
{
	char quoitd[PATH_MAX + 16], self[PATH_MAX];
	size_t n;

	cr_assert(realpath(tool_folder(), quoitd));
	strcat(quoitd, "/quoitd");
	cr_assert(realpath("/proc/self/exe", self));
	n = (size_t)snprintf(to, size, READY, self, (int)getpid(), 1);
	for (unsigned i = 0; i < sizeof probes / sizeof probes[0]; i++) {
		const struct probe *p = &probes[i];

		n += (size_t)add_probe(to + n, size - n, p, p->ours ? self : quoitd,
				       p->ours ? getpid() : d->pid);
		cr_assert_lt(n, size);
	}
	cr_assert_lt(n + (size_t)snprintf(to + n, size - n, READY, self, (int)getpid(), 2), size);
}

/* ---- the process ---- */

/* Its output goes into the file. */
static pid_t run(const char *said, const char *program)
{
	pid_t pid = fork();

	if (pid == 0) {
		int fd = open(said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)dup2(fd, STDOUT_FILENO);
		(void)dup2(fd, STDERR_FILENO);
		execlp("bpftrace", "bpftrace", "-B", "none", "-e", program, NULL);
		_exit(127);
	}
	cr_assert_gt(pid, 0);
	return pid;
}

static const char *read_all(const char *path, char *to, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(to, 1, size - 1, f) : 0;

	if (f)
		fclose(f);
	to[n] = '\0';
	return to;
}

/*
 * Wait for its end.  False: it did not end by itself, and was killed.  `signal` tells it to end (0:
 * it knows); it is sent more than once, since bpftrace was seen to ignore the first.
 */
static bool await_end(pid_t pid, int signal, int *ret_status)
{
	for (int i = 0; i < PATIENCE; i++) {
		if (i % TELL == 0)
			(void)kill(pid, signal);
		if (waitpid(pid, ret_status, WNOHANG) == pid)
			return true;
		usleep(TICK);
	}
	kill(pid, SIGKILL);
	waitpid(pid, ret_status, 0);
	return false;
}

/*
 * Skip the test if bpftrace does not work here: it needs privileges, a kernel that it knows, and to
 * be installed.
 */
static void skip_without_bpftrace(const char *said)
{
	pid_t pid = run(said, "BEGIN { exit() }");
	char why[2048];
	int status;

	if (!await_end(pid, 0, &status))
		cr_skip_test("bpftrace does not come to its end here");
	if (!WIFEXITED(status) || WEXITSTATUS(status) == 127)
		cr_skip_test("no bpftrace here");
	if (WEXITSTATUS(status))
		cr_skip_test("bpftrace does not work here: %.200s",
			     read_all(said, why, sizeof why));
}

/* ---- attaching ---- */

/* One test at a time: Criterion runs tests in parallel, and all belong to this program. */
static void take_turn(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	cr_assert_eq(flock(fd, LOCK_EX), 0); /* held until the test ends */
}

/* Fire our probes in a session of its own until both have been seen. */
static void await_ready(const struct tracer *t)
{
	char text[65536];

	for (int i = 0; i < PATIENCE; i++) {
		read_all(t->said, text, sizeof text);
		cr_assert_eq(waitpid(t->pid, NULL, WNOHANG), 0, "bpftrace has ended: %s", text);
		if (strstr(text, "ready 1\n") && strstr(text, "ready 2\n"))
			return;
		cr_assert_eq(quoit_wait_all(t->ring, -1), 0);
		usleep(TICK);
	}
	cr_assert(false, "bpftrace has not attached: %s", text);
}

void tracer_start(struct tracer *t, const struct daemon *d)
{
	struct quoit_open_params p = {.socket = d->socket};
	char program[PROGRAM];

	t->count = 0;
	snprintf(t->said, sizeof t->said, "%s/bpftrace", d->folder);
	take_turn();
	skip_without_bpftrace(t->said);
	write_program(program, sizeof program, d);
	cr_assert_eq(quoit_open(&p, &t->session), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(t->session, NULL, &t->ring), 0);
	t->pid = run(t->said, program);
	await_ready(t);
}

/* ---- events ---- */

static bool read_event(const char *line, struct tracer_event *ret)
{
	int ours, at = 0;

	*ret = (struct tracer_event){.ours = false};
	if (sscanf(line, "event %7s %d %" SCNd64 "%n", ret->name, &ours, &ret->time_ns, &at) != 3)
		return false;
	ret->ours = ours;
	line += at;
	for (unsigned i = 0; i < TRACER_ARGS && *line == ' '; i++) {
		char *end;

		ret->arg[i] = strtoll(line, &end, 10);
		line = end;
	}
	return true;
}

static int by_time(const void *a, const void *b)
{
	int64_t x = ((const struct tracer_event *)a)->time_ns;
	int64_t y = ((const struct tracer_event *)b)->time_ns;

	return (x > y) - (x < y);
}

/* bpftrace gets events processor by processor: all of them are there a while after the last. */
static void detach(struct tracer *t)
{
	char why[2048];
	int status;

	usleep(SETTLE);
	cr_assert(await_end(t->pid, SIGINT, &status) && WIFEXITED(status) && !WEXITSTATUS(status),
		  "%s", read_all(t->said, why, sizeof why));
	cr_assert_eq(quoit_close(t->session, 0), 0);
}

void tracer_stop(struct tracer *t, uint64_t session)
{
	char line[512];
	FILE *f;

	detach(t);
	f = fopen(t->said, "re");
	cr_assert(f);
	while (fgets(line, sizeof line, f)) {
		struct tracer_event *e = &t->event[t->count];

		cr_assert_null(strstr(line, "Lost "), "%s", line);
		cr_assert_lt(t->count, TRACER_EVENTS);
		t->count += read_event(line, e) && (uint64_t)e->arg[0] == session;
	}
	fclose(f);
	unlink(t->said);
	/* a thread that moved to another processor has its events in two of bpftrace's buffers */
	qsort(t->event, t->count, sizeof t->event[0], by_time);
}

const struct tracer_event *tracer_next(const struct tracer *t, const char *name, bool ours,
				       unsigned *from)
{
	while (*from < t->count) {
		const struct tracer_event *e = &t->event[(*from)++];

		if (e->ours == ours && !strcmp(e->name, name))
			return e;
	}
	return NULL;
}

unsigned tracer_count(const struct tracer *t, const char *name, bool ours)
{
	unsigned from = 0, n = 0;

	while (tracer_next(t, name, ours, &from))
		n++;
	return n;
}

int64_t tracer_sum(const struct tracer *t, const char *name, bool ours, unsigned arg)
{
	const struct tracer_event *e;
	unsigned from = 0;
	int64_t sum = 0;

	while ((e = tracer_next(t, name, ours, &from)))
		sum += e->arg[arg];
	return sum;
}

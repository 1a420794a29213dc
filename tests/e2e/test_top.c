/* SPDX-License-Identifier: MIT */
/* test_top.c - quoit top: sessions that come and go while it looks, and when it ends */
#include <pty.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>

#include "daemon.h"
#include "tool.h"

TestSuite(top, .timeout = 60);

/* readings, ten a second; after these, top no longer waits for the time before it began */
#define LONG_AGO 35

#define READINGS_MOST 300

static struct quoit_session *open_named(const struct daemon *d, const char *name)
{
	struct quoit_open_params p = {.socket = d->socket, .name = name};
	struct quoit_session *s = NULL;

	cr_assert_eq(quoit_open(&p, &s), 0, "%s", quoit_open_text());
	return s;
}

/* A `quoit top` at ten readings a second, and its last output. */
struct top {
	FILE *from;
	unsigned readings;
	char said[4096];
};

/* Read one output, which ends with an empty line behind its table. */
static void read_one(struct top *t)
{
	size_t used = 0;
	bool table = false;

	cr_assert_lt(t->readings++, READINGS_MOST);
	for (;;) {
		char *line = t->said + used;

		cr_assert(fgets(line, (int)(sizeof t->said - used), t->from));
		if (table && *line == '\n')
			return;
		table |= strncmp(line, "SESSION", 7) == 0;
		used += strlen(line);
	}
}

static void read_until(struct top *t, const char *words, bool there)
{
	do
		read_one(t);
	while ((strstr(t->said, words) != NULL) != there);
}

static void begin_top_after(struct top *t, const struct daemon *d, const char *command)
{
	char line[512];

	snprintf(line, sizeof line,
		 "%s; exec %s/quoit top -b -d 0.1 -o session,command,done --socket=%s", command,
		 tool_folder(), d->socket);
	*t = (struct top){.from = popen(line, "r")};
	cr_assert(t->from);
	for (int i = 0; i < LONG_AGO; i++)
		read_one(t);
}

static void begin_top(struct top *t, const struct daemon *d)
{
	begin_top_after(t, d, "true");
}

Test(top, a_session_that_comes_after_a_while_is_shown_and_one_that_goes_is_not)
{
	struct quoit_session *old, *new;
	struct daemon d;
	struct top t;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	old = open_named(&d, "old-one");
	begin_top(&t, &d);
	cr_expect(strstr(t.said, "old-one") && !strstr(t.said, "new-one"), "%s", t.said);
	new = open_named(&d, "new-one");
	read_until(&t, "new-one", true);
	cr_expect(strstr(t.said, "old-one"), "%s", t.said);
	quoit_close(old, 0);
	read_until(&t, "old-one", false);
	cr_expect(strstr(t.said, "new-one"), "%s", t.said);
	quoit_close(new, 0);
	daemon_stop(&d);
	(void)pclose(t.from);
}

Test(top, a_session_that_has_rested_is_seen_to_work_again)
{
	struct quoit_session *s;
	struct quoit_ring *q;
	struct daemon d;
	struct top t;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	s = open_named(&d, "rests");
	cr_assert_eq(quoit_open_ring(s, NULL, &q), 0);
	begin_top(&t, &d);
	for (int i = 0; i < 4321; i++)
		cr_assert_eq(quoit_push(q, quoit_nop(QUOIT_NO_TENSOR)), 0);
	cr_assert_eq(quoit_wait_all(q, QUOIT_FOREVER), 0);
	read_until(&t, " 4322\n", true); /* and the wait's own */
	quoit_close(s, 0);
	daemon_stop(&d);
	(void)pclose(t.from);
}

Test(top, who_has_too_few_descriptors_is_told_so_and_not_that_quoitd_is_dead)
{
	struct quoit_session *s[8];
	struct daemon d;
	struct top t;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	for (int i = 0; i < 8; i++)
		s[i] = open_named(&d, "one-of-8");
	begin_top_after(&t, &d, "ulimit -n 12");
	cr_expect(strstr(t.said, "cannot read new figures: "), "%s", t.said);
	cr_expect_not(strstr(t.said, "dead"), "%s", t.said);
	for (int i = 0; i < 8; i++)
		quoit_close(s[i], 0);
	daemon_stop(&d);
	(void)pclose(t.from);
}

/* top reads the histograms once a second, and then shows the figures of that second. */
Test(top, a_device_has_a_line_with_its_jobs_and_memory)
{
	const char *const options[] = {"--gpu=soft", "--gpu-memory=100M", NULL};
	struct quoit_open_params p = {.device_bytes = UINT64_C(64) << 20};
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor x;
	struct daemon d;
	struct top t;

	cr_assert_eq(daemon_start(&d, options), 0);
	p.socket = d.socket;
	cr_assert_eq(quoit_open(&p, &s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(s, NULL, &q), 0);
	cr_assert_eq(quoit_use_device(q, 1), 0);
	begin_top(&t, &d);
	cr_expect(strstr(t.said, "]        0 jobs/s,   0.00 at once; p50 -, p99 -; "
				 "90.0M for leases, 64.0M leased\n"),
		  "%s", t.said);
	x = quoit_create_vector(q, QUOIT_F32, 1000);
	for (int i = 0; i < 2000; i++)
		cr_assert_eq(quoit_push(q, quoit_fill(x, 1.0)), 0);
	cr_assert_eq(quoit_wait_all(q, QUOIT_FOREVER), 0);
	read_until(&t, "]        0 jobs/s", false);
	read_until(&t, "]        0 jobs/s", true);
	quoit_close(s, 0);
	read_until(&t, "90.0M for leases, 0B leased\n", true);
	daemon_stop(&d);
	(void)pclose(t.from);
}

/* A `quoit top` on a terminal, at ten readings a second, and all that it has written there. */
struct terminal {
	pid_t pid;
	int fd;
	size_t used;
	char said[1 << 20];
};

static void begin_on_terminal(struct terminal *t, const struct daemon *d, const char *option)
{
	const struct winsize size = {.ws_row = 24, .ws_col = 120};
	char path[512];

	snprintf(path, sizeof path, "%s/quoit", tool_folder());
	t->used = 0;
	t->pid = forkpty(&t->fd, NULL, NULL, &size);
	cr_assert_geq(t->pid, 0);
	if (t->pid > 0)
		return;
	setenv("TERM", "xterm", true);
	execl(path, "quoit", "top", "--delay=0.1", "--socket", d->socket, option, NULL);
	_exit(127);
}

/* Read on; false: it has ended. */
static bool read_terminal(struct terminal *t)
{
	ssize_t n;

	cr_assert_lt(t->used, sizeof t->said - 1);
	n = read(t->fd, t->said + t->used, sizeof t->said - 1 - t->used);
	t->used += n > 0 ? (size_t)n : 0;
	t->said[t->used] = '\0';
	return n > 0;
}

static int end_on_terminal(struct terminal *t)
{
	int status;

	while (read_terminal(t))
		;
	close(t->fd);
	cr_assert_eq(waitpid(t->pid, &status, 0), t->pid);
	return status;
}

/* Its own cost, which only a second reading tells. */
#define SECOND_READING "% of a core"

Test(top, on_a_terminal_the_reading_at_the_start_is_none_of_those_asked_for)
{
	static struct terminal t;
	struct daemon d;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	begin_on_terminal(&t, &d, "--iterations=1");
	cr_expect_eq(end_on_terminal(&t), 0);
	cr_expect(strstr(t.said, SECOND_READING), "%s", t.said);
	daemon_stop(&d);
}

Test(top, on_a_terminal_it_goes_on_until_it_is_told_to_end)
{
	static struct terminal t;
	struct quoit_session *s;
	struct daemon d;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	begin_on_terminal(&t, &d, NULL);
	while (!strstr(t.said, SECOND_READING))
		cr_assert(read_terminal(&t), "%s", t.said);
	s = open_named(&d, "new-one");
	while (!strstr(t.said, "new-one"))
		cr_assert(read_terminal(&t), "%s", t.said);
	cr_assert_eq(write(t.fd, "q", 1), 1);
	cr_expect_eq(end_on_terminal(&t), 0);
	quoit_close(s, 0);
	daemon_stop(&d);
}

/* SPDX-License-Identifier: MIT */
/* test_ps.c - quoit ps: the right sessions and columns, in the right order, and nothing untrue */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>

#include "daemon.h"
#include "tool.h"

#define PATIENCE 500 /* times 10 ms */
#define SESSIONS 3

static void nap(void)
{
	usleep(10000);
}

/* A quoitd with sessions 1 to 3, all of this process, named c, a and b. */
struct town {
	struct daemon d;
	struct quoit_session *s[SESSIONS];
};

static struct town town_open(void)
{
	static const char *const names[SESSIONS] = {"c", "a", "b"};
	struct town t = {0};

	cr_assert_eq(daemon_start(&t.d, NULL), 0);
	for (int i = 0; i < SESSIONS; i++) {
		struct quoit_open_params p = {.socket = t.d.socket, .name = names[i]};

		cr_assert_eq(quoit_open(&p, &t.s[i]), 0, "%s", quoit_open_text());
	}
	return t;
}

static void town_close(struct town *t)
{
	for (int i = 0; i < SESSIONS; i++)
		quoit_close(t->s[i], 0);
	daemon_stop(&t->d);
}

/* Expect `quoit ps` with these arguments to print `said` and to exit with this status. */
static void expect(const struct town *t, const char *arguments, int status, const char *said)
{
	char text[8192];

	cr_expect_eq(tool_run(text, sizeof text, "ps --socket=%s %s", t->d.socket, arguments),
		     status, "%s", arguments);
	cr_expect_str_eq(text, said, "%s:\n%s", arguments, text);
}

static void expect_words(const struct town *t, const char *arguments, int status, const char *words)
{
	char text[8192];

	cr_expect_eq(tool_run(text, sizeof text, "ps --socket=%s %s", t->d.socket, arguments),
		     status, "%s", arguments);
	cr_expect(strstr(text, words), "%s:\n%s", arguments, text);
}

/* ---- its output ---- */

struct shown {
	unsigned long long session, done, failed;
	unsigned pid;
	char command[64], state[16];
};

static bool ps_line(const char *socket, struct shown *ret)
{
	char said[4096];

	return tool_run(said, sizeof said,
			"ps -o session,pid,command,state,done,failed --no-headers --socket=%s",
			socket) == 0 &&
	       sscanf(said, "%llu %u %63s %15s %llu %llu", &ret->session, &ret->pid, ret->command,
		      ret->state, &ret->done, &ret->failed) == 6;
}

Test(ps, shows_a_session_with_its_counts)
{
	struct quoit_open_params params = {.name = "two\\words"};
	struct quoit_session *s;
	struct quoit_ring *q;
	struct quoit_info info;
	struct shown shown = {0};
	struct daemon d;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	params.socket = d.socket;
	cr_assert_eq(quoit_open(&params, &s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(s, NULL, &q), 0);
	quoit_get_info(s, &info);
	for (int i = 0; i < 6; i++)
		cr_assert_eq(quoit_push(q, quoit_nop(QUOIT_NO_TENSOR)), 0);
	cr_assert_eq(quoit_push(q, quoit_fill(12345, 1.0)), 0); /* there is no such tensor */
	cr_assert_eq(quoit_wait_all(q, QUOIT_FOREVER), 0);
	for (int i = 0; i < PATIENCE && !(ps_line(d.socket, &shown) && shown.done >= 6); i++)
		nap();
	cr_expect_eq(shown.session, info.session);
	cr_expect_eq(shown.pid, (unsigned)getpid());
	cr_expect_eq(shown.done, 7, "six, and the wait's own, not %llu", shown.done);
	cr_expect_eq(shown.failed, 1);
	cr_expect_str_eq(shown.command, "two\\x5cwords", "%s", shown.command);
	cr_expect_str_eq(shown.state, "idle");
	quoit_close(s, 0);
	daemon_stop(&d);
}

Test(ps, looks_like_ps_aux)
{
	struct town t = town_open();
	char said[4096], again[4096], *first;
	const struct passwd *me = getpwuid(geteuid());

	cr_assert_not_null(me);
	cr_expect_eq(tool_run(said, sizeof said, "ps --socket=%s", t.d.socket), 0);
	cr_expect_eq(tool_run(again, sizeof again, "ps aux --socket=%s", t.d.socket), 0);
	cr_expect_eq(strncmp(again, "USER ", 5), 0, "%s", again);
	cr_expect_eq(tool_run(again, sizeof again, "ps -ef --socket=%s", t.d.socket), 0);
	cr_expect_eq(tool_run(again, sizeof again, "ps -aux --socket=%s", t.d.socket), 0);
	cr_expect_eq(strncmp(said, "USER ", 5), 0, "%s", said);
	first = strchr(said, '\n');
	cr_assert_not_null(first);
	cr_expect_eq(strncmp(first - 7, "COMMAND", 7), 0, "%s", said);
	cr_expect_eq(strncmp(first + 1, me->pw_name, strlen(me->pw_name)), 0, "%s", said);
	town_close(&t);
}

Test(ps, with_nothing_to_show_exits_with_1)
{
	struct daemon d;
	char said[4096];

	cr_assert_eq(daemon_start(&d, NULL), 0);
	cr_expect_eq(tool_run(said, sizeof said, "ps --no-headers --socket=%s", d.socket), 1);
	cr_expect_str_eq(said, "");
	daemon_stop(&d);
	cr_expect_eq(tool_run(said, sizeof said, "ps --socket=%s", d.socket), 1);
	cr_expect(strstr(said, "no counters of quoitd"), "%s", said);
}

Test(ps, of_a_dead_daemon_says_so_and_shows_what_it_left)
{
	struct quoit_open_params params = {0};
	struct quoit_session *s;
	struct daemon d;
	char said[4096];

	cr_assert_eq(daemon_start(&d, NULL), 0);
	params.socket = d.socket;
	cr_assert_eq(quoit_open(&params, &s), 0);
	daemon_kill(&d);
	cr_expect_eq(tool_run(said, sizeof said, "ps --socket=%s", d.socket), 0);
	cr_expect(strstr(said, "is dead"), "%s", said);
	cr_expect(strstr(said, "closed"), "%s", said);
	cr_expect_eq(tool_run(said, sizeof said, "topo --socket=%s", d.socket), 0);
	cr_expect(strstr(said, "reactors: "), "%s", said);
	quoit_close(s, 0);
	daemon_stop(&d);
}

Test(ps, damaged_counter_files_are_counted_and_do_no_harm)
{
	struct daemon d;
	char said[4096], path[128];
	FILE *f;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	/* The first file is empty, like that of a session that has just ended. */
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof path, "%s/private/sessions/session.%d", d.folder, 90 + i);
		f = fopen(path, "w");
		cr_assert(f);
		for (int k = 0; k < i * 700; k++)
			fputc(k * 37, f);
		fclose(f);
	}
	cr_expect_eq(tool_run(said, sizeof said, "ps --no-headers --socket=%s", d.socket), 1);
	cr_expect(strstr(said, "3 files"), "%s", said);
	daemon_stop(&d);
}

/* ---- columns ---- */

Test(ps, columns_come_in_the_order_asked_for_under_their_titles)
{
	struct town t = town_open();

	expect(&t, "-o command,session=ID", 0, "COMMAND ID\nc        1\na        2\nb        3\n");
	expect(&t, "-o session= -o comm", 0, "  COMMAND\n1 c\n2 a\n3 b\n");
	expect(&t, "-o session=,comm=", 0, "1 c\n2 a\n3 b\n");
	expect(&t, "--no-headers --format=session", 0, "1\n2\n3\n");
	town_close(&t);
}

Test(ps, every_column_can_be_shown)
{
#define QUOIT_COLUMN(NAME, key, alias, title, kind, from, help) {key, title},
	static const char *const columns[][2] = {
#include "read/columns.def"
	};
#undef QUOIT_COLUMN
	struct town t = town_open();
	char said[4096], title[64];
	int lines;

	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
		cr_expect_eq(tool_run(said, sizeof said, "ps --socket=%s -o %s", t.d.socket,
				      columns[i][0]),
			     0);
		cr_expect_eq(sscanf(said, " %63s", title), 1);
		cr_expect_str_eq(title, columns[i][1]);
		lines = 0;
		for (const char *c = said; *c; c++)
			lines += *c == '\n' && c[-1] != '\n';
		cr_expect_eq(lines, 1 + SESSIONS, "%s", said);
		expect_words(&t, "--columns", 0, columns[i][0]);
	}
	town_close(&t);
}

Test(ps, an_unknown_column_is_named_with_the_nearest)
{
	struct town t = town_open();

	expect_words(&t, "-o quued", 1, "'quued'; did you mean 'queued'");
	expect_words(&t, "--sort=-pdi", 1, "'pdi'; did you mean 'pid'");
	expect_words(&t, "--fromat=pid", 1, "did you mean '--format'");
	town_close(&t);
}

/* ---- order ---- */

Test(ps, sessions_are_sorted_as_asked)
{
	struct town t = town_open();

	expect(&t, "-o session= --sort=-session", 0, "3\n2\n1\n");
	expect(&t, "-o session= --sort=command", 0, "2\n3\n1\n");
	expect(&t, "-o session= --sort=+pid,-command", 0, "1\n3\n2\n");
	town_close(&t);
}

/* ---- choice of sessions ---- */

Test(ps, only_the_processes_asked_for_are_shown)
{
	struct town t = town_open();
	char mine[64];

	snprintf(mine, sizeof mine, "-o session= -p 1,%d", (int)getpid());
	expect(&t, mine, 0, "1\n2\n3\n");
	snprintf(mine, sizeof mine, "-o session= %d", (int)getpid());
	expect(&t, mine, 0, "1\n2\n3\n");
	expect(&t, "-o session= -p 1", 1, "");
	expect_words(&t, "-p ''", 1, "is not a PID");
	expect_words(&t, "-p 12x", 1, "'12x' is not a PID");
	expect_words(&t, "-p 0", 1, "'0' is not a PID");
	expect_words(&t, "-p -7", 1, "'-7' is not a PID");
	town_close(&t);
}

Test(ps, only_the_users_asked_for_are_shown)
{
	struct town t = town_open();
	char mine[64];

	snprintf(mine, sizeof mine, "-o session= -u %u", geteuid());
	expect(&t, mine, 0, "1\n2\n3\n");
	snprintf(mine, sizeof mine, "-o session= --user=%s", getpwuid(geteuid())->pw_name);
	expect(&t, mine, 0, "1\n2\n3\n");
	expect(&t, "-o session= -u 4294967294", 1, "");
	snprintf(mine, sizeof mine, "-o session= -u 4294967294 -p %d", (int)getpid());
	expect(&t, mine, 0, "1\n2\n3\n"); /* as for ps: sessions that any list names */
	expect_words(&t, "-u no_such_user", 1, "'no_such_user' is not a user");
	town_close(&t);
}

/* ---- another PID namespace ---- */

/* There the PIDs belong to other processes, which must not be shown as clients. */
Test(ps, in_another_pid_namespace_nothing_is_said_of_processes_and_the_daemon_lives)
{
	struct town t = town_open();
	char line[512], said[4096];
	FILE *from;
	size_t n;

	if (geteuid())
		cr_skip("only root makes PID namespaces");
	for (int dead = 0; dead < 2; dead++) {
		snprintf(line, sizeof line,
			 "unshare --pid --fork --mount-proc %s/quoit ps --socket=%s "
			 "-o session=,state=,rss=,majflt= 2>&1",
			 tool_folder(), t.d.socket);
		from = popen(line, "r");
		cr_assert(from);
		n = fread(said, 1, sizeof said - 1, from);
		said[n] = '\0';
		cr_expect_eq(pclose(from), 0);
		if (!dead) {
			cr_expect_str_eq(said, "1 idle - -\n2 idle - -\n3 idle - -\n", "%s", said);
			daemon_kill(&t.d);
		} else {
			cr_expect(strstr(said, "is dead"), "%s", said);
		}
	}
	town_close(&t);
}

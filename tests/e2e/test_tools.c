/* SPDX-License-Identifier: MIT */
/*
 * test_tools.c - the quoit command: its output, the processes that it ends, and what it leaves
 * behind
 */
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

#include "daemon.h"
#include "tool.h"

#define PATIENCE 500 /* times 10 ms */

static void nap(void)
{
	usleep(10000);
}

/* ---- kill ---- */

Test(tools, kill_ends_a_session_and_no_other)
{
	struct quoit_open_params params = {0};
	struct quoit_session *s[2];
	struct quoit_ring *q[2];
	struct quoit_info info;
	struct daemon d;
	char said[4096];
	int err = 0;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	params.socket = d.socket;
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(quoit_open(&params, &s[i]), 0);
		cr_assert_eq(quoit_open_ring(s[i], NULL, &q[i]), 0);
	}
	quoit_get_info(s[0], &info);
	cr_expect_eq(tool_run(said, sizeof said, "kill --socket=%s %llu", d.socket,
			      (unsigned long long)info.session),
		     0, "%s", said);
	for (int i = 0; i < PATIENCE && err != -ECONNRESET; i++) {
		(void)quoit_push(q[0], quoit_nop(QUOIT_NO_TENSOR));
		err = quoit_wait_all(q[0], 10);
	}
	cr_expect_eq(err, -ECONNRESET);
	cr_expect_eq(quoit_wait_all(q[1], QUOIT_FOREVER), 0);
	quoit_close(s[0], 0);
	quoit_close(s[1], 0);
	daemon_stop(&d);
}

Test(tools, kill_of_a_session_that_is_not_there_fails_and_names_it)
{
	struct daemon d;
	char said[4096];

	cr_assert_eq(daemon_start(&d, NULL), 0);
	cr_expect_eq(tool_run(said, sizeof said, "kill --socket=%s 4711", d.socket), 1);
	cr_expect(strstr(said, "4711"), "%s", said);
	cr_expect_eq(tool_run(said, sizeof said, "kill --socket=%s 7x", d.socket), 2);
	cr_expect(strstr(said, "'7x'"), "%s", said);
	daemon_stop(&d);
}

/* ---- run ---- */

struct outcome {
	char arguments[64];
	int status;
};

ParameterizedTestParameters(tools, run_exits_as_the_program_does)
{
	static struct outcome rows[] = {
		{"true", 0},
		{"sh -c 'exit 7'", 7},
		{"-- sh -c 'exit 7'", 7},
		{"--reactors=1 -- sh -c 'exit 8'", 8},
		{"--reactors 1 -- sh -c 'exit 8'", 8},
		{"--reactors=1 sh -c 'exit 9'", 9},
		{"--reactors 1 sh -c 'exit 9'", 9},
		{"--eager sh -c 'exit 9'", 9},
		{"--reactors=1 sh -c 'exit $#' sh -- f", 2},
		{"--reactors=1 -- sh -c 'exit $#' sh -- f", 2},
		{"sh -c 'exit $#' sh -- f --", 3},
		{"-- -- true", 127},
		{"--reactors", 125},
		{"--reactors=1 --", 125},
		{"sh -c 'kill -TERM $$'", 128 + SIGTERM},
		{"sh -c 'kill -KILL $$'", 128 + SIGKILL},
		{"/nowhere/to/be/found", 127},
		{"/etc/passwd", 126},
		{"--no-such-option -- true", 125},
		{"--socket=/tmp/s -- true", 125},
		{"", 125},
		{"sh -c 'test -S $QUOIT_SOCKET'", 0},
	};

	return cr_make_param_array(struct outcome, rows, sizeof rows / sizeof rows[0]);
}

ParameterizedTest(struct outcome *row, tools, run_exits_as_the_program_does)
{
	char said[4096];

	cr_assert_eq(tool_run(said, sizeof said, "run %s", row->arguments), row->status, "%s: %s",
		     row->arguments, said);
}

Test(tools, quoitd_names_what_it_does_not_know_and_what_is_near)
{
	static const char *const rows[][2] = {
		{"--reactrs=1", "'--reactrs=1'; did you mean '--reactors'?"},
		{"--disable=fill,gem", "unknown operation 'gem'"},
		{"--disable=fill,gem", "did you mean 'gemm'?"},
		{"--log=debgu", "invalid value 'debgu' for option log"},
	};
	char said[4096];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		cr_expect_eq(tool_run(said, sizeof said, "run %s -- true", rows[i][0]), 125);
		cr_expect(strstr(said, rows[i][1]), "%s: %s", rows[i][0], said);
	}
}

Test(tools, run_checks_the_options_of_quoitd_as_quoitd_does)
{
	char said[4096], path[] = "/tmp/quoit-check-XXXXXX";
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, "memroy = 1G\n", 12), 12);
	close(fd);
	cr_expect_eq(tool_run(said, sizeof said, "run --check-config"), 0, "%s", said);
	cr_expect_eq(tool_run(said, sizeof said, "run --check-config -- sh -c 'exit 9'"), 0,
		     "nothing is run: %s", said);
	cr_expect_eq(tool_run(said, sizeof said, "run --check-config --reactors=0x"), 2);
	cr_expect(strstr(said, "invalid value '0x' for option reactors"), "%s", said);
	cr_expect_eq(tool_run(said, sizeof said, "run --config=%s --check-config", path), 2);
	cr_expect(strstr(said, "line 1: unknown option 'memroy'; did you mean 'memory'?"), "%s",
		  said);
	cr_expect_eq(unlink(path), 0);
}

/* quoit run knows all options of quoitd that take no value, as quoitd's help shows them. */
Test(tools, run_takes_no_command_for_the_value_of_a_flag)
{
	char command[256], line[256], said[4096];
	unsigned flags = 0;
	FILE *help;

	snprintf(command, sizeof command, "%s/quoitd --help", tool_folder());
	help = popen(command, "re");
	cr_assert(help);
	while (fgets(line, sizeof line, help)) {
		char name[32], blanks[32];

		if (sscanf(line, " --%31[a-z-]%31[ ]", name, blanks) != 2 || strlen(blanks) < 2 ||
		    !strcmp(name, "private") || !strcmp(name, "check-config"))
			continue;
		flags++;
		cr_expect_eq(tool_run(said, sizeof said, "run --%s sh -c 'exit 9'", name), 9, "%s",
			     said);
	}
	cr_expect_eq(pclose(help), 0);
	cr_expect_gt(flags, 0);
}

/* Start `quoit run` of a program that prints the socket's path and then sleeps; returns its PID. */
static pid_t start_run(char *ret_socket, size_t size)
{
	char path[256];
	int out[2];
	ssize_t n;
	pid_t pid;

	cr_assert_eq(pipe2(out, O_CLOEXEC), 0);
	snprintf(path, sizeof path, "%s/quoit", tool_folder());
	pid = fork();
	if (pid == 0) {
		dup2(out[1], STDOUT_FILENO);
		execl(path, "quoit", "run", "sh", "-c",
		      "printf %s $QUOIT_SOCKET; exec >&-; exec sleep 60", (char *)NULL);
		_exit(1);
	}
	close(out[1]);
	n = read(out[0], ret_socket, size - 1);
	close(out[0]);
	cr_assert_gt(n, 0);
	ret_socket[n] = '\0';
	return pid;
}

static bool is_gone(const char *socket)
{
	char folder[256];

	snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(socket, '/') - socket), socket);
	for (int i = 0; i < PATIENCE && access(folder, F_OK) == 0; i++)
		nap();
	return access(folder, F_OK) < 0;
}

static void expect_passed_on(int signal)
{
	char socket[256];
	pid_t pid = start_run(socket, sizeof socket);
	int status;

	kill(pid, signal);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 128 + signal, "%#x", status);
	cr_expect(access(socket, F_OK) < 0);
	cr_expect(is_gone(socket));
}

Test(tools, run_passes_sigterm_on_and_leaves_nothing_behind)
{
	expect_passed_on(SIGTERM);
}

/* Batch systems ask for a checkpoint by this signal. */
Test(tools, run_passes_sigusr1_on)
{
	expect_passed_on(SIGUSR1);
}

Test(tools, run_leaves_nothing_behind_even_when_it_is_killed)
{
	char socket[256];
	pid_t pid = start_run(socket, sizeof socket);

	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_expect(is_gone(socket), "%s", socket);
}

/* Run `quoit ARGUMENT...` from such a parent; returns its exit status, 128 + n for signal n. */
static int run_after(void (*prepare)(void), const char *argument, const char *more)
{
	char path[256];
	int status;
	pid_t pid;

	snprintf(path, sizeof path, "%s/quoit", tool_folder());
	pid = fork();
	if (pid == 0) {
		prepare();
		alarm(20);
		execl(path, "quoit", argument, more, (char *)NULL);
		_exit(1);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void ignore_children(void)
{
	(void)signal(SIGCHLD, SIG_IGN);
}

static void have_no_runtime_folder(void)
{
	setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
}

static void have_no_input(void)
{
	close(STDIN_FILENO);
}

static void have_no_room(void)
{
	dup2(open("/dev/full", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
}

Test(tools, run_takes_whatever_its_parent_has_left_behind)
{
	cr_expect_eq(run_after(ignore_children, "run", "true"), 0);
	cr_expect_eq(run_after(have_no_runtime_folder, "run", "true"), 0);
	cr_expect_eq(run_after(have_no_input, "run", "true"), 0);
}

Test(tools, what_could_not_be_written_is_a_failure)
{
	cr_expect_eq(run_after(have_no_room, "--help", NULL), 1);
}

/* ---- words ---- */

struct word {
	char arguments[32], meant[32];
};

ParameterizedTestParameters(tools, a_wrong_word_is_named_with_the_nearest_right_one)
{
	static struct word rows[] = {
		{"pss", "'ps'"},
		{"tpo", "'topo'"},
		{"topo --jsno", "'--json'"},
		{"bench nob", "'nop'"},
		{"bench nop --only quiot_1", "'quoit_1'"},
		{"topo --sockt=x", "'--socket'"},
		{"docter", "'doctor'"},
		{"doctor --jsno", "'--json'"},
		{"doctor memlok", "'memlock'"},
		{"doctor --no-measure nvida", "'nvidia'"},
	};

	return cr_make_param_array(struct word, rows, sizeof rows / sizeof rows[0]);
}

ParameterizedTest(struct word *row, tools, a_wrong_word_is_named_with_the_nearest_right_one)
{
	char said[4096];

	cr_assert_eq(tool_run(said, sizeof said, "%s", row->arguments), 2);
	cr_assert(strstr(said, row->meant), "%s", said);
}

Test(tools, a_wrong_number_is_named_with_those_that_are_right)
{
	char said[4096];

	cr_assert_eq(tool_run(said, sizeof said, "bench nop --length 0"), 2);
	cr_expect(strstr(said, "'0' is not a length (1 to 1000)"), "%s", said);
	cr_assert_eq(tool_run(said, sizeof said, "bench nop --rounds 7s"), 2);
	cr_expect(strstr(said, "'7s' is not a number of rounds (1 to 1001)"), "%s", said);
}

/* The value that was found, and the values that are allowed. */
Test(tools, an_error_names_what_was_found_and_what_is_allowed)
{
	static const struct {
		const char *arguments, *found, *allowed;
		int status;
	} rows[] = {
		{"top -n x", "'x'", "(1 or more)", 2},
		{"top -d 9999", "'9999'", "(0.1 to 3600)", 2},
		{"top -d", "-d needs a value, SECONDS", "between readings", 2},
		{"top --delay", "--delay needs a value, SECONDS", "between readings", 2},
		{"top -u nobody.here", "'nobody.here'", "nor a number", 2},
		{"top --session x", "'x'", "see quoit ps", 2},
		{"stat 1 x", "'x'", "(1 or more)", 2},
		{"stat 1 2 3", "'3'", "INTERVAL and COUNT", 2},
		{"stat 0.001", "'0.001'", "(0.01 to 86400)", 2},
		{"ps -p x", "'x'", "(1 or more)", 1},
		{"ps -u nobody.here", "'nobody.here'", "nor a number", 1},
		{"ps -o nothing", "'nothing'", "see quoit ps --columns", 1},
		{"share nobody.here", "'nobody.here'", "nor a number", 2},
		{"share 0 0", "'0'", "(1 to 10000)", 2},
		{"share 0 x", "'x'", "(1 to 10000)", 2},
		{"kill x", "'x'", "see quoit ps", 2},
		{"topo x", "'x'", "unexpected argument", 2},
		{"exporter --most 0", "'0'", "(1 to 256)", 2},
		{"exporter --listen x", "'x'", "127.0.0.1:19684", 2},
		{"bench nop --rounds 0", "'0'", "(1 to 1001)", 2},
		{"doctor no-such-check", "'no-such-check'", "see quoit doctor --checks", 2},
		{"trace record -p x", "'x'", "(1 or more)", 2},
		{"ps --socket=", "''", "1 to 107 characters", 1},
	};
	char said[4096];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		cr_expect_eq(tool_run(said, sizeof said, "%s", rows[i].arguments), rows[i].status,
			     "%s: %s", rows[i].arguments, said);
		cr_expect(strstr(said, rows[i].found), "%s: %s", rows[i].arguments, said);
		cr_expect(strstr(said, rows[i].allowed), "%s: %s", rows[i].arguments, said);
	}
}

/* Also -h and -V; also subcommands of subcommands. */
Test(tools, every_command_explains_itself_and_says_its_version)
{
	static const char *const names[] = {"",         "ps",     "top",          "stat",
					    "topo",     "config", "share",        "doctor",
					    "exporter", "kill",   "run",          "trace",
					    "report",   "bench",  "trace record", "trace json"};
	char said[8192], expected[64];

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		for (unsigned is_long = 0; is_long < 2; is_long++) {
			cr_expect_eq(tool_run(said, sizeof said, "%s %s", names[i],
					      is_long ? "--help" : "-h"),
				     0, "%s: %s", names[i], said);
			snprintf(expected, sizeof expected, "usage: quoit %s", names[i]);
			cr_expect_eq(strncmp(said, expected, strlen(expected)), 0, "%s", said);
			cr_expect_eq(tool_run(said, sizeof said, "%s %s", names[i],
					      is_long ? "--version" : "-V"),
				     0, "%s: %s", names[i], said);
			cr_expect_eq(strncmp(said, "quoit ", 6), 0, "%s: %s", names[i], said);
		}
}

Test(tools, every_program_has_short_help_and_a_short_version)
{
	static const char *const programs[] = {"quoitd", "quoit-exec", "quoit-peer"};
	char line[160];

	for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
		snprintf(line, sizeof line, "%s/%s -h | grep -q quoit", tool_folder(), programs[i]);
		cr_expect_eq(system(line), 0, "%s", line);
		snprintf(line, sizeof line, "%s/%s -V | grep -q '^%s [0-9]'", tool_folder(),
			 programs[i], programs[i]);
		cr_expect_eq(system(line), 0, "%s", line);
	}
}

/* ---- another version ---- */

/* Write a version number into the totals, as a quoitd of another version would. */
static void set_version(const struct daemon *d, uint64_t version)
{
	const off_t at = (off_t)(offsetof(struct quoit_totals, value) +
				 QUOIT_DAEMON_VERSION * sizeof version);
	char path[96];
	int fd;

	snprintf(path, sizeof path, "%s/totals", d->folder);
	fd = open(path, O_RDWR | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	cr_assert_eq(pwrite(fd, &version, sizeof version, at), sizeof version);
	close(fd);
}

Test(tools, each_says_that_quoitd_is_of_another_version)
{
	static const char *const commands[] = {"ps",
					       "topo",
					       "stat",
					       "top --batch -n 1",
					       "config",
					       "share",
					       "ls",
					       "calls",
					       "kill 1",
					       "exporter --once",
					       "doctor quoitd",
					       "trace record -a -t 0.01 -o /dev/null"};
	struct daemon d;
	char said[65536];

	cr_assert_eq(daemon_start(&d, NULL), 0);
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		(void)tool_run(said, sizeof said, "%s --socket=%s", commands[i], d.socket);
		cr_expect_not(strstr(said, "is of version"), "%s: %s", commands[i], said);
	}
	set_version(&d, 9008007);
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		(void)tool_run(said, sizeof said, "%s --socket=%s", commands[i], d.socket);
		cr_expect(strstr(said, "is of version 9.8.7 (ABI 7), this tool of "), "%s: %s",
			  commands[i], said);
	}
	daemon_stop(&d);
}

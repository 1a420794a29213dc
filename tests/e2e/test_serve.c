/* SPDX-License-Identifier: MIT */
/* test_serve.c - `quoit serve`: starts again what ends, says why, and leaves no process behind */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "process.h"
#include "tool.h"

#define PATIENCE_MS 60000
#define LINE_BYTES  512
#define MOST_WORDS  12

/* `quoit serve`, and what it and its processes say. */
struct serve {
	pid_t pid;
	int says;
	char line[LINE_BYTES]; /* the last one */
};

/* ---- run it ---- */

/* Run it with these words, ended by NULL. */
static void start(struct serve *s, ...)
{
	char *words[MOST_WORDS + 3] = {(char[]){"quoit"}, (char[]){"serve"}};
	char path[LINE_BYTES];
	va_list args;
	int says[2];

	va_start(args, s);
	for (unsigned i = 2; i < MOST_WORDS + 2 && (words[i] = va_arg(args, char *)); i++)
		;
	va_end(args);
	snprintf(path, sizeof path, "%s/quoit", tool_folder());
	cr_assert_eq(pipe2(says, O_CLOEXEC), 0);
	s->pid = fork();
	if (s->pid == 0) {
		dup2(says[1], STDOUT_FILENO);
		dup2(says[1], STDERR_FILENO);
		execv(path, words);
		_exit(99);
	}
	close(says[1]);
	s->says = says[0];
}

/* Read its next line; false: nobody is left that could say something, and it may lack its end. */
static bool next_line(struct serve *s)
{
	struct pollfd fd = {.fd = s->says, .events = POLLIN};
	size_t used = 0;

	while (used < sizeof s->line - 1) {
		cr_assert_eq(poll(&fd, 1, PATIENCE_MS), 1, "no line came");
		if (read(s->says, s->line + used, 1) != 1) {
			s->line[used] = '\0';
			return false;
		}
		if (s->line[used] == '\n')
			break;
		used++;
	}
	s->line[used] = '\0';
	return true;
}

/* Skip lines until one has these words. */
static void expect_line(struct serve *s, const char *words)
{
	do
		cr_assert(next_line(s), "'%s' was not said", words);
	while (!strstr(s->line, words));
}

/* The number behind this word in the last line. */
static int number_behind(const struct serve *s, const char *word)
{
	const char *at = strstr(s->line, word);

	cr_assert(at, "no '%s' in: %s", word, s->line);
	return atoi(at + strlen(word));
}

/* Wait for the end; the exit status, or 1000 plus the signal. */
static int end_of(struct serve *s)
{
	int status;

	while (next_line(s))
		;
	close(s->says);
	cr_assert_eq(waitpid(s->pid, &status, 0), s->pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int stop(struct serve *s)
{
	cr_assert_eq(kill(s->pid, SIGTERM), 0);
	return end_of(s);
}

static void expect_gone(pid_t pid)
{
	for (unsigned ms = 0; !strchr("?Z", process_state(pid)); ms += 10) {
		cr_assert_lt(ms, PATIENCE_MS, "process %d is still there", (int)pid);
		usleep(10000);
	}
}

/* ---- it is started again ---- */

Test(serve, what_is_killed_is_started_again_with_its_number)
{
	struct serve s;
	int killed;

	start(&s, "-n", "2", "--restart-ms", "10", "sh", "-c",
	      "echo number $QUOIT_SERVE_NUMBER pid $$; exec sleep 1000", NULL);
	expect_line(&s, "number 1 ");
	killed = number_behind(&s, "pid ");
	cr_assert_eq(kill(killed, SIGSEGV), 0);
	expect_line(&s, "was killed");
	cr_expect(strstr(s.line, "quoit serve: process "), "%s", s.line);
	cr_expect_eq(number_behind(&s, "process "), killed);
	cr_expect(strstr(s.line, "was killed by signal 11 (Segmentation fault) after "), "%s",
		  s.line);
	cr_expect(strstr(s.line, " s; it is started again in 0.010 s"), "%s", s.line);
	expect_line(&s, "number 1 ");
	cr_expect_neq(number_behind(&s, "pid "), killed);
	cr_expect_eq(stop(&s), 0);
}

Test(serve, pauses_double_while_it_ends_at_once)
{
	static const char *const pauses[] = {"0.001 s", "0.002 s", "0.004 s",
					     "0.008 s", "0.016 s", "0.032 s"};
	struct serve s;

	start(&s, "--restart-ms=1", "--", "sh", "-c", "exit 3", NULL);
	for (size_t i = 0; i < sizeof pauses / sizeof pauses[0]; i++) {
		expect_line(&s, "ended with status 3 after ");
		cr_expect(strstr(s.line, pauses[i]), "pause %zu: %s", i, s.line);
	}
	cr_expect_eq(stop(&s), 0);
}

Test(serve, what_ends_well_is_started_again_too)
{
	struct serve s;

	start(&s, "--restart-ms=1", "true", NULL);
	expect_line(&s, "ended with status 0 after ");
	expect_line(&s, "ended with status 0 after ");
	cr_expect_eq(stop(&s), 0);
}

Test(serve, what_an_ended_process_has_started_does_not_stay)
{
	struct serve s;
	int left;

	start(&s, "--restart-ms=10000", "sh", "-c", "sleep 1000 & echo left $!; exit 1", NULL);
	expect_line(&s, "left ");
	left = number_behind(&s, "left ");
	expect_line(&s, "ended with status 1");
	expect_gone(left);
	cr_expect_eq(stop(&s), 0);
}

/* ---- once ---- */

Test(serve, with_once_the_first_failure_ends_all_with_its_status)
{
	struct serve s;

	start(&s, "--once", "-n", "2", "sh", "-c",
	      "test $QUOIT_SERVE_NUMBER = 0 && exit 7; exec sleep 1000", NULL);
	expect_line(&s, "ended with status 7 after ");
	cr_expect_not(strstr(s.line, "again"), "%s", s.line);
	cr_expect_eq(end_of(&s), 7);
	start(&s, "--once", "sh", "-c", "kill -ABRT $$", NULL);
	cr_expect_eq(end_of(&s), 128 + SIGABRT);
}

Test(serve, with_once_it_ends_when_all_have_ended_well)
{
	struct serve s;

	start(&s, "--once", "-n", "2", "sh", "-c", "echo number $QUOIT_SERVE_NUMBER", NULL);
	cr_expect_eq(end_of(&s), 0);
}

/* ---- it ends ---- */

Test(serve, a_signal_to_end_is_passed_on)
{
	static const struct {
		int signo;
		const char *said;
	} signals[] = {{SIGTERM, "TERM 1"}, {SIGINT, "INT 1"}, {SIGHUP, "HUP 1"}};
	struct serve s;

	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		start(&s, "-n", "2", "sh", "-c",
		      "for s in TERM INT HUP; do trap \"echo $s $QUOIT_SERVE_NUMBER; exit 5\" $s; "
		      "done; echo ready $QUOIT_SERVE_NUMBER; while :; do sleep 0.01; done",
		      NULL);
		expect_line(&s, "ready 1");
		cr_assert_eq(kill(s.pid, signals[i].signo), 0);
		expect_line(&s, signals[i].said);
		cr_expect_eq(end_of(&s), 0);
	}
}

Test(serve, other_signals_are_passed_on_and_end_nothing)
{
	struct serve s;

	start(&s, "sh", "-c", "trap 'echo usr1' USR1; echo ready; while :; do sleep 0.01; done",
	      NULL);
	expect_line(&s, "ready");
	cr_assert_eq(kill(s.pid, SIGUSR1), 0);
	expect_line(&s, "usr1");
	cr_expect_eq(stop(&s), 0);
}

#define DEAF "trap '' TERM INT; echo deaf $$; while :; do sleep 0.01; done"

Test(serve, what_does_not_end_is_killed)
{
	struct serve s;
	int deaf;

	start(&s, "--stop-ms", "100", "sh", "-c", DEAF, NULL);
	expect_line(&s, "deaf ");
	deaf = number_behind(&s, "deaf ");
	cr_assert_eq(kill(s.pid, SIGTERM), 0);
	expect_line(&s, "was told to end and has not within 0.1 s: it is killed");
	cr_expect_eq(number_behind(&s, "process "), deaf);
	cr_expect_eq(end_of(&s), 0);
	expect_gone(deaf);
}

Test(serve, a_second_signal_kills_at_once)
{
	struct serve s;

	start(&s, "--stop-ms=3600000", "sh", "-c", DEAF, NULL);
	expect_line(&s, "deaf ");
	cr_assert_eq(kill(s.pid, SIGINT), 0); /* two that are alike may become one */
	cr_assert_eq(kill(s.pid, SIGTERM), 0);
	cr_expect_eq(end_of(&s), 0);
}

/* Also what its processes have started, which the kernel does not tell of its death. */
Test(serve, killed_itself_it_leaves_no_process)
{
	int pids[4];
	struct serve s;

	start(&s, "-n", "2", "sh", "-c", "sleep 1000 & echo first $$ second $!; wait", NULL);
	for (unsigned i = 0; i < 4; i += 2) {
		expect_line(&s, "first ");
		pids[i] = number_behind(&s, "first ");
		pids[i + 1] = number_behind(&s, "second ");
	}
	cr_assert_eq(kill(s.pid, SIGKILL), 0);
	for (unsigned i = 0; i < 4; i++)
		expect_gone(pids[i]);
	cr_expect_eq(end_of(&s), 1000 + SIGKILL);
}

/* ---- CPUs ---- */

/* The CPUs that `count` processes may use, by their numbers. */
static void read_cpus(const char *option, unsigned count, cpu_set_t *ret)
{
	struct serve s;
	char n[12];

	snprintf(n, sizeof n, "%u", count);
	start(&s, "--once", "-n", n, option, "sh", "-c",
	      "echo number $QUOIT_SERVE_NUMBER $(taskset -p $$)", NULL);
	for (unsigned i = 0; i < count; i++) {
		unsigned number;
		unsigned long mask;

		expect_line(&s, "number ");
		number = (unsigned)number_behind(&s, "number ");
		cr_assert_lt(number, count);
		mask = strtoul(strstr(s.line, "mask: ") + 6, NULL, 16);
		CPU_ZERO(&ret[number]);
		for (unsigned cpu = 0; cpu < 8 * sizeof mask; cpu++)
			if (mask >> cpu & 1)
				CPU_SET(cpu, &ret[number]);
	}
	cr_expect_eq(end_of(&s), 0);
}

Test(serve, processes_divide_the_cpus_unless_they_are_unpinned)
{
	cpu_set_t mine, theirs[2], both;

	cr_assert_eq(sched_getaffinity(0, sizeof mine, &mine), 0);
	if (CPU_COUNT(&mine) < 2 || CPU_COUNT(&mine) > 64)
		cr_skip("needs 2 to 64 CPUs");
	read_cpus("--once", 1, theirs);
	cr_expect(CPU_EQUAL(&mine, &theirs[0]));
	read_cpus("--unpinned", 2, theirs);
	cr_expect(CPU_EQUAL(&mine, &theirs[0]) && CPU_EQUAL(&mine, &theirs[1]));
	read_cpus("--once", 2, theirs);
	CPU_AND(&both, &theirs[0], &theirs[1]);
	cr_expect_eq(CPU_COUNT(&both), 0);
	CPU_OR(&both, &theirs[0], &theirs[1]);
	cr_expect(CPU_EQUAL(&mine, &both));
}

/* ---- a service manager ---- */

static int open_notify(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	socklen_t length = sizeof addr;
	char name[sizeof addr.sun_path + 1] = "@";
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	cr_assert_eq(bind(fd, (struct sockaddr *)&addr, sizeof(sa_family_t)), 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)&addr, &length), 0);
	memcpy(name + 1, addr.sun_path + 1, length - offsetof(struct sockaddr_un, sun_path) - 1);
	cr_assert_eq(setenv("NOTIFY_SOCKET", name, 1), 0);
	return fd;
}

static void expect_message(int fd, const char *message)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	char said[128] = "";

	cr_assert_eq(poll(&poll_fd, 1, PATIENCE_MS), 1, "no %s came", message);
	cr_assert_gt(recv(fd, said, sizeof said - 1, 0), 0);
	cr_expect_str_eq(said, message);
}

Test(serve, the_service_manager_hears_when_all_run_and_when_it_ends)
{
	int notify = open_notify();
	struct serve s;

	start(&s, "-n", "2", "sh", "-c", "echo socket: $NOTIFY_SOCKET.; exec sleep 1000", NULL);
	expect_message(notify, "READY=1");
	expect_line(&s, "socket: .");
	cr_assert_eq(kill(s.pid, SIGTERM), 0);
	expect_message(notify, "STOPPING=1");
	cr_expect_eq(end_of(&s), 0);
	close(notify);
	unsetenv("NOTIFY_SOCKET");
}

/* ---- what cannot be run ---- */

Test(serve, a_program_that_cannot_be_run_is_said_at_once)
{
	struct serve s;

	start(&s, "-n", "3", "no-such-program", NULL);
	expect_line(&s, "quoit serve: cannot run 'no-such-program': No such file or directory");
	cr_expect_eq(end_of(&s), 127);
	start(&s, "/etc/passwd", NULL);
	expect_line(&s, "quoit serve: cannot run '/etc/passwd': Permission denied");
	cr_expect_eq(end_of(&s), 126);
}

Test(serve, options_end_where_the_program_begins)
{
	struct serve s;

	start(&s, "--once", "echo", "-n", "--unpinned", "x", NULL);
	cr_assert_not(next_line(&s)); /* echo's -n: no newline */
	cr_expect_str_eq(s.line, "--unpinned x");
	cr_expect_eq(end_of(&s), 0);
}

static void expect_invalid(const char *option, const char *value, const char *words)
{
	struct serve s;

	start(&s, option, value, "true", NULL);
	expect_line(&s, words);
	cr_expect_eq(end_of(&s), 125);
}

Test(serve, values_have_limits)
{
	struct serve s;

	expect_invalid("-n", "0", "invalid value '0' of --processes (1 to 1024)");
	expect_invalid("-n", "1025", "invalid value '1025' of --processes (1 to 1024)");
	expect_invalid("--restart-ms", "x", "invalid value 'x' of --restart-ms (1 to 10000)");
	expect_invalid("--restart-ms", "10001", "'10001' of --restart-ms (1 to 10000)");
	expect_invalid("--stop-ms", "3600001", "'3600001' of --stop-ms (0 to 3600000)");
	start(&s, "--once", NULL);
	expect_line(&s, "name a program to run");
	cr_expect_eq(end_of(&s), 125);
}

/* SPDX-License-Identifier: MIT */
/* test_log.c - a log that nobody reads holds nobody up, and says later what is missing. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "host/log.h"

/* What the pipe and the queue do not hold. */
#define SURPLUS 100u

static int reader;

/* Standard error becomes a pipe without room for even one line. */
static void block(void)
{
	int pipe_fds[2], probe;
	char path[32];

	cr_assert_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
	cr_assert_geq(fcntl(pipe_fds[1], F_SETPIPE_SZ, 4096), 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", pipe_fds[1]);
	probe = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC); /* flags of its own */
	while (write(probe, "x", 1) == 1)
		;
	close(probe);
	cr_assert_geq(dup2(pipe_fds[1], STDERR_FILENO), 0);
	close(pipe_fds[1]);
	reader = pipe_fds[0];
}

/* Everything up to this word, which must come. */
static void read_until(char *text, size_t size, const char *word)
{
	size_t n = 0;

	text[0] = '\0';
	while (!strstr(text, word)) {
		ssize_t got = read(reader, text + n, size - 1 - n);

		cr_assert_gt(got, 0);
		n += (size_t)got;
		text[n] = '\0';
	}
}

TestSuite(log, .timeout = 20);

Test(log, a_reader_that_stops_stops_nobody_and_learns_how_much_it_missed)
{
	static char text[1u << 20];
	char expected[40];

	block();
	cr_assert_eq(log_start(), 0);
	for (unsigned i = 0; i < LOG_LINES + SURPLUS; i++)
		log_info("line %u.", i);
	cr_expect_eq(log_suppressed(), SURPLUS);
	read_until(text, sizeof text, "nobody read them");
	snprintf(expected, sizeof expected, "line %u.", LOG_LINES - 1);
	cr_expect(strstr(text, expected));
	snprintf(expected, sizeof expected, "line %u.", LOG_LINES);
	cr_expect(!strstr(text, expected));
	snprintf(expected, sizeof expected, "quoitd: %u lines were dropped", SURPLUS);
	cr_expect(strstr(text, expected));
	log_info("and on");
	read_until(text, sizeof text, "and on");
}

Test(log, the_end_waits_for_lines_but_not_for_a_reader_that_stopped)
{
	static char text[8192];

	block();
	cr_assert_eq(log_start(), 0);
	log_info("never read");
	log_stop();
	log_info("said too late");
	cr_expect_eq(log_suppressed(), 1);
	read_until(text, sizeof text, "never read");
}

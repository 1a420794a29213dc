/* SPDX-License-Identifier: MIT */
/* test_log.c - the log delays no thread, no user can fill it, and it later says what is missing. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/log.h"

/* More lines than the pipe and the queue hold. */
#define SURPLUS 100u

static int reader;

/* Make stderr a pipe without room for even one line. */
static void block(void)
{
	int pipe_fds[2], probe;
	char path[32];

	cr_assert_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
	cr_assert_geq(fcntl(pipe_fds[1], F_SETPIPE_SZ, 4096), 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", pipe_fds[1]);
	/* opened again, for flags of its own */
	probe = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	while (write(probe, "x", 1) == 1)
		;
	close(probe);
	cr_assert_geq(dup2(pipe_fds[1], STDERR_FILENO), 0);
	close(pipe_fds[1]);
	reader = pipe_fds[0];
}

/* Read everything up to this word, which must come. */
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
	read_until(text, sizeof text, "stderr is too slow");
	snprintf(expected, sizeof expected, "line %u.", LOG_LINES - 1);
	cr_expect(strstr(text, expected));
	snprintf(expected, sizeof expected, "line %u.", LOG_LINES);
	cr_expect(!strstr(text, expected));
	snprintf(expected, sizeof expected, "quoitd: %u log lines were dropped", SURPLUS);
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

/* ---- lines about users ---- */

static char all_text[2u << 20];

/* Make stderr a file. */
static int record(void)
{
	int file = memfd_create("log", MFD_CLOEXEC);

	cr_assert_geq(dup2(file, STDERR_FILENO), 0);
	return file;
}

static const char *recorded(int file)
{
	ssize_t n = pread(file, all_text, sizeof all_text - 1, 0);

	cr_assert_geq(n, 0);
	all_text[n] = '\0';
	return all_text;
}

static unsigned count(const char *text, const char *words)
{
	unsigned n = 0;

	for (; (text = strstr(text, words)); text++)
		n++;
	return n;
}

static void flood(uint32_t uid, unsigned lines)
{
	for (unsigned i = 0; i < lines; i++)
		log_client(uid, "uid %u.", uid);
}

static uint64_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

Test(log, a_user_has_so_many_lines_a_second_and_no_other_user_has_fewer_for_it)
{
	static const uint32_t others[] = {0,    1064, 1128, 1256,      1000 + (1u << 16),
					  1001, 744,  999,  UINT32_MAX};
	uint64_t start = seconds();
	int file = record();
	const char *text;
	char words[32];

	flood(1000, 5000);
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		flood(others[i], 1);
	text = recorded(file);
	cr_expect_geq(count(text, "uid 1000."), LOG_BURST);
	cr_expect_leq(count(text, "uid 1000."), LOG_BURST * (seconds() - start + 1));
	cr_expect_eq(count(text, "uid 1000.") + log_suppressed(), 5000);
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		snprintf(words, sizeof words, "uid %u.", others[i]);
		cr_expect_eq(count(text, words), 1, "%s", words);
	}
}

Test(log, users_beyond_those_that_are_remembered_share_what_one_has)
{
	enum { USERS = 4 * LOG_UIDS, EACH = 2 * LOG_BURST };
	uint64_t start = seconds();
	int file = record();
	char words[32];

	for (uint32_t uid = 0; uid < USERS; uid++)
		flood(uid, EACH);
	cr_expect_leq(count(recorded(file), "uid "),
		      (LOG_UIDS + 1) * LOG_BURST * (seconds() - start + 1));
	for (uint32_t uid = 0; uid < LOG_UIDS; uid++) {
		snprintf(words, sizeof words, "uid %u.", uid);
		cr_expect_geq(count(all_text, words), LOG_BURST, "%s", words);
	}
	cr_expect_eq(count(all_text, "uid ") + log_suppressed(), USERS * EACH);
}

Test(log, what_was_left_out_about_a_user_is_said_in_its_next_line)
{
	uint64_t left_out = 0;
	int file = record();
	unsigned lines;

	flood(1000, 5000);
	lines = count(recorded(file), "\n");
	do { /* until the next second has begun */
		usleep(10000);
		flood(1000, 1);
	} while (count(recorded(file), "\n") == lines);
	for (const char *at = all_text; (at = strstr(at, "uid 1000. (")); at++)
		left_out += strtoull(at + strlen("uid 1000. ("), NULL, 10);
	cr_expect_eq(left_out, log_suppressed());
}

/* SPDX-License-Identifier: MIT */
/* test_restart.c - the pauses before a process is started again, and the words for its end */
#include <signal.h>

#include <criterion/criterion.h>

#include "launch/restart.h"

#define MS UINT64_C(1000000)

Test(restart, pauses_double_up_to_ten_seconds)
{
	static const uint64_t ms[] = {100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000};
	uint64_t pause = 0;

	for (size_t i = 0; i < sizeof ms / sizeof ms[0]; i++) {
		pause = restart_pause_ns(100 * MS, pause, 10 * MS);
		cr_expect_eq(pause, ms[i] * MS, "pause %zu is %lu ns", i, (unsigned long)pause);
	}
}

Test(restart, a_process_that_was_well_has_the_first_pause_again)
{
	cr_expect_eq(restart_pause_ns(100 * MS, 6400 * MS, RESTART_WELL_NS - 1), 10000 * MS);
	cr_expect_eq(restart_pause_ns(100 * MS, 6400 * MS, RESTART_WELL_NS), 100 * MS);
	cr_expect_eq(restart_pause_ns(10000 * MS, 0, 0), 10000 * MS);
	cr_expect_eq(restart_pause_ns(10000 * MS, 10000 * MS, 0), 10000 * MS);
}

static void expect_end(int status, const char *words)
{
	char text[96];

	restart_say_end(status, text, sizeof text);
	cr_expect_str_eq(text, words);
}

Test(restart, words_say_how_it_ended)
{
	expect_end(SIGSEGV, "was killed by signal 11 (Segmentation fault)");
	expect_end(SIGKILL, "was killed by signal 9 (Killed)");
	expect_end(SIGABRT | 0x80, "was killed by signal 6 (Aborted)"); /* with a core */
	expect_end(0, "ended with status 0");
	expect_end(7 << 8, "ended with status 7");
}

static void expect_time(uint64_t ns, const char *words)
{
	char text[32];

	restart_say_time(ns, text, sizeof text);
	cr_expect_str_eq(text, words);
}

Test(restart, short_times_are_not_said_to_be_none)
{
	expect_time(0, "0.000 s");
	expect_time(4 * MS, "0.004 s");
	expect_time(94 * MS, "0.094 s");
	expect_time(95 * MS, "0.1 s");
	expect_time(3210 * MS, "3.2 s");
	expect_time(86400000 * MS, "86400.0 s");
}

/* SPDX-License-Identifier: MIT */
/* test_trace_watch.c - notice new files in a folder */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "trace/watch.h"

static char path[] = "/tmp/quoit-watch.XXXXXX";
static int folder;

static void make_folder(void)
{
	cr_assert(mkdtemp(path));
	folder = open(path, O_RDONLY | O_DIRECTORY);
	cr_assert_geq(folder, 0);
}

static void remove_folder(void)
{
	(void)unlinkat(folder, "file", 0);
	close(folder);
	rmdir(path);
}

TestSuite(trace_watch, .init = make_folder, .fini = remove_folder);

static bool wakes(int watch)
{
	struct pollfd event = {.fd = watch, .events = POLLIN};

	return poll(&event, 1, 0) == 1;
}

static void make_file(void)
{
	int fd = openat(folder, "file", O_WRONLY | O_CREAT, 0600);

	cr_assert_eq(write(fd, "x", 1), 1);
	close(fd);
}

Test(trace_watch, a_file_that_comes_or_goes_is_news_once)
{
	int watch = watch_open(folder);

	cr_assert_geq(watch, 0);
	cr_expect_not(wakes(watch));
	make_file();
	cr_expect(wakes(watch), "who waits for it is woken");
	cr_expect(watch_news(watch));
	cr_expect_not(watch_news(watch));
	make_file();
	cr_expect_not(watch_news(watch), "it was there, and is only written to");
	cr_assert_eq(unlinkat(folder, "file", 0), 0);
	cr_expect(watch_news(watch));
	watch_close(watch);
}

Test(trace_watch, one_that_cannot_be_had_has_no_news)
{
	int watch = watch_open(-1);

	cr_expect_lt(watch, 0);
	cr_expect_not(watch_news(watch));
	watch_close(watch);
}

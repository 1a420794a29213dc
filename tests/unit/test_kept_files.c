/* SPDX-License-Identifier: MIT */
/* test_kept_files.c - keep files from cleaners that go by times, and from those that go by locks */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/kept_files.h"

#define HOUR_NS UINT64_C(3600000000000)

static char folder[] = "/tmp/quoit-unit-XXXXXX";
static int directory;

static void open_folder(void)
{
	cr_assert(mkdtemp(folder));
	directory = open(folder, O_RDONLY | O_DIRECTORY);
	close(openat(directory, "totals", O_CREAT | O_WRONLY, 0444));
	cr_assert_eq(symlinkat("/etc/hostname", directory, "link"), 0);
}

static void close_folder(void)
{
	(void)unlinkat(directory, "totals", 0);
	(void)unlinkat(directory, "link", 0);
	close(directory);
	(void)rmdir(folder);
}

TestSuite(kept_files, .init = open_folder, .fini = close_folder);

static void make_old(void)
{
	const struct timespec times[2] = {{1, 0}, {1, 0}};

	cr_assert_eq(utimensat(directory, "totals", times, 0), 0);
	cr_assert_eq(futimens(directory, times), 0);
}

static bool is_old(void)
{
	struct stat file, itself;

	cr_assert_eq(fstatat(directory, "totals", &file, 0), 0);
	cr_assert_eq(fstat(directory, &itself), 0);
	return file.st_mtime == 1 || file.st_atime == 1 || itself.st_mtime == 1;
}

Test(kept_files, once_an_hour_they_are_new)
{
	struct kept_files k = {directory, 5 * HOUR_NS};
	struct stat before, after;

	(void)stat("/etc/hostname", &before);
	make_old();
	kept_files_look(&k, 5 * HOUR_NS - 1);
	cr_expect(is_old());
	kept_files_look(&k, 5 * HOUR_NS);
	cr_expect_not(is_old());
	make_old();
	kept_files_look(&k, 6 * HOUR_NS - 1);
	cr_expect(is_old());
	kept_files_look(&k, 6 * HOUR_NS);
	cr_expect_not(is_old());
	(void)stat("/etc/hostname", &after);
	cr_expect_eq(before.st_mtime, after.st_mtime); /* the target of a link is not ours */
}

static bool may_be_cleaned(void)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY), rc = flock(fd, LOCK_EX | LOCK_NB);

	close(fd);
	return rc == 0;
}

Test(kept_files, a_folder_of_ones_own_is_locked)
{
	kept_files_lock(directory);
	cr_expect_not(may_be_cleaned());
}

Test(kept_files, a_folder_of_everybody_is_not)
{
	cr_assert_eq(fchmod(directory, 01777), 0);
	kept_files_lock(directory);
	cr_expect(may_be_cleaned());
}

/* SPDX-License-Identifier: MIT */
/* test_sessions.c - reading all sessions at once, when there is no memory for them */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "counters_case.h"
#include "read/sessions.h"

static char folder[] = "/tmp/quoit-sessions-XXXXXX";
static struct session_files files;
static struct sessions read_ones;

/* libc's, for the whole program; without memory it fails for rows of sessions. */
static bool memory_is_out;

void *reallocarray(void *old, size_t count, size_t bytes)
{
	if (memory_is_out && bytes == sizeof(struct session_row)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, count * bytes);
}

static void put(const char *name, const void *bytes, size_t size)
{
	char path[128];
	int fd;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

static void put_session(uint64_t number)
{
	struct quoit_session_stats session;
	char name[64];

	counters_case_session(&session);
	session.session = number;
	snprintf(name, sizeof name, QUOIT_STATS_SESSION, (unsigned long long)number);
	put(name, &session, sizeof session);
}

static void make_files(void)
{
	static const char *const folders[] = {QUOIT_STATS_PRIVATE, QUOIT_STATS_SESSIONS};
	struct quoit_totals totals;
	char path[128];

	cr_assert(mkdtemp(folder));
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
		cr_assert_eq(mkdir(path, 0700), 0);
	}
	counters_case_totals(&totals);
	put(QUOIT_STATS_TOTALS, &totals, sizeof totals);
	put_session(1);
	put_session(2);
	snprintf(path, sizeof path, "%s/socket", folder);
	cr_assert_eq(session_files_open(&files, path), 0);
}

static void remove_files(void)
{
	char line[128];

	sessions_free(&read_ones);
	session_files_close(&files);
	snprintf(line, sizeof line, "rm -r %s", folder);
	cr_expect_eq(system(line), 0);
}

TestSuite(sessions, .init = make_files, .fini = remove_files);

Test(sessions, all_are_read)
{
	cr_expect_eq(sessions_read(&files, &read_ones), 0);
	cr_expect_eq(read_ones.count, 2);
}

Test(sessions, without_memory_for_them_reading_fails_instead_of_showing_a_few)
{
	memory_is_out = true;
	cr_expect_eq(sessions_read(&files, &read_ones), -ENOMEM);
	cr_expect_eq(read_ones.count, 0);
}

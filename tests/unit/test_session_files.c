/* SPDX-License-Identifier: MIT */
/* test_session_files.c - list and open sessions' files while quoitd's folder comes and goes */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "read/session_files.h"

static char folder[] = "/tmp/quoit-files-XXXXXX";
static struct session_files f;

static void run(const char *format)
{
	char line[1024];

	snprintf(line, sizeof line, "cd %s && %s", folder, format);
	cr_assert_eq(system(line), 0, "%s", line);
}

static void make_folder(void)
{
	char socket[64];

	cr_assert(mkdtemp(folder));
	snprintf(socket, sizeof socket, "%s/socket", folder);
	run("mkdir -p " QUOIT_STATS_SESSIONS);
	cr_assert_eq(session_files_open(&f, socket), 0);
}

static void remove_folder(void)
{
	session_files_close(&f);
	run("rm -r *; rmdir $PWD");
}

TestSuite(session_files, .init = make_folder, .fini = remove_folder);

/* The sessions with counters, as "1 2 3 ". */
static const char *listed(void)
{
	static char text[256];
	struct session_list list;
	int n = 0;

	*text = '\0';
	cr_expect_eq(session_files_list(&f, QUOIT_COUNTERS_SESSION, &list), 0);
	for (size_t i = 0; i < list.count; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "%llu ",
			      (unsigned long long)list.number[i]);
	free(list.number);
	return text;
}

/* The least descriptor that is free: it grows by each one that is left open. */
static int next_free(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	close(fd);
	return fd;
}

Test(session_files, are_listed_by_number_each_once)
{
	run("cd " QUOIT_STATS_SESSIONS " && touch session.10 session.9 session.100 session.07 "
	    "session.+5 session.x session. session.3x latency.4 other");
	cr_expect_str_eq(listed(), "9 10 100 ");
}

Test(session_files, many_are_listed_whole)
{
	struct session_list list;

	run("cd " QUOIT_STATS_SESSIONS " && seq -f session.%.0f 1000 | xargs touch");
	cr_expect_eq(session_files_list(&f, QUOIT_COUNTERS_SESSION, &list), 0);
	cr_expect_eq(list.count, 1000);
	cr_expect_eq(list.number[999], 1000);
	free(list.number);
}

Test(session_files, are_those_of_the_quoitd_that_runs_now)
{
	run("touch " QUOIT_STATS_SESSIONS "/session.1");
	cr_expect_str_eq(listed(), "1 ");
	run("mv " QUOIT_STATS_SESSIONS " old; mkdir " QUOIT_STATS_SESSIONS
	    "; touch " QUOIT_STATS_SESSIONS "/session.2");
	cr_expect_str_eq(listed(), "2 ");
	run("rm -r " QUOIT_STATS_SESSIONS);
	cr_expect_str_eq(listed(), "");
	cr_expect_lt(session_files_get(&f, QUOIT_COUNTERS_SESSION, 2), 0);
}

Test(session_files, no_descriptor_is_left_of_a_folder_that_has_gone)
{
	const int free_one = next_free();

	for (unsigned i = 0; i < 5; i++) {
		run("mv " QUOIT_STATS_SESSIONS " old; mkdir " QUOIT_STATS_SESSIONS);
		cr_expect_str_eq(listed(), "");
		run("rm -r old");
	}
	cr_expect_eq(next_free(), free_one);
	run("rmdir " QUOIT_STATS_SESSIONS);
	cr_expect_str_eq(listed(), "");
	cr_expect_lt(next_free(), free_one, "the folder's own is closed");
	run("mkdir " QUOIT_STATS_SESSIONS);
	cr_expect_str_eq(listed(), "");
	cr_expect_eq(next_free(), free_one);
}

Test(session_files, closing_leaves_no_descriptor)
{
	const int directory = f.directory, own = f.folder;

	session_files_close(&f);
	cr_expect_eq(fcntl(directory, F_GETFD), -1);
	cr_expect_eq(fcntl(own, F_GETFD), -1);
}

Test(session_files, are_read_whole_unless_they_are_empty)
{
	char bytes[16];

	run("cd " QUOIT_STATS_SESSIONS " && printf hello >session.1 && touch session.2");
	cr_expect_eq(session_files_read(&f, QUOIT_COUNTERS_SESSION, 1, bytes, sizeof bytes), 5);
	cr_expect_eq(strncmp(bytes, "hello", 5), 0);
	cr_expect_eq(session_files_read(&f, QUOIT_COUNTERS_SESSION, 2, bytes, sizeof bytes),
		     -ENOENT, "the session has ended");
	cr_expect_eq(session_files_read(&f, QUOIT_COUNTERS_SESSION, 3, bytes, sizeof bytes),
		     -ENOENT);
	cr_expect_eq(session_files_read(&f, QUOIT_COUNTERS_SESSION, 1, bytes, 4), -EBADMSG,
		     "it is longer");
}

Test(session_files, a_folder_that_rests_is_not_looked_at_again)
{
	struct counters_totals totals = {0};
	bool changed = true;

	cr_expect(session_files_have_changed(&f, &totals), "never looked at");
	cr_expect(session_files_have_changed(&f, &totals), "a file may come within the same tick");
	run("touch -d '1 minute ago' " QUOIT_STATS_SESSIONS);
	cr_expect(session_files_have_changed(&f, &totals));
	changed = session_files_have_changed(&f, &totals);
	cr_expect_not(changed);
	run("touch -d '1 minute ago' " QUOIT_STATS_SESSIONS "/session.3");
	cr_expect(session_files_have_changed(&f, &totals));
}

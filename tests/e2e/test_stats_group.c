/* SPDX-License-Identifier: MIT */
/*
 * test_stats_group.c - a session's counter files can be read by its user and by the configured
 * group
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <quoit/stats.h>

#include "configuration.h"
#include "offer.h"
#include "process.h"
#include "recorder.h"
#include "users.h"

#define CAROL 4000009u

static char said[4096];
static struct configuration configuration;

/* 0: no group. */
static void configure(unsigned group)
{
	cr_assert(group ? configuration_write(&configuration, "q.conf", "stats-group = %u\n", group)
			: configuration_write(&configuration, "q.conf", "%s", ""));
}

static void start(struct daemon *d, unsigned group)
{
	const char *options[] = {configuration.option, NULL};

	if (geteuid() != 0)
		cr_skip("only root can be other users");
	cr_assert(configuration_make(&configuration, "%s", ""));
	configure(group);
	users_start(d, options);
}

static void stop(struct daemon *d)
{
	daemon_stop(d);
	cr_expect(configuration_remove(&configuration));
}

/* Returns its exit status. */
static int run_ps(const struct daemon *d, uid_t uid, gid_t gid)
{
	const char *words[] = {"quoit", "ps", "--socket", d->socket, "-o", "uid=", NULL};

	return users_run(uid, gid, said, sizeof said, words);
}

/* Expect `quoit ps` of this user with this group to show the sessions of these users. */
static void expect_sessions(const struct daemon *d, uid_t uid, gid_t gid, const char *expected)
{
	(void)run_ps(d, uid, gid);
	cr_expect_eq(strncmp(said, expected, strlen(expected)), 0, "uid %u, group %u: '%s'", uid,
		     gid, said);
	cr_expect_not(strstr(said + strlen(expected), "400000"), "uid %u, group %u: '%s'", uid, gid,
		      said); /* but it says how many it cannot see */
}

/* May this user with this group read this file of the runtime directory? */
static bool reads(const struct daemon *d, const char *name, uid_t uid, gid_t gid)
{
	char path[128];

	snprintf(path, sizeof path, "%s/%s", d->folder, name);
	cr_assert_eq(access(path, F_OK), 0, "%s", path);
	return users_reads(path, uid, gid);
}

Test(stats_group, without_one_each_user_reads_its_own)
{
	struct daemon d;
	pid_t alice, bob;

	start(&d, 0);
	alice = users_open(&d, USERS_ALICE, USERS_GROUP);
	bob = users_open(&d, USERS_BOB, USERS_GROUP);
	expect_sessions(&d, USERS_ALICE, USERS_ALICE, "4000001\n");
	expect_sessions(&d, CAROL, USERS_GROUP, "");
	expect_sessions(&d, 0, 0, "4000001\n4000002\n");
	users_close(alice);
	users_close(bob);
	stop(&d);
}

Test(stats_group, its_members_read_all_counters_and_no_trace)
{
	struct daemon d;
	pid_t alice, bob;
	int recorder;

	start(&d, USERS_GROUP);
	alice = users_open(&d, USERS_ALICE, USERS_ALICE);
	bob = users_open(&d, USERS_BOB, USERS_BOB);
	expect_sessions(&d, USERS_ALICE, USERS_ALICE, "4000001\n");
	expect_sessions(&d, CAROL, USERS_GROUP, "4000001\n4000002\n");
	expect_sessions(&d, CAROL, CAROL, "");
	cr_expect(reads(&d, "private/sessions/session.1", CAROL, USERS_GROUP));
	cr_expect(reads(&d, "private/sessions/latency.1", CAROL, USERS_GROUP));
	cr_expect_not(reads(&d, "private/sessions/session.1", CAROL, CAROL));
	cr_assert_eq(seteuid(USERS_ALICE), 0);
	recorder = recorder_connect(&d);
	cr_assert_eq(seteuid(0), 0);
	cr_expect_eq(recorder_ask(recorder, 0, 0).result, 0);
	cr_expect_not(reads(&d, "private/sessions/trace.1", CAROL, USERS_GROUP));
	cr_expect_not(
		reads(&d, "private/sessions/trace.1", USERS_ALICE, USERS_ALICE)); /* by path */
	close(recorder);
	users_close(alice);
	users_close(bob);
	stop(&d);
}

/* What `quoit ls` or `quoit calls` shows of this column to this user with this group. */
static void expect_column(const struct daemon *d, const char *command, uid_t uid, gid_t gid,
			  const char *column, const char *wanted)
{
	const char *words[] = {"quoit",        command, "--socket", d->socket,
			       "--no-headers", "-o",    column,     NULL};

	(void)users_run(uid, gid, said, sizeof said, words);
	cr_expect_str_eq(said, wanted, "%s of %s to %u of %u: '%s'", column, command, uid, gid,
			 said);
}

/* What is done with services and locks is no less than a session's counters. */
Test(stats_group, its_members_see_what_others_do_with_each_other)
{
	const struct quoit_serve_params own = {.lanes = 1};
	struct offer *o = offer_make();
	pid_t server, caller;
	struct daemon d;

	start(&d, USERS_GROUP);
	server = offer_serve(o, d.socket, "fft", &own, (struct offer_who){USERS_ALICE, 0});
	caller = offer_call(d.socket, "fft", 3, (struct offer_who){USERS_ALICE, 0});
	expect_column(&d, "ls", CAROL, USERS_GROUP, "callers", "1\n");
	expect_column(&d, "calls", CAROL, USERS_GROUP, "uid", "4000001\n");
	expect_column(&d, "ls", CAROL, CAROL, "callers", "");
	expect_column(&d, "calls", CAROL, CAROL, "uid", "");
	offer_end(caller);
	offer_end(server);
	offer_free(o);
	stop(&d);
}

static void expect_alice_is_told(const struct daemon *d)
{
	cr_expect_eq(run_ps(d, USERS_ALICE, USERS_ALICE), 1);
	cr_expect(strstr(said, "your sessions are not shown"), "%s", said);
}

/* The folder is closed to her, so quoitd must answer. */
Test(stats_group, a_user_sees_no_session_while_quoitd_hangs_and_is_told_why)
{
	struct daemon d;
	pid_t alice;

	start(&d, 0);
	alice = users_open(&d, USERS_ALICE, USERS_ALICE);
	process_stop(d.pid);
	expect_alice_is_told(&d);
	expect_sessions(&d, 0, 0, "4000001\n");
	cr_assert_eq(kill(d.pid, SIGCONT), 0);
	expect_sessions(&d, USERS_ALICE, USERS_ALICE, "4000001\n");
	users_close(alice);
	stop(&d);
}

Test(stats_group, a_user_sees_no_session_of_a_dead_quoitd_and_is_told_why)
{
	struct daemon d;
	pid_t alice;

	start(&d, 0);
	alice = users_open(&d, USERS_ALICE, USERS_ALICE);
	daemon_kill(&d);
	expect_alice_is_told(&d);
	cr_expect_not(strstr(said, "of other users"), "%s", said);
	users_close(alice);
	stop(&d);
}

/* Sessions beyond one reply's list; none of Bob's among them. */
Test(stats_group, a_user_sees_all_of_many_own_sessions)
{
	struct daemon d;
	unsigned lines = 0;
	uint8_t count;
	pid_t alice, bob;

	start(&d, 0);
	bob = users_open(&d, USERS_BOB, USERS_BOB);
	alice = users_open_many(&d, USERS_ALICE, USERS_ALICE, 40, &count);
	cr_assert_eq(count, 40);
	expect_sessions(&d, USERS_BOB, USERS_BOB, "4000002\n40 sessions of other users");
	(void)run_ps(&d, USERS_ALICE, USERS_ALICE);
	for (const char *at = said; (at = strstr(at, "4000001\n")); at++)
		lines++;
	cr_expect_eq(lines, 40, "%s", said);
	users_close(alice);
	users_close(bob);
	stop(&d);
}

/* Records while the user's sessions come and go: of one that was there, and of a later one. */
Test(stats_group, a_user_records_its_own_sessions_and_no_others)
{
	const char *words[] = {"quoit", "trace", "record",   "-a", "-t", "1",
			       "-o",    NULL,    "--socket", NULL, NULL};
	char path[160];
	struct daemon d;
	pid_t alice, bob;

	start(&d, 0);
	snprintf(path, sizeof path, "%s/alice", configuration.folder);
	words[7] = path;
	words[9] = d.socket;
	cr_assert_eq(chmod(configuration.folder, 0777), 0);
	alice = users_open(&d, USERS_ALICE, USERS_ALICE);
	bob = users_open(&d, USERS_BOB, USERS_BOB);
	cr_expect_eq(users_run(USERS_ALICE, USERS_ALICE, said, sizeof said, words), 0, "%s", said);
	cr_expect(strstr(said, " of 1 sessions"), "%s", said);
	cr_expect_eq(unlink(path), 0);
	users_close(alice);
	users_close(bob);
	stop(&d);
}

Test(stats_group, the_folder_is_closed_and_goes_with_quoitd)
{
	struct stat st;
	struct daemon d;
	char path[160];

	start(&d, 0);
	snprintf(path, sizeof path, "%s/" QUOIT_STATS_PRIVATE, d.folder);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0700);
	cr_expect_not(reads(&d, QUOIT_STATS_SESSIONS, USERS_ALICE, USERS_GROUP));
	stop(&d);
	cr_expect_neq(access(path, F_OK), 0);
}

/* A recorder hears neither that another user's session exists nor how many there are. */
Test(stats_group, a_user_records_its_own_sessions_alone)
{
	struct daemon d;
	pid_t alice, bob;
	int recorder;

	start(&d, USERS_GROUP);
	alice = users_open(&d, USERS_ALICE, USERS_GROUP);
	bob = users_open(&d, USERS_BOB, USERS_GROUP);
	cr_assert_eq(seteuid(USERS_ALICE), 0);
	recorder = recorder_connect(&d);
	cr_assert_eq(seteuid(0), 0);
	cr_expect_eq(recorder_ask(recorder, 2, 0).result, -ESRCH, "it is another user's");
	cr_expect_eq(recorder_ask(recorder, 99, 0).result, -ESRCH, "there is none");
	cr_expect_eq(recorder_ask(recorder, 0, 0).trace.sessions, 1);
	cr_expect(recorder_file_is(&d, 1, true));
	cr_expect(recorder_file_is(&d, 2, false));
	users_close(users_open(&d, USERS_BOB, USERS_GROUP));
	cr_expect(recorder_file_is(&d, 3, false), "nor is one that comes later recorded");
	close(recorder);
	users_close(alice);
	users_close(bob);
	stop(&d);
}

Test(stats_group, a_reload_is_for_new_sessions)
{
	struct daemon d;
	pid_t alice, bob;

	start(&d, 0);
	alice = users_open(&d, USERS_ALICE, USERS_ALICE);
	configure(USERS_GROUP);
	cr_assert_eq(kill(d.pid, SIGHUP), 0);
	cr_expect_eq(daemon_log_count(&d, "the configuration was reloaded", 1), 1);
	bob = users_open(&d, USERS_BOB, USERS_BOB);
	expect_sessions(&d, CAROL, USERS_GROUP, "4000002\n");
	users_close(alice);
	users_close(bob);
	stop(&d);
}

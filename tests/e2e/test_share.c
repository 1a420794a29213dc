/* SPDX-License-Identifier: MIT */
/* test_share.c - `quoit share`: who may see and change shares, and for how long */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "configuration.h"
#include "users.h"

static char said[8192];
static struct configuration configuration;

/* Run `quoit share` as this user; returns its exit status. */
static int share(const struct daemon *d, uid_t uid, const char *user, const char *weight)
{
	const char *words[] = {"quoit", "share", "--socket", d->socket, user, weight, NULL};

	return users_run(uid, uid, said, sizeof said, words);
}

static void start(struct daemon *d)
{
	const char *options[] = {configuration.option, NULL};

	if (geteuid() != 0)
		cr_skip("only root can be other users");
	cr_assert(configuration_make(
		&configuration,
		"uid-share = 70\n[group %u]\nshare = 300\nmemory = 1G\n[user %u]\nshare = 400\n",
		USERS_GROUP, USERS_BOB));
	users_start(d, options);
}

static void stop(struct daemon *d)
{
	daemon_stop(d);
	cr_expect(configuration_remove(&configuration));
}

/* Expect a row that begins with these words, separated by one blank each. */
static void expect_row(const char *words)
{
	char text[sizeof said + 1] = "\n", *to = text + 1;

	for (const char *from = said; *from; from++)
		if (*from != ' ' || from[1] != ' ')
			*to++ = *from;
	*to = '\0';
	cr_expect(strstr(text, words), "'%s' in: %s", words, text);
}

Test(share, who_is_in_charge_sees_all_and_others_themselves)
{
	struct daemon d;
	pid_t alice, bob;

	start(&d);
	alice = users_open(&d, USERS_ALICE, USERS_GROUP);
	bob = users_open(&d, USERS_BOB, USERS_GROUP);
	cr_expect_eq(share(&d, 0, NULL, NULL), 0, "%s", said);
	expect_row("\n4000001 300 group 1 1 ");
	expect_row("q.conf, line 3");
	expect_row("\n4000002 400 user 1 1 ");
	expect_row("q.conf, line 6");
	expect_row("\nroot 70 all 0 1 ");
	cr_expect_eq(share(&d, USERS_ALICE, NULL, NULL), 0, "%s", said);
	expect_row("\n4000001 300 group 1 2 ");
	expect_row(" - - 0.00 "); /* this user may not see the parts of others */
	cr_expect_not(strstr(said, "4000002"), "%s", said);
	cr_expect_not(strstr(said, "root"), "%s", said);
	cr_expect_eq(share(&d, USERS_ALICE, "4000002", NULL), 1, "%s", said);
	cr_expect(strstr(said, "does not know this user"), "%s", said);
	cr_expect_eq(share(&d, 0, "4000002", NULL), 0, "%s", said);
	expect_row("\n4000002 400 ");
	cr_expect_not(strstr(said, "4000001"), "%s", said);
	users_close(alice);
	users_close(bob);
	stop(&d);
}

Test(share, a_change_is_for_who_is_in_charge_and_says_how_long_it_lasts)
{
	struct daemon d;
	pid_t alice;

	start(&d);
	alice = users_open(&d, USERS_ALICE, USERS_GROUP);
	cr_expect_eq(share(&d, USERS_ALICE, "4000001", "9000"), 1);
	cr_expect(strstr(said, "only root and quoitd's own user"), "%s", said);
	cr_expect_eq(share(&d, 0, "4000001", "10001"), 1);
	cr_expect(strstr(said, "allowed are 1 to 10000"), "%s", said);
	cr_expect_eq(share(&d, 0, "no-such-user", "1"), 2);
	cr_expect_eq(share(&d, 0, "4000001", "x"), 2);
	cr_expect_eq(share(&d, 0, "4000001", "9000"), 0, "%s", said);
	cr_expect(strstr(said, "until quoitd restarts or reloads"), "%s", said);
	cr_expect(strstr(said, configuration.file), "%s", said);
	cr_expect(strstr(said, "[user 4000001]\nshare = 9000\n"), "%s", said);
	cr_expect_eq(share(&d, USERS_ALICE, NULL, NULL), 0);
	expect_row("\n4000001 9000 set 1 ");
	cr_assert_eq(kill(d.pid, SIGHUP), 0);
	cr_expect_eq(daemon_log_count(&d, "the configuration was reloaded", 1), 1);
	cr_expect_eq(share(&d, USERS_ALICE, NULL, NULL), 0);
	expect_row("\n4000001 300 group 1 ");
	users_close(alice);
	stop(&d);
}

Test(share, it_may_be_set_before_its_user_comes)
{
	struct daemon d;
	pid_t bob;

	start(&d);
	cr_expect_eq(share(&d, 0, "4000002", "5"), 0, "%s", said);
	bob = users_open(&d, USERS_BOB, USERS_GROUP);
	cr_expect_eq(share(&d, 0, "4000002", NULL), 0, "%s", said);
	expect_row("\n4000002 5 set 1 ");
	expect_row(" 1.0G "); /* from its group's section all the same */
	users_close(bob);
	stop(&d);
}

Test(share, of_memory_something_is_left_for_who_comes)
{
	static const char *const options[] = {"--memory=256M", NULL};
	uint8_t sessions[3];
	pid_t alice[3], bob;
	struct daemon d;

	users_start(&d, options);
	for (unsigned i = 0; i < 2; i++)
		alice[i] = users_open_many(&d, USERS_ALICE, USERS_GROUP, 32, &sessions[i]);
	cr_expect_lt(sessions[0], 32);
	cr_expect_eq(sessions[1], 0, "another process got %u", sessions[1]);
	bob = users_open(&d, USERS_BOB, USERS_GROUP);
	cr_expect_eq(share(&d, 0, "4000001", "1000"), 0, "%s", said);
	alice[2] = users_open_many(&d, USERS_ALICE, USERS_GROUP, 32, &sessions[2]);
	cr_expect_geq(sessions[2], 1);
	for (unsigned i = 0; i < 3; i++)
		users_close(alice[i]);
	users_close(bob);
	daemon_stop(&d);
}

Test(share, there_is_json)
{
	struct daemon d;
	const char *words[] = {"quoit", "share", "--json", "--socket", d.socket, NULL};
	json_t *rows;

	start(&d);
	cr_expect_eq(users_run(USERS_ALICE, USERS_ALICE, said, sizeof said, words), 0);
	rows = json_loads(said, 0, NULL);
	cr_assert_eq(json_array_size(rows), 1, "%s", said);
	cr_expect_eq(json_integer_value(json_object_get(json_array_get(rows, 0), "share")), 70);
	cr_expect_str_eq(json_string_value(json_object_get(json_array_get(rows, 0), "from")),
			 "all");
	json_decref(rows);
	stop(&d);
}

/* ---- the choice of a reactor ---- */

/* The reactor of this process's session; -1: there is no session. */
static int home(const struct daemon *d, pid_t pid)
{
	char number[16];
	const char *words[] = {"quoit", "ps",   "--no-headers", "-o",      "reactor",
			       "-p",    number, "--socket",     d->socket, NULL};

	snprintf(number, sizeof number, "%d", (int)pid);
	return users_run(0, 0, said, sizeof said, words) ? -1 : atoi(said);
}

static void leave(const struct daemon *d, pid_t pid)
{
	users_close(pid);
	for (unsigned ms = 0; home(d, pid) >= 0; ms++) {
		cr_assert_lt(ms, 10000);
		usleep(1000);
	}
}

/* However many sessions other users have there. */
Test(share, of_each_user_every_reactor_has_as_many_sessions)
{
	static const char *const options[] = {"--reactors=2", "--memory=2G", "--lease=32M", NULL};
	pid_t alice[4], bob[2];
	struct daemon d;

	users_start(&d, options);
	for (unsigned i = 0; i < 4; i++)
		alice[i] = users_open(&d, USERS_ALICE, USERS_GROUP);
	for (unsigned i = 0; i < 2; i++)
		cr_expect_eq(home(&d, alice[i]) + home(&d, alice[i + 2]), 2 * home(&d, alice[i]));
	cr_expect_neq(home(&d, alice[0]), home(&d, alice[1]));
	leave(&d, alice[1]);
	leave(&d, alice[3]); /* one reactor has two of her sessions, the other none */
	for (unsigned i = 0; i < 2; i++)
		bob[i] = users_open(&d, USERS_BOB, USERS_GROUP);
	cr_expect_neq(home(&d, bob[0]), home(&d, alice[0]));
	cr_expect_eq(home(&d, bob[1]), home(&d, alice[0]));
	leave(&d, bob[1]); /* quoitd forgets that */
	bob[1] = users_open(&d, USERS_BOB, USERS_GROUP);
	cr_expect_eq(home(&d, bob[1]), home(&d, alice[0]));
	users_close(alice[0]);
	users_close(alice[2]);
	users_close(bob[0]);
	users_close(bob[1]);
	daemon_stop(&d);
}

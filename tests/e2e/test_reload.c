/* SPDX-License-Identifier: MIT */
/*
 * test_reload.c - SIGHUP: options that take effect, options that wait for a restart, and bad files
 * that change nothing
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <quoit.h>

#include "configuration.h"
#include "daemon.h"
#include "tool.h"

#define MIB (UINT64_C(1) << 20)

static struct configuration configuration;

static void configure(const char *text)
{
	cr_assert(configuration_write(&configuration, "q.conf", "%s", text));
}

static void log_to_file(const struct daemon *d)
{
	if (daemon_log_to_file(d) < 0)
		_exit(1);
}

static void start(struct daemon *d, const char *text)
{
	const char *options[] = {configuration.option, "--max-tensors=512", "--log=info", NULL};

	cr_assert(configuration_make(&configuration, "%s", text));
	cr_assert_eq(daemon_start_prepared(d, options, log_to_file), 0);
}

static void stop(struct daemon *d)
{
	daemon_stop(d);
	cr_expect(configuration_remove(&configuration));
}

/* Reload, and expect the words to be logged for the n-th time. */
static void reload(const struct daemon *d, const char *words, unsigned nth)
{
	cr_assert_eq(kill(d->pid, SIGHUP), 0);
	cr_expect_eq(daemon_log_count(d, words, nth), nth, "no '%s'", words);
}

static void expect_value(const struct daemon *d, const char *name, const char *words)
{
	char said[4096];

	cr_expect_eq(tool_run(said, sizeof said, "config --socket=%s %s", d->socket, name), 0, "%s",
		     said);
	cr_expect(strstr(said, words), "'%s' in: %s", words, said);
}

/* The lease of a session that asks for none, or -errno. */
static int64_t default_lease(const struct daemon *d)
{
	struct quoit_open_params options = {.socket = d->socket};
	struct quoit_info info;
	struct quoit_session *q;
	int err = quoit_open(&options, &q);

	if (err < 0)
		return err;
	quoit_get_info(q, &info);
	quoit_close(q, 0);
	return (int64_t)info.host_bytes;
}

Test(reload, what_takes_effect_is_in_force_for_new_sessions)
{
	struct daemon d;
	char text[256];

	start(&d, "lease = 32M\n");
	cr_expect_eq(default_lease(&d), 32 * (int64_t)MIB);
	snprintf(text, sizeof text, "lease = 48M\nmax-tensors = 600\n[user %u]\nlease = 64M\n",
		 geteuid());
	configure(text);
	reload(&d, "the configuration was reloaded", 1);
	cr_expect_eq(default_lease(&d), 64 * (int64_t)MIB);
	expect_value(&d, "lease", "50331648");
	expect_value(&d, "lease", "q.conf, line 1");
	/* the command line overrides the file, as at the start */
	expect_value(&d, "max-tensors", "512");
	stop(&d);
}

Test(reload, with_an_error_the_old_configuration_stays_and_each_line_is_named)
{
	struct daemon d;

	start(&d, "lease = 32M\n");
	configure("lease = 48M\nmemroy = 1\n[user no-such-user]\nshare = 1\n");
	reload(&d, "the one before stays in force", 1);
	cr_expect_eq(
		daemon_log_count(&d, "q.conf, line 2: unknown option 'memroy'; did you mean", 1),
		1);
	cr_expect_eq(
		daemon_log_count(&d, "q.conf, line 3: warning: there is no user 'no-such-user'", 1),
		1);
	cr_expect_eq(default_lease(&d), 32 * (int64_t)MIB);
	expect_value(&d, "lease", "33554432");
	configure("lease = 48M\ndisable = gem\ngpu = sofd\n");
	cr_assert_eq(kill(d.pid, SIGHUP), 0);
	cr_expect_eq(daemon_log_count(&d, "line 2: disable: unknown operation 'gem'", 1), 1);
	cr_expect_eq(daemon_log_count(&d, "line 3: gpu: invalid value 'sofd'", 1), 1);
	cr_expect_eq(daemon_log_count(&d, "the one before stays in force", 2), 2);
	cr_expect_eq(default_lease(&d), 32 * (int64_t)MIB);
	stop(&d);
}

Test(reload, what_needs_a_restart_is_named_and_kept)
{
	struct daemon d;

	start(&d, "lease = 32M\nstart-ms = 9000\n");
	configure("start-ms = 8000\nlease = 48M\ndisable = exp\n");
	reload(&d, "a restart is needed to change: start-ms disable", 1);
	expect_value(&d, "start-ms", "9000");
	expect_value(&d, "start-ms", "kept until a restart");
	cr_expect_eq(default_lease(&d), 48 * (int64_t)MIB);
	stop(&d);
}

Test(reload, sessions_go_on)
{
	struct quoit_open_params options = {0};
	struct daemon d;
	struct quoit_session *q;

	start(&d, "uid-connections = 8\n");
	options.socket = d.socket;
	cr_assert_eq(quoit_open(&options, &q), 0);
	configure("uid-connections = 1\nmemory = 1M\n");
	reload(&d, "the configuration was reloaded", 1);
	cr_expect_lt(default_lease(&d), 0);
	cr_expect(strstr(quoit_open_text(), "allowed are 1;"), "%s", quoit_open_text());
	cr_expect_eq(quoit_close(q, 0), 0);
	configure("uid-connections = 8\n");
	reload(&d, "the configuration was reloaded", 2);
	stop(&d);
}

Test(reload, many_signals_at_once_are_taken)
{
	struct daemon d;

	start(&d, "lease = 32M\n");
	for (unsigned i = 0; i < 100; i++)
		cr_assert_eq(kill(d.pid, SIGHUP), 0);
	configure("lease = 48M\n");
	cr_assert_eq(kill(d.pid, SIGHUP), 0);
	for (unsigned i = 0; i < 3000 && default_lease(&d) != 48 * (int64_t)MIB; i++)
		usleep(10000);
	cr_expect_eq(default_lease(&d), 48 * (int64_t)MIB);
	stop(&d);
}

Test(reload, a_private_quoitd_without_a_file_ends_with_its_terminal)
{
	struct daemon d;
	int status;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	cr_assert_eq(kill(d.pid, SIGHUP), 0);
	cr_assert_eq(waitpid(d.pid, &status, 0), d.pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	d.pid = -1;
	daemon_stop(&d);
}

/* ---- names that do not exist yet ---- */

/* Use a private file of users, to which the test can add some. */
static void with_own_users(const struct daemon *d)
{
	char command[256];

	snprintf(command, sizeof command,
		 "cp /etc/passwd %s/users && mount --bind %s/users /etc/passwd", d->folder,
		 d->folder);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    system(command) != 0)
		_exit(1);
	log_to_file(d);
}

static void add_user(const struct daemon *d, const char *name, uid_t uid)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/users", d->folder);
	f = fopen(path, "a");
	cr_assert(f);
	fprintf(f, "%s:x:%u:%u::/:/bin/false\n", name, uid, uid);
	cr_assert_eq(fclose(f), 0);
}

/* As if the name server could not be reached. */
static void forget_users(const struct daemon *d)
{
	char command[128];

	snprintf(command, sizeof command, "cp /etc/passwd %s/users", d->folder);
	cr_assert_eq(system(command), 0);
}

static void remove_users(const struct daemon *d)
{
	char path[128];

	snprintf(path, sizeof path, "%s/users", d->folder);
	cr_assert_eq(unlink(path), 0);
}

Test(reload, a_section_counts_once_its_name_is_known, .timeout = 60)
{
	const char *options[] = {configuration.option, "--log=info", NULL};
	struct quoit_open_params p = {0};
	struct quoit_session *s;
	struct daemon d;
	char said[2048];

	if (geteuid() != 0)
		cr_skip_test("a file of users of its own needs root");
	cr_assert(configuration_make(&configuration, "[user quoit-newcomer]\nshare = 321\n"));
	cr_assert_eq(daemon_start_prepared(&d, options, with_own_users), 0);
	cr_expect_eq(daemon_log_count(&d, "warning: there is no user 'quoit-newcomer' now", 1), 1);
	expect_value(&d, "user.quoit-newcomer.share", "no such user yet");
	add_user(&d, "quoit-newcomer", geteuid());
	p.socket = d.socket;
	cr_assert_eq(quoit_open(&p, &s), 0); /* a new session makes quoitd look soon */
	cr_expect_eq(daemon_log_count(&d, "'quoit-newcomer' takes effect", 1), 1);
	cr_expect_eq(tool_run(said, sizeof said, "share --socket=%s", d.socket), 0, "%s", said);
	cr_expect(strstr(said, "321"), "for who is here, too: %s", said);
	expect_value(&d, "user.quoit-newcomer.share", "321");
	forget_users(&d);
	cr_assert_eq(kill(d.pid, SIGHUP), 0);
	cr_expect_eq(daemon_log_count(&d, "warning: there is no user 'quoit-newcomer' now", 2), 2);
	cr_expect_eq(daemon_log_count(&d, "reloaded", 1), 1);
	cr_expect_eq(tool_run(said, sizeof said, "share --socket=%s", d.socket), 0, "%s", said);
	cr_expect(strstr(said, "321"), "a reload meanwhile changes nothing: %s", said);
	cr_assert_eq(quoit_close(s, 0), 0);
	remove_users(&d);
	stop(&d);
}

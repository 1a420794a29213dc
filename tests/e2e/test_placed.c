/* SPDX-License-Identifier: MIT */
/*
 * test_placed.c - quoitd places a session near its client, or says that it cannot: /proc hides
 * processes of other users, as ProtectProc=invisible of its unit does.  tests/vm/placement.c tests
 * the same on two nodes.
 */
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "daemon.h"
#include "hello.h"
#include "tool.h"

#define SERVICE 4000004u /* a uid without an entry in any file */

static void must(bool good, const char *what)
{
	if (!good) {
		perror(what);
		_exit(126);
	}
}

/* Become another user without capabilities, with a /proc that shows only that user's processes. */
static void hide_processes(const struct daemon *d)
{
	must(!unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
		     !mount("proc", "/proc", "proc", 0, "hidepid=invisible"),
	     "a /proc that hides");
	must(!chown(d->folder, SERVICE, SERVICE) && !setgroups(0, NULL) &&
		     !setresgid(SERVICE, SERVICE, SERVICE) && !setresuid(SERVICE, SERVICE, SERVICE),
	     "another user");
	must(access("/proc/1/stat", F_OK) < 0, "processes that are hidden");
}

static void start(struct daemon *d)
{
	static const char *const options[] = {"--private=no", "--lax-memory", NULL};

	if (geteuid() != 0)
		cr_skip("only root can be other users");
	cr_assert_eq(daemon_start_prepared(d, options, hide_processes), 0);
	cr_assert_eq(chmod(d->folder, 0755), 0);
}

static void expect_node(const struct daemon *d, const char *node)
{
	char said[4096];

	cr_expect_eq(
		tool_run(said, sizeof said, "ps --no-headers -o clinode --socket=%s", d->socket),
		0);
	cr_expect_eq(strncmp(said + strspn(said, " "), node, strlen(node)), 0, "not %s: %s", node,
		     said);
}

static bool topo_says_nowhere(const struct daemon *d, unsigned sessions)
{
	char said[16384], words[80];

	snprintf(words, sizeof words, "sessions whose client's node could not be known: %u;",
		 sessions);
	cr_expect_eq(tool_run(said, sizeof said, "topo --socket=%s", d->socket), 0);
	return sessions ? strstr(said, words) != NULL : strstr(said, "could not be known") == NULL;
}

Test(placed, a_client_that_is_hidden_says_itself_where_it_runs)
{
	struct daemon d;
	int fd;

	start(&d);
	fd = hello_say(d.socket, (uint32_t)sched_getcpu() + 1);
	cr_assert_geq(fd, 0);
	expect_node(&d, "0");
	cr_expect(topo_says_nowhere(&d, 0));
	close(fd);
	daemon_stop(&d);
}

/* An impossible CPU counts as unknown: quoitd serves the session, and shows no node. */
Test(placed, where_it_cannot_be_known_ps_and_topo_say_so)
{
	static const uint32_t hints[] = {0, UINT32_MAX, 1u << 20};
	struct daemon d;

	start(&d);
	for (unsigned i = 0; i < sizeof hints / sizeof hints[0]; i++) {
		int fd = hello_say(d.socket, hints[i]);

		expect_node(&d, "-");
		cr_expect(topo_says_nowhere(&d, i + 1));
		close(fd);
		for (int ms = 0; ms < 5000; ms += 10) { /* until the session has gone */
			char said[4096];

			if (tool_run(said, sizeof said, "ps --no-headers --socket=%s", d.socket))
				break;
			usleep(10000);
		}
	}
	daemon_stop(&d);
}

/* The kernel's answer comes before the hint. */
Test(placed, a_hint_counts_only_where_the_kernel_does_not_say)
{
	struct daemon d;
	int fd;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	fd = hello_say(d.socket, UINT32_MAX);
	expect_node(&d, "0");
	cr_expect(topo_says_nowhere(&d, 0));
	close(fd);
	daemon_stop(&d);
}

/* SPDX-License-Identifier: MIT */
/*
 * test_daemon_state.c - tools say whether a quoitd has not started, is up, does not move or is dead
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>

#include "client.h"
#include "daemon.h"
#include "exporter.h"
#include "process.h"
#include "tool.h"

#define SAID_BYTES (64u << 10)

/* Tools that read counter files. */
static const char *const readers[] = {"ps",     "topo",  "stat",  "top --batch -n 1",
				      "config", "share", "kill 1"};

#define READERS     (sizeof readers / sizeof readers[0])
#define FILE_READER 5u /* number of the first of these that connects, and so would start quoitd */

static char folder[] = "/tmp/quoit-state-XXXXXX", path[64];

static void make_folder(void)
{
	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/quoitd.sock", folder);
}

static void remove_folder(void)
{
	(void)unlink(path);
	cr_expect_eq(rmdir(folder), 0);
}

/* The exporter's state and quoit_up. */
static void expect_state(const char *socket, const char *state, double up)
{
	static const char *const states[] = {"up", "silent", "dead", "waiting", "absent"};
	char said[SAID_BYTES], sample[48];

	cr_expect_eq(tool_run(said, sizeof said, "exporter --once --socket=%s", socket), 0);
	cr_expect_eq(exporter_value(said, "quoit_up"), up, "%s", said);
	for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
		snprintf(sample, sizeof sample, "quoit_state{state=\"%s\"}", states[i]);
		cr_expect_eq(exporter_value(said, sample), !strcmp(states[i], state), "%s: %s",
			     sample, said);
	}
}

Test(daemon_state, where_none_is_each_tool_says_how_to_start_one, .init = make_folder,
     .fini = remove_folder)
{
	char said[SAID_BYTES];

	for (size_t i = 0; i < READERS; i++) {
		cr_expect_eq(tool_run(said, sizeof said, "%s --socket=%s", readers[i], path), 1);
		cr_expect(strstr(said, "`systemctl start quoitd.socket`"), "%s: %s", readers[i],
			  said);
		cr_expect(strstr(said, "`quoit run -- PROGRAM`"), "%s: %s", readers[i], said);
		cr_expect(strstr(said, path), "%s: %s", readers[i], said);
	}
	expect_state(path, "absent", 0);
}

Test(daemon_state, where_none_is_the_library_says_how_to_start_one)
{
	struct quoit_open_params p = {.socket = "/nowhere/quoitd.sock"};
	struct quoit_session *s;

	cr_expect_lt(quoit_open(&p, &s), 0);
	cr_expect(strstr(quoit_open_text(), "/nowhere/quoitd.sock"), "%s", quoit_open_text());
	cr_expect(strstr(quoit_open_text(), "`quoit run -- PROGRAM`"), "%s", quoit_open_text());
}

/* systemd holds the socket like this: to connect would start quoitd. */
Test(daemon_state, a_socket_that_waits_is_told_and_not_connected_to, .init = make_folder,
     .fini = remove_folder)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char said[SAID_BYTES];

	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	cr_assert_eq(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
	expect_state(path, "absent", 0);
	cr_assert_eq(listen(fd, 8), 0);
	for (size_t i = 0; i < FILE_READER; i++) {
		cr_expect_eq(tool_run(said, sizeof said, "%s --socket=%s", readers[i], path), 1);
		cr_expect(strstr(said, "quoitd has not started yet"), "%s: %s", readers[i], said);
	}
	expect_state(path, "waiting", 0);
	cr_expect_eq(accept(fd, NULL, NULL), -1);
	cr_expect_eq(errno, EAGAIN, "somebody has connected");
	close(fd);
}

/* A path through a link is the same socket. */
Test(daemon_state, a_link_to_the_folder_leads_to_the_socket, .init = make_folder,
     .fini = remove_folder)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	char link[48], other[64];

	snprintf(link, sizeof link, "%s.link", folder);
	snprintf(other, sizeof other, "%s/quoitd.sock", link);
	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	cr_assert_eq(symlink(folder, link), 0);
	cr_assert_eq(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
	cr_assert_eq(listen(fd, 8), 0);
	expect_state(other, "waiting", 0);
	close(fd);
	(void)unlink(link);
}

static void expect_daemon_state(const struct daemon *d, const char *state)
{
	char said[SAID_BYTES], words[64];

	snprintf(words, sizeof words, "\"daemon_state\": \"%s\"", state);
	(void)tool_run(said, sizeof said, "topo --json --socket=%s", d->socket);
	cr_expect(strstr(said, words), "%s", said);
	(void)tool_run(said, sizeof said, "ps --json --socket=%s", d->socket);
	cr_expect(strstr(said, words), "%s", said);
	expect_state(d->socket, state, !strcmp(state, "up"));
}

static void await_state_of(pid_t pid, char state)
{
	for (unsigned tries = 0; tries < 5000 && process_state(pid) != state; tries++)
		usleep(1000);
	cr_assert_eq(process_state(pid), state);
}

Test(daemon_state, a_tool_that_is_stopped_for_a_while_still_hears_its_answer)
{
	struct quoit_info info;
	struct client c;
	int status;
	pid_t tool;

	client_open(&c, NULL, NULL);
	quoit_get_info(c.s, &info);
	process_stop(c.d.pid);
	tool = fork();
	if (!tool) {
		char program[256], socket[128], session[24];

		snprintf(program, sizeof program, "%s/quoit", tool_folder());
		snprintf(socket, sizeof socket, "--socket=%s", c.d.socket);
		snprintf(session, sizeof session, "%llu", (unsigned long long)info.session);
		execl(program, "quoit", "kill", socket, session, NULL);
		_exit(127);
	}
	usleep(200000); /* if it does not wait for quoitd by then, this tests nothing, and passes */
	await_state_of(tool, 'S');
	process_stop(tool);
	cr_assert_eq(kill(tool, SIGCONT), 0);
	await_state_of(tool, 'S');
	cr_assert_eq(kill(c.d.pid, SIGCONT), 0);
	cr_assert_eq(waitpid(tool, &status, 0), tool);
	cr_expect(WIFEXITED(status));
	cr_expect_eq(WEXITSTATUS(status), 0, "quoitd has ended the session");
	(void)quoit_close(c.s, 0);
	daemon_stop(&c.d);
}

/* A busy machine may keep quoitd from its cores for seconds. */
static void await_daemon_state(const struct daemon *d, const char *state)
{
	char said[SAID_BYTES], words[64];

	snprintf(words, sizeof words, "\"daemon_state\": \"%s\"", state);
	for (unsigned tries = 0; tries < 600; tries++, usleep(100000))
		if (tool_run(said, sizeof said, "topo --json --socket=%s", d->socket) >= 0 &&
		    strstr(said, words))
			return;
}

Test(daemon_state, up_then_silent_then_dead)
{
	struct daemon d;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	await_daemon_state(&d, "up");
	expect_daemon_state(&d, "up");
	process_stop(d.pid);
	await_daemon_state(&d, "silent");
	expect_daemon_state(&d, "silent");
	cr_assert_eq(kill(d.pid, SIGCONT), 0);
	await_daemon_state(&d, "up");
	expect_daemon_state(&d, "up");
	daemon_kill(&d);
	expect_daemon_state(&d, "dead");
	daemon_stop(&d);
}

/* SPDX-License-Identifier: MIT */
/*
 * hostile_identity.c - connections that change hands, sessions of other users, PIDs that are reused
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "callers.h"
#include "ctl_client.h"

/* Open a session in another process, and send its number and the connection through a socket. */
static bool open_elsewhere(struct stage *s, struct raw_client *c, uid_t uid, int to, pid_t *ret)
{
	int status;

	fflush(NULL);
	*ret = fork();
	if (*ret == 0) {
		if (stage_has_users() && setresuid(uid, uid, uid))
			_exit(1);
		_exit(!caller_hello(s, c) || ctl_put(to, &c->info.session, 8, &c->socket, 1));
	}
	return CHECK(s, waitpid(*ret, &status, 0) == *ret && !status);
}

static void connection_in_other_hands_stays_its_openers(struct stage *s)
{
	const struct quoit_session_stats *stats;
	struct raw_client c;
	int pair[2];
	pid_t other;

	CHECK(s, !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	if (!caller_connect(s, &c, CALLER_ALICE) ||
	    !open_elsewhere(s, &c, CALLER_BOB, pair[0], &other))
		return;
	CHECK(s, recv(pair[1], &c.info.session, 8, MSG_PEEK) == 8);
	stats = stage_stats(s, &c);
	if (CHECK(s, stats)) {
		CHECK(s, stats->uid == CALLER_ALICE);
		munmap((void *)(uintptr_t)stats, sizeof *stats);
	}
	close(pair[0]);
	close(pair[1]);
	stage_die(s, &c);
}

static void kill_session(struct stage *s, uint64_t session, uid_t uid, int result)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_KILL), answer;
	struct raw_client c;

	m.end.session = session;
	if (!caller_connect(s, &c, uid))
		return;
	CHECK(s, !ctl_ask(c.socket, &m, -1, &answer) && answer.result == result);
	ctl_leave(s, &c);
}

static void session_is_ended_by_its_user_and_no_other(struct stage *s)
{
	struct raw_client c;

	if (!caller_open(s, &c, CALLER_ALICE))
		return;
	kill_session(s, c.info.session + 1, CALLER_ALICE, -ESRCH);
	kill_session(s, UINT64_MAX, CALLER_ALICE, -ESRCH);
	if (stage_has_users())
		kill_session(s, c.info.session, CALLER_BOB, -ESRCH);
	kill_session(s, c.info.session, CALLER_ALICE, 0);
	kill_session(s, c.info.session, CALLER_ALICE, -ESRCH);
	ctl_expect_end(s, &c, QUOIT_DAEMON_KILL_ASKED, "ended by request");
}

/* Sleep in a new process; with luck it has this pid (0: any). */
static pid_t start_sleeper(pid_t wanted)
{
	pid_t pid;

	if (wanted) {
		FILE *f = fopen("/proc/sys/kernel/ns_last_pid", "we");

		if (!f)
			return -1;
		fprintf(f, "%d", (int)wanted - 1);
		fclose(f);
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

/* The client has died, its connection lives on, and another process has its PID by now. */
static void process_with_a_dead_clients_pid_is_left_alone(struct stage *s)
{
	pid_t client, stranger = -1;
	struct raw_client c;
	uint64_t session;
	int pair[2], status;

	CHECK(s, !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	if (!caller_connect(s, &c, CALLER_ALICE) ||
	    !open_elsewhere(s, &c, CALLER_ALICE, pair[0], &client))
		return;
	raw_close(&c);
	CHECK(s, recv(pair[1], &session, sizeof session, MSG_PEEK) == sizeof session);
	for (unsigned i = 0; i < 100 && stranger != client; i++) {
		if (stranger > 0 && !kill(stranger, SIGKILL))
			(void)waitpid(stranger, NULL, 0);
		stranger = start_sleeper(client);
	}
	if (stranger == client) {
		kill_session(s, session, CALLER_ALICE, 0);
		stage_expect(s, QUOIT_DAEMON_KILL_ASKED, 1);
	} else {
		s->skip = "no process gets a pid of our choice here";
		stage_expect(s, QUOIT_DAEMON_CLIENTS_DIED, 1);
	}
	close(pair[0]); /* closing the pair also closes the connection that lies in it */
	close(pair[1]);
	if (stranger > 0) {
		CHECK(s, waitpid(stranger, NULL, WNOHANG) == 0);
		kill(stranger, SIGKILL);
		CHECK(s, waitpid(stranger, &status, 0) == stranger && WTERMSIG(status) == SIGKILL);
	}
}

int main(int argc, char **argv)
{
	static const struct stage_case always[] = {
		STAGE_CASE(session_is_ended_by_its_user_and_no_other),
		STAGE_CASE(process_with_a_dead_clients_pid_is_left_alone),
	};
	static const struct stage_case with_users[] = {
		STAGE_CASE(connection_in_other_hands_stays_its_openers),
	};

	return callers_main(argc, argv, always, sizeof always / sizeof always[0], with_users,
			    sizeof with_users / sizeof with_users[0]);
}

/* SPDX-License-Identifier: MIT */
/*
 * hostile_servers.c - descriptors whose server or peer does not answer
 *
 * The server of a file's file system and the peer of a socket belong to the client.  While they
 * keep quoitd waiting, other sessions, also of the same user, must not notice.
 */
#include <errno.h>
#include <linux/fuse.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl_client.h"
#include "session/blocking_pool.h"
#include "slow_server.h"

/* Descriptors for one connection: more than it has room for. */
#define BROUGHT 2000u

/* A reply that has not come after this time will not come. */
#define WAITS_MS 1000

static const struct raw_wish small = {
	.host_bytes = 1 << 20, .arena_bytes = 4096, .max_tensors = 64, .sq_entries = 8};

/* A new session can add its files, run its jobs, and close. */
static void check_others(struct stage *s)
{
	int fd = memfd_create("torture", MFD_CLOEXEC);
	const char *word = canary_check(&s->canary);
	struct raw_client c;
	uint32_t index;

	CHECK(s, !word);
	if (stage_open(s, &c, &small)) {
		CHECK(s, !ctl_add_file(&c, fd, &index));
		CHECK(s, !raw_run(&c, (struct quoit_sqe){.opcode = QUOIT_OP_NOP}));
		CHECK(s, !ctl_remove_file(&c, index));
		CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
	close(fd);
}

/* ---- file systems ---- */

static void hold_while_added(struct stage *s, uint32_t opcode)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_FILE_ADD), answer;
	struct slow_server v;
	struct raw_client c;
	int fd;

	if (!slow_server_enter(s, &v, &fd))
		return;
	if (stage_open(s, &c, &small)) {
		slow_server_hold(&v, opcode);
		CHECK(s, !ctl_put(c.socket, &m, sizeof m, &fd, 1));
		slow_server_await(&v, 1);
		check_others(s);
		CHECK(s, !raw_run(&c, (struct quoit_sqe){.opcode = QUOIT_OP_NOP}));
		slow_server_hold(&v, 0);
		slow_server_kill(&v);
		CHECK(s, !ctl_get(c.socket, &answer) && answer.type == QUOIT_CTL_FILE_ADD);
		stage_die(s, &c);
	}
	close(fd);
}

static void file_whose_attributes_never_come(struct stage *s)
{
	hold_while_added(s, FUSE_GETATTR);
}

static void file_whose_system_is_never_named(struct stage *s)
{
	hold_while_added(s, FUSE_STATFS);
}

/* The client removes its file, or dies, which closes the last descriptor. */
static void hold_at_close(struct stage *s, bool dies)
{
	struct slow_server v;
	struct raw_client c;
	uint32_t index;
	int fd;

	if (!slow_server_enter(s, &v, &fd))
		return;
	if (stage_open(s, &c, &small)) {
		CHECK(s, !ctl_add_file(&c, fd, &index));
		slow_server_hold(&v, FUSE_FLUSH);
		if (dies)
			stage_die(s, &c);
		else
			CHECK(s, !ctl_remove_file(&c, index));
		slow_server_await(&v, 1);
		check_others(s);
		if (!dies) {
			CHECK(s, !raw_run(&c, (struct quoit_sqe){.opcode = QUOIT_OP_NOP}));
			stage_die(s, &c);
		}
	}
	slow_server_hold(&v, 0);
	slow_server_kill(&v);
	close(fd);
}

static void file_that_is_never_flushed_when_removed(struct stage *s)
{
	hold_at_close(s, false);
}

static void file_that_is_never_flushed_when_its_client_dies(struct stage *s)
{
	hold_at_close(s, true);
}

/* ---- sockets ---- */

/* A socket with bytes that its peer does not take, so that its last close waits for an hour. */
static int open_lingering(int *ret_peer)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct linger hour = {.l_onoff = 1, .l_linger = 3600};
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static const char bytes[1 << 16];
	socklen_t size = sizeof at;

	*ret_peer = -1;
	if (!bind(listener, (struct sockaddr *)&at, sizeof at) && !listen(listener, 1) &&
	    !getsockname(listener, (struct sockaddr *)&at, &size) &&
	    !connect(fd, (struct sockaddr *)&at, sizeof at))
		*ret_peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &hour, sizeof hour);
	while (*ret_peer >= 0 && send(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
		;
	return fd;
}

enum way { AS_A_FILE, UNASKED, UNREAD, TO_A_RING, WAYS };

static int put_lingering(const struct raw_client *c, enum way way, int fd)
{
	struct quoit_ctl m = ctl_request(way == AS_A_FILE ? QUOIT_CTL_FILE_ADD : QUOIT_CTL_OP);

	if (way == TO_A_RING)
		return ctl_put(c->bell, "", 1, &fd, 1);
	if (way == UNREAD) { /* the reason for the end is before it in the queue */
		struct quoit_ctl bad = {0};
		int err = ctl_put(c->socket, &bad, sizeof bad, NULL, 0);

		if (err)
			return err;
	}
	return ctl_put(c->socket, &m, sizeof m, &fd, 1);
}

/* Give it away while quoitd is stopped, so that quoitd has the last descriptor. */
static int give_lingering(struct stage *s, const struct raw_client *c, enum way way, int *ret_peer)
{
	int fd = open_lingering(ret_peer), err = -errno, status;

	if (!CHECK(s, *ret_peer >= 0))
		return err;
	(void)kill(s->daemon.pid, SIGSTOP);
	(void)waitpid(s->daemon.pid, &status, WUNTRACED);
	err = put_lingering(c, way, fd);
	if (err)
		close(*ret_peer); /* otherwise our own close would wait */
	close(fd);
	(void)kill(s->daemon.pid, SIGCONT);
	if (err)
		*ret_peer = -1;
	return err;
}

static void linger(struct stage *s, enum way way)
{
	struct quoit_ctl answer;
	struct raw_client c;
	int peer, err;

	if (!stage_open(s, &c, &small))
		return;
	err = give_lingering(s, &c, way, &peer);
	CHECK(s, !err || (way == TO_A_RING && err == -EPERM)); /* Linux 6.16 and later */
	if (way == AS_A_FILE)
		CHECK(s, !ctl_get(c.socket, &answer) && answer.result == -EINVAL);
	check_others(s);
	if (err || way == AS_A_FILE)
		stage_die(s, &c);
	else
		ctl_expect_end(s, &c, QUOIT_DAEMON_KILL_PROTO, "");
	check_others(s);
	if (peer >= 0)
		close(peer);
}

static void sockets_that_linger(struct stage *s)
{
	for (enum way way = AS_A_FILE; way < WAYS && !s->bad; way++)
		linger(s, way);
}

/*
 * Further descriptors wait to be closed behind the one whose close hangs, and then the client's
 * next request waits, too; if it sends one more, the connection ends.
 */
static void descriptors_behind_a_socket_that_lingers(struct stage *s, bool goes_on)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_KERNEL_ADD), answer = {0};
	int memory = memfd_create("torture", MFD_CLOEXEC), peer;
	struct pollfd reply = {.events = POLLIN};
	struct raw_client c;
	unsigned brought = 0;

	if (!stage_open(s, &c, &small)) {
		close(memory);
		return;
	}
	reply.fd = c.socket;
	CHECK(s, !give_lingering(s, &c, AS_A_FILE, &peer));
	CHECK(s, !ctl_get(c.socket, &answer) && answer.result == -EINVAL);
	while (!ctl_put(c.socket, &m, sizeof m, &memory, 1) && poll(&reply, 1, WAITS_MS) == 1 &&
	       !ctl_get(c.socket, &answer) && answer.type == m.type && brought < BROUGHT)
		brought++;
	CHECK(s, brought > BLOCKING_BEHIND && brought < BROUGHT);
	check_others(s);
	if (goes_on)
		CHECK(s, !ctl_put(c.socket, &m, sizeof m, &memory, 1));
	else if (peer >= 0)
		close(peer);
	CHECK(s, !ctl_get(c.socket, &answer) &&
			 answer.type == (goes_on ? QUOIT_CTL_END : QUOIT_CTL_KERNEL_ADD));
	if (goes_on) {
		stage_expect(s, QUOIT_DAEMON_KILL_PROTO, 1);
		raw_close(&c);
	} else {
		stage_die(s, &c);
	}
	check_others(s);
	close(memory);
	if (goes_on && peer >= 0)
		close(peer);
}

static void who_brings_more_behind_a_socket_that_lingers_waits(struct stage *s)
{
	descriptors_behind_a_socket_that_lingers(s, false);
}

static void who_does_not_wait_behind_a_socket_that_lingers_is_ended(struct stage *s)
{
	descriptors_behind_a_socket_that_lingers(s, true);
}

static const struct stage_case cases[] = {
	{"file whose attributes never come", file_whose_attributes_never_come},
	{"file whose system is never named", file_whose_system_is_never_named},
	{"file that is never flushed when removed", file_that_is_never_flushed_when_removed},
	{"file that is never flushed when its client dies",
	 file_that_is_never_flushed_when_its_client_dies},
	{"sockets that linger", sockets_that_linger},
	{"who brings more behind a socket that lingers waits",
	 who_brings_more_behind_a_socket_that_lingers_waits},
	{"who does not wait behind a socket that lingers is ended",
	 who_does_not_wait_behind_a_socket_that_lingers_is_ended},
};

int main(int argc, char **argv)
{
	return stage_main(argc, argv, NULL, cases, sizeof cases / sizeof cases[0]);
}

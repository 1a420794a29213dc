/* SPDX-License-Identifier: MIT */
/* test_blocking_pool.c - closing a descriptor may hang its closer, but nothing else. */
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "session/blocking_pool.h"

#define MANY (BLOCKING_USER + 2)

static struct blocking_pool *pool;
static const struct file_systems disks = {.number = {0xef53}, .count = 1};
static int news;
static struct blocking mine[MANY], others;

static void make(void)
{
	news = eventfd(0, EFD_CLOEXEC);
	cr_assert_eq(blocking_pool_new(news, &disks, &pool), 0);
	for (unsigned i = 0; i < MANY; i++)
		blocking_init(&mine[i], pool, 1000, NULL);
	blocking_init(&others, pool, 1001, NULL);
}

static void drop(void)
{
	blocking_pool_free(pool);
	close(news);
}

TestSuite(blocking, .init = make, .fini = drop, .timeout = 30);

/* Wait until all descriptors are closed. */
static void await_idle(struct blocking *e)
{
	uint64_t count;

	while (!blocking_idle(e))
		cr_assert_eq(read(news, &count, sizeof count), (ssize_t)sizeof count);
}

/* A socket with bytes that its peer does not take, so that its last close waits for an hour. */
static int lingering(int *ret_peer)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct linger hour = {.l_onoff = 1, .l_linger = 3600};
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static const char bytes[1 << 16];
	socklen_t size = sizeof at;

	cr_assert_eq(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
	cr_assert_eq(listen(listener, 1), 0);
	cr_assert_eq(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	cr_assert_eq(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
	*ret_peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	cr_assert_eq(setsockopt(fd, SOL_SOCKET, SO_LINGER, &hour, sizeof hour), 0);
	while (send(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
		;
	return fd;
}

Test(blocking, a_close_that_hangs_holds_up_its_own_connection_only)
{
	int peer;

	blocking_close(&mine[0], lingering(&peer));
	blocking_check(&mine[0], memfd_create("later", MFD_CLOEXEC));
	for (unsigned i = 1; i < MANY; i++)
		blocking_close(&mine[i], dup(news));
	for (unsigned i = 1; i < MANY; i++)
		await_idle(&mine[i]);
	cr_expect(!blocking_idle(&mine[0]));
	close(peer);
	for (int fd = -1, result; fd < 0;) {
		uint64_t count;
		struct files_kind kind;

		cr_assert_eq(read(news, &count, sizeof count), (ssize_t)sizeof count);
		if (blocking_checked(&mine[0], &fd, &result, &kind)) {
			cr_expect_eq(result, 0);
			close(fd);
		} else {
			fd = -1;
		}
	}
	await_idle(&mine[0]);
}

Test(blocking, a_user_whose_blocking_calls_hang_holds_up_no_other)
{
	int peer[MANY];

	for (unsigned i = 0; i < MANY; i++)
		blocking_close(&mine[i], lingering(&peer[i]));
	blocking_close(&others, dup(news));
	await_idle(&others);
	for (unsigned i = 0; i < MANY; i++)
		cr_expect(!blocking_idle(&mine[i]));
	for (unsigned i = 0; i < MANY; i++)
		close(peer[i]);
	for (unsigned i = 0; i < MANY; i++)
		await_idle(&mine[i]);
}

/* Send a message with a socket that lingers, of which the receiver then has the last descriptor. */
static void send_lingering(int socket, int *ret_peer)
{
	struct quoit_ctl m = {0};
	int fd = lingering(ret_peer);
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {&m, sizeof m};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof control};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	cr_assert_eq(sendmsg(socket, &msg, 0), (ssize_t)sizeof m);
	close(fd);
}

Test(blocking, descriptors_in_a_queue_that_is_hung_up_are_closed_elsewhere)
{
	int pair[2], peer;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	send_lingering(pair[1], &peer);
	close(pair[1]);
	blocking_hang_up(&mine[0], pair[0]);
	cr_expect(!blocking_idle(&mine[0]));
	close(peer);
	await_idle(&mine[0]);
}

Test(blocking, a_dear_user_reads_the_end_before_what_it_sent_is_closed)
{
	struct dear_users users = {0};
	struct blocking dear;
	struct pollfd end = {.events = POLLIN};
	int pair[2], peer;
	char byte;

	dear_note(&users, 1002)->dear.until = UINT64_MAX;
	blocking_init(&dear, pool, 1002, &users);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	send_lingering(pair[1], &peer);
	blocking_hang_up(&dear, pair[0]);
	end.fd = pair[1];
	cr_expect_eq(poll(&end, 1, 10000), 1);
	cr_expect_eq(recv(pair[1], &byte, 1, MSG_DONTWAIT), 0);
	cr_expect(!blocking_idle(&dear));
	close(peer);
	await_idle(&dear);
	close(pair[1]);
}

static void wait_for_byte(void *pipe)
{
	char byte;

	(void)!read(*(int *)pipe, &byte, 1); /* another thread than the test's */
}

Test(blocking, a_dear_user_reads_the_end_before_a_close_that_hangs)
{
	struct dear_users users = {0};
	struct blocking dear;
	struct pollfd end = {.events = POLLIN};
	int pair[2], gate[2], peer;

	dear_note(&users, 1002)->dear.until = UINT64_MAX;
	blocking_init(&dear, pool, 1002, &users);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	cr_assert_eq(pipe(gate), 0);
	blocking_run(&dear, wait_for_byte, &gate[0]); /* so that both wait for their turn */
	blocking_close(&dear, lingering(&peer));
	blocking_hang_up(&dear, pair[0]);
	cr_assert_eq(write(gate[1], "", 1), 1);
	end.fd = pair[1];
	cr_expect_eq(poll(&end, 1, 10000), 1);
	cr_expect(blocking_ran(&dear));
	close(peer);
	await_idle(&dear);
	close(pair[1]);
	close(gate[0]);
	close(gate[1]);
}

Test(blocking, an_empty_socket_is_closed_at_once)
{
	int pair[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	blocking_hang_up(&mine[0], pair[0]);
	cr_expect(blocking_idle(&mine[0]));
	cr_expect_eq(read(pair[1], &pair[0], 1), 0);
	close(pair[1]);
}

/* SPDX-License-Identifier: MIT */
/* test_control.c - a tool's requests on quoitd's control socket, and what it says of bad answers */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "read/control.h"

#define SOCKET "/run/example"

static int ours, theirs;
static char text[CONTROL_TEXT_BYTES];

static void open_pair(void)
{
	int pair[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	ours = pair[0];
	theirs = pair[1];
	strcpy(text, "old");
}

TestSuite(control, .init = open_pair);

static struct quoit_ctl reply(int32_t result, const char *words)
{
	struct quoit_ctl m = {.magic = QUOIT_CTL_MAGIC, .type = QUOIT_CTL_KILL, .result = result};

	strcpy(m.text, words);
	return m;
}

/* Put an answer into the socket, with this descriptor unless it is negative. */
static void answer(const void *bytes, size_t size, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {0};
	struct iovec iov = {(void *)(uintptr_t)bytes, size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd >= 0) {
		struct cmsghdr *c;

		msg.msg_control = control;
		msg.msg_controllen = sizeof control;
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(c), &fd, sizeof fd);
	}
	cr_assert_eq(sendmsg(theirs, &msg, 0), (ssize_t)size);
}

static int ask(void)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_KILL, .seq = 1};

	return control_ask(ours, SOCKET, &m, text);
}

Test(control, an_answer_is_a_result_and_words_that_can_be_printed)
{
	struct quoit_ctl m = reply(-EPERM, "not\nyours");

	answer(&m, sizeof m, -1);
	cr_expect_eq(ask(), -EPERM);
	cr_expect_str_eq(text, "not\\x0ayours");
	m = reply(0, "");
	memset(m.text, 'x', sizeof m.text); /* without an end */
	answer(&m, sizeof m, -1);
	cr_expect_eq(ask(), 0);
	cr_expect_eq(strlen(text), sizeof m.text - 1);
}

Test(control, a_request_arrives_as_one)
{
	struct quoit_ctl m = reply(0, ""), got;

	answer(&m, sizeof m, -1);
	cr_expect_eq(ask(), 0);
	cr_assert_eq(recv(theirs, &got, sizeof got, 0), sizeof got);
	cr_expect_eq(got.magic, QUOIT_CTL_MAGIC);
	cr_expect_eq(got.type, QUOIT_CTL_KILL);
	cr_expect_eq(got.seq, 1);
}

Test(control, another_program_is_named_by_its_socket)
{
	struct quoit_ctl m = reply(0, "");

	answer(&m, sizeof m - 1, -1);
	cr_expect_eq(ask(), -EPROTO);
	cr_expect_str_eq(text, "the program that answers at " SOCKET " is not quoitd");
	m.magic++;
	answer(&m, sizeof m, -1);
	cr_expect_eq(ask(), -EPROTO);
	m = reply(1, ""); /* quoitd's results are 0 or errors */
	answer(&m, sizeof m, -1);
	cr_expect_eq(ask(), -EPROTO);
}

Test(control, a_connection_that_ends_is_said_to)
{
	cr_assert_eq(shutdown(theirs, SHUT_WR), 0);
	cr_expect_eq(ask(), -ECONNRESET);
	cr_expect_str_eq(text, "quoitd does not answer: Connection reset by peer");
}

Test(control, of_a_quoitd_that_is_silent_the_time_is_told)
{
	const struct timeval shortly = {.tv_usec = 1000};

	cr_assert_eq(setsockopt(ours, SOL_SOCKET, SO_RCVTIMEO, &shortly, sizeof shortly), 0);
	cr_expect_eq(ask(), -EAGAIN);
	cr_expect_str_eq(text,
			 "quoitd does not answer: nothing for 5 s, it may be stopped or stuck");
}

Test(control, without_a_socket_there_the_connection_says_so)
{
	cr_expect_lt(control_connect("/nonexistent/socket", text), 0);
	cr_expect(strstr(text, "/nonexistent/socket"), "%s", text);
}

/* ---- descriptors ---- */

/* The least descriptor that is free: it grows by each one that is left open. */
static int next_free(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	close(fd);
	return fd;
}

Test(control, a_descriptor_comes_with_a_good_answer_and_no_other)
{
	struct quoit_ctl m = reply(0, ""), asked = {.type = QUOIT_CTL_COUNTERS};
	const int sent = open("/dev/zero", O_RDONLY | O_CLOEXEC), free_one = next_free();
	struct stat a, b;
	int fd;

	answer(&m, sizeof m, sent);
	cr_assert_eq(control_exchange(ours, &asked, &fd), 0);
	cr_assert_geq(fd, 0);
	cr_assert(!fstat(sent, &a) && !fstat(fd, &b));
	cr_expect_eq(a.st_rdev, b.st_rdev);
	close(fd);
	answer(&m, sizeof m, -1);
	cr_assert_eq(control_exchange(ours, &asked, &fd), 0);
	cr_expect_eq(fd, -1);
	m.magic++;
	answer(&m, sizeof m, sent);
	cr_assert_eq(control_exchange(ours, &asked, &fd), -EPROTO);
	cr_expect_eq(fd, -1);
	answer(&m, sizeof m, sent);
	cr_assert_eq(control_exchange(ours, &asked, NULL), -EPROTO);
	cr_expect_eq(next_free(), free_one, "none is left open");
}

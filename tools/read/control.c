/* SPDX-License-Identifier: MIT */
/* control.c - send requests on quoitd's control socket that need no session */
#include "control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <quoit/socket.h>

#include "format.h"
#include "runtime.h"

#define REPLY_MS 5000

static void say_silent(int error, char text[CONTROL_TEXT_BYTES])
{
	if (error == EAGAIN) /* the time limit of a receive or a connection */
		snprintf(text, CONTROL_TEXT_BYTES,
			 "quoitd does not answer: nothing for %d s, it may be stopped or stuck",
			 REPLY_MS / 1000);
	else
		snprintf(text, CONTROL_TEXT_BYTES, "quoitd does not answer: %s", strerror(error));
}

int control_connect(const char *socket, char text[CONTROL_TEXT_BYTES])
{
	int fd = runtime_connect(socket, REPLY_MS);

	*text = '\0';
	if (fd == -EAGAIN)
		say_silent(EAGAIN, text);
	else if (fd < 0)
		quoit_socket_explain(socket, -fd, text, CONTROL_TEXT_BYTES);
	return fd;
}

/* Take the first descriptor, and close others. */
static void take_descriptor(struct msghdr *msg, int *ret_fd)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
			if (*ret_fd < 0)
				*ret_fd = fd;
			else
				close(fd);
		}
	}
}

/* A shell's user may stop a tool and let it go on: it waits for the rest of its time. */
static bool may_wait_on(uint64_t began_ns)
{
	return errno == EINTR && runtime_now_ns() - began_ns < REPLY_MS * UINT64_C(1000000);
}

/* Without room for them, the kernel closes descriptors that come. */
static ssize_t receive(int socket, struct quoit_ctl *m, int *ret_fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = {m, sizeof *m};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = ret_fd ? control : NULL,
			     .msg_controllen = ret_fd ? sizeof control : 0};
	const uint64_t began_ns = runtime_now_ns();
	ssize_t n;

	do
		n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && may_wait_on(began_ns));
	if (n >= 0 && ret_fd)
		take_descriptor(&msg, ret_fd);
	return n;
}

int control_exchange(int fd, struct quoit_ctl *m, int *ret_fd)
{
	ssize_t n = -1;

	if (ret_fd)
		*ret_fd = -1;
	m->magic = QUOIT_CTL_MAGIC;
	if (send(fd, m, sizeof *m, MSG_NOSIGNAL) == sizeof *m)
		n = receive(fd, m, ret_fd);
	if (n < 0)
		return -errno;
	if (n == sizeof *m && m->magic == QUOIT_CTL_MAGIC && m->result <= 0)
		return 0;
	if (ret_fd && *ret_fd >= 0) {
		close(*ret_fd);
		*ret_fd = -1;
	}
	return n ? -EPROTO : -ECONNRESET;
}

int control_ask(int fd, const char *socket, struct quoit_ctl *m, char text[CONTROL_TEXT_BYTES])
{
	int err = control_exchange(fd, m, NULL);

	*text = '\0';
	if (err == -EPROTO) {
		snprintf(text, CONTROL_TEXT_BYTES, "the program that answers at %s is not quoitd",
			 socket);
		return err;
	}
	if (err) {
		say_silent(-err, text);
		return err;
	}
	m->text[sizeof m->text - 1] = '\0';
	format_escape(m->text, text, CONTROL_TEXT_BYTES);
	return m->result;
}

int control_end_session(const char *socket, uint64_t session, char text[CONTROL_TEXT_BYTES])
{
	struct quoit_ctl m = {.type = QUOIT_CTL_KILL, .seq = 1, .end.session = session};
	int fd = control_connect(socket, text), err;

	if (fd < 0)
		return fd;
	err = control_ask(fd, socket, &m, text);
	close(fd);
	return err;
}

/* SPDX-License-Identifier: MIT */
/* ctl_io.c - control messages and descriptors */
#include "ctl_io.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* As many as the kernel lets a message carry: all are seen, so all can be closed. */
#define SCM_MAX 253

int ctl_send(int socket, const struct quoit_ctl *message, const int *fds, unsigned count)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(CTL_MAX_FDS * sizeof(int))];
	struct iovec iov = {(void *)(uintptr_t)message, sizeof *message};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (count) {
		struct cmsghdr *c;

		memset(control, 0, sizeof control);
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(count * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	}
	for (;;) {
		ssize_t n = sendmsg(socket, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n == (ssize_t)sizeof *message)
			return 0;
		if (n >= 0)
			return -EPROTO;
		if (errno != EINTR)
			return -errno;
	}
}

/* Keep the first descriptor, close the others; how many came. */
static unsigned take_fds(struct msghdr *msg, int *ret_fd)
{
	unsigned total = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		unsigned n = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (unsigned i = 0; i < n; i++, total++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
			if (!total)
				*ret_fd = fd;
			else
				close(fd);
		}
	}
	return total;
}

int ctl_receive(int socket, struct quoit_ctl *ret, int *ret_fd)
{
	_Alignas(struct cmsghdr) char
		control[CMSG_SPACE(SCM_MAX * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
	struct iovec iov = {ret, sizeof *ret};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof control};
	unsigned fds;
	ssize_t n;

	*ret_fd = -1;
	n = recvmsg(socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	fds = take_fds(&msg, ret_fd);
	if (n == 0 && !msg.msg_controllen) /* even an empty message has credentials with it */
		return 0;
	if (n == (ssize_t)sizeof *ret && !fds && msg.msg_flags & MSG_CTRUNC)
		*ret_fd = -EMFILE; /* there is room for all: we have no descriptor left */
	else if (msg.msg_flags & MSG_CTRUNC)
		fds = SCM_MAX;
	if (n == (ssize_t)sizeof *ret && fds <= 1 && !(msg.msg_flags & MSG_TRUNC))
		return 1;
	if (*ret_fd >= 0)
		close(*ret_fd);
	*ret_fd = -1;
	return -EPROTO;
}

void ctl_hang_up(int socket)
{
	struct quoit_ctl m;
	int fd, n;

	(void)shutdown(socket, SHUT_RD);
	while ((n = ctl_receive(socket, &m, &fd)) == 1 || n == -EPROTO)
		if (n == 1 && fd >= 0)
			close(fd);
	close(socket);
}

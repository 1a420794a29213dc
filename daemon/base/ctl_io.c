/* SPDX-License-Identifier: MIT */
/* ctl_io.c - sends and receives control messages and descriptors */
#include "ctl_io.h"

#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

int ctl_send_bytes(int socket, const void *message, size_t size, const int *fds, unsigned count)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(CTL_MAX_FDS * sizeof(int))];
	struct iovec iov = {(void *)(uintptr_t)message, size};
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

		if (n == (ssize_t)size)
			return 0;
		if (n >= 0)
			return -EPROTO;
		if (errno != EINTR)
			return -errno;
	}
}

/* Note every descriptor that came with a message. */
static void take_fds(struct msghdr *msg, struct ctl_fds *ret)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		unsigned n = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(&ret->fd[ret->count], CMSG_DATA(c), n * sizeof(int));
		ret->count += n;
	}
	ret->lost = msg->msg_flags & MSG_CTRUNC; /* there was room for all */
}

/* Take one message and its descriptors.  *ret_end: it was the end, not a message. */
static ssize_t receive(int socket, void *bytes, size_t size, struct ctl_fds *ret_fds, bool *ret_end,
		       int *ret_flags)
{
	_Alignas(struct cmsghdr) char
		control[CMSG_SPACE(CTL_FDS_MOST * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
	struct iovec iov = {bytes, size};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof control};
	ssize_t n = recvmsg(socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	ret_fds->count = 0;
	ret_fds->lost = false;
	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	take_fds(&msg, ret_fds);
	*ret_end = n == 0 && !msg.msg_controllen;
	*ret_flags = msg.msg_flags;
	return n;
}

int ctl_receive(int socket, struct quoit_ctl *ret, struct ctl_fds *ret_fds)
{
	bool end;
	int flags;
	ssize_t n = receive(socket, ret, sizeof *ret, ret_fds, &end, &flags);

	if (n < 0)
		return (int)n;
	if (end) /* even an empty message has credentials */
		return 0;
	return n == (ssize_t)sizeof *ret && !(flags & MSG_TRUNC) ? 1 : -EPROTO;
}

int ctl_take_bell(int socket, struct ctl_fds *ret_fds)
{
	char bytes[64];
	bool end;
	int flags;

	return (int)receive(socket, bytes, sizeof bytes, ret_fds, &end, &flags);
}

bool ctl_is_read(int socket)
{
	int bytes;

	return ioctl(socket, SIOCOUTQ, &bytes) == 0 && bytes == 0;
}

void ctl_let_descriptors_pass(int socket, bool on)
{
	int value = on;

	(void)setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &value, sizeof value);
}

bool ctl_hang_up(int socket)
{
	/* There is room for credentials only: a peek must not bring copies of descriptors. */
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
	char byte;
	struct iovec iov = {&byte, 1};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof control};
	int on = 1;

	(void)shutdown(socket, SHUT_RDWR); /* nothing comes after this: empty stays empty */
	(void)setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on); /* not all have it */
	if (recvmsg(socket, &msg, MSG_DONTWAIT | MSG_PEEK) != 0 || msg.msg_controllen)
		return false;
	close(socket);
	return true;
}

void ctl_hang_up_full(int socket)
{
	struct quoit_ctl m;
	struct ctl_fds fds;
	int n;

	(void)shutdown(socket, SHUT_RDWR);
	do {
		n = ctl_receive(socket, &m, &fds);
		for (unsigned i = 0; i < fds.count; i++)
			close(fds.fd[i]);
	} while (n == 1 || n == -EPROTO);
	close(socket);
}

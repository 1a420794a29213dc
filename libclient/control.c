/* SPDX-License-Identifier: MIT */
/* control.c - one request at a time over the control socket, with descriptors */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "control.h"
#include "library.h"
#include "refusal.h"

#define MAX_FDS QUOIT_MAX_RINGS /* as RING_OPEN and its reply carry */

union descriptors {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(MAX_FDS * sizeof(int))];
};

static int send_request(int socket, struct quoit_ctl *message, const int *fds, unsigned count)
{
	union descriptors control;
	struct iovec data = {message, sizeof *message};
	struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};
	struct cmsghdr *c;
	ssize_t n;

	if (count) {
		memset(&control, 0, CMSG_SPACE(count * sizeof *fds));
		m.msg_control = control.bytes;
		m.msg_controllen = CMSG_SPACE(count * sizeof *fds);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof *fds);
		memcpy(CMSG_DATA(c), fds, count * sizeof *fds);
	}
	do
		n = sendmsg(socket, &m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EPIPE ? -ECONNRESET : -errno;
	return 0;
}

static void close_all(const int *fds, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		close(fds[i]);
}

/* Move descriptors away from 0 to 2.  -errno: the failed ones are closed, and -1. */
static int lift(int *fds, unsigned count)
{
	int err = 0;

	for (unsigned i = 0; i < count; i++) {
		int fd = libquoit_above_standard(fds[i]);

		fds[i] = fd < 0 ? -1 : fd;
		err = fd < 0 ? fd : err;
	}
	return err;
}

/* ret_fds has room for MAX_FDS.  -EPROTO: quoitd never sends such a reply. */
static int receive_reply(int socket, struct quoit_ctl *message, int *ret_fds, unsigned *ret_count)
{
	union descriptors control;
	struct iovec data = {message, sizeof *message};
	struct msghdr m = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof control.bytes};
	struct cmsghdr *c;
	uint64_t began_ns = clock_ns();
	bool again;
	ssize_t n;

	*ret_count = 0;
	do {
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
		again = n < 0 && errno == EAGAIN;
		if (again && !libquoit_patience_left(socket, began_ns))
			return -ETIMEDOUT;
	} while (again || (n < 0 && errno == EINTR));
	if (n <= 0)
		return n == 0 ? -ECONNRESET : -errno;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		*ret_count = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(ret_fds, CMSG_DATA(c), *ret_count * sizeof(int));
		if (lift(ret_fds, *ret_count) < 0)
			return -EMFILE;
	}
	if (n != sizeof *message || m.msg_flags & MSG_TRUNC)
		return -EPROTO;
	return m.msg_flags & MSG_CTRUNC ? -EMFILE : 0; /* otherwise the message is whole */
}

static int exchange(struct quoit_session *s, struct quoit_ctl *message, const int *fds,
		    unsigned count, int *ret_fds, unsigned *ret_count)
{
	uint16_t type = message->type;
	int err;

	*ret_count = 0;
	message->magic = QUOIT_CTL_MAGIC;
	message->seq = ++s->seq;
	err = send_request(s->socket, message, fds, count);
	if (!err || err == -ECONNRESET) /* quoitd may have left its reason in the socket */
		err = receive_reply(s->socket, message, ret_fds, ret_count);
	if (!err && message->type == QUOIT_CTL_END)
		message->result = -ECONNRESET;
	else if (!err && (message->magic != QUOIT_CTL_MAGIC || message->type != type ||
			  message->seq != s->seq || message->result > 0))
		err = -EPROTO;
	return err;
}

/* Say why there was no reply; if quoitd does not answer, that has been said. */
static void explain(int err, const int *fds, unsigned count)
{
	if (err == -EPROTO)
		(void)libquoit_text_refuse_reply();
	else if (err == -EMFILE)
		libquoit_text_set("this process may open no more descriptors");
	else if (err == -ECONNRESET)
		libquoit_text_set("quoitd has closed the connection");
	else if (err == -EBADF && count == 1)
		libquoit_text_set("%d is not a descriptor of an open file", fds[0]);
	else if (err != -ETIMEDOUT)
		libquoit_text_set("the request cannot be sent to quoitd: %s",
				  strerrordesc_np(-err));
}

int libquoit_control_call(struct quoit_session *s, struct quoit_ctl *message, const int *fds,
			  unsigned count, int *ret_fds, unsigned want)
{
	int got[MAX_FDS];
	unsigned got_count;
	int err;

	pthread_mutex_lock(&s->control);
	err = exchange(s, message, fds, count, got, &got_count);
	pthread_mutex_unlock(&s->control);
	if (!err && message->result < 0) {
		err = message->result;
		libquoit_text_set("%.*s", (int)sizeof message->text, message->text);
	} else if (err || got_count != want) {
		err = err ? err : -EPROTO;
		explain(err, fds, count);
	}
	if (err)
		close_all(got, got_count);
	else if (want)
		memcpy(ret_fds, got, want * sizeof *got);
	return err;
}

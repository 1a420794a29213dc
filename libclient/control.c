/* SPDX-License-Identifier: MIT */
/* control.c - one request at a time over the control socket, with descriptors */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "library.h"

#define MAX_FDS (3 * QUOIT_MAX_RINGS) /* RING_OPEN's reply */

union descriptors {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(MAX_FDS * sizeof(int))];
};

static int send_request(int socket, struct quoit_ctl *message, int fd)
{
	union descriptors control;
	struct iovec data = {message, sizeof *message};
	struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};
	struct cmsghdr *c;
	ssize_t n;

	if (fd >= 0) {
		memset(&control, 0, CMSG_SPACE(sizeof fd));
		m.msg_control = control.bytes;
		m.msg_controllen = CMSG_SPACE(sizeof fd);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(c), &fd, sizeof fd);
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

/* Away from the standard descriptors; -errno: those that could not be are closed, and -1. */
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

/* *ret_fds has room for MAX_FDS; -EPROTO: a reply that no quoitd sends. */
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
	return m.msg_flags & MSG_CTRUNC ? -EMFILE : 0; /* the message is whole */
}

static int exchange(struct quoit_session *s, struct quoit_ctl *message, int fd, int *ret_fds,
		    unsigned *ret_count)
{
	uint16_t type = message->type;
	int err;

	*ret_count = 0;
	message->magic = QUOIT_CTL_MAGIC;
	message->seq = ++s->seq;
	err = send_request(s->socket, message, fd);
	if (!err || err == -ECONNRESET) /* quoitd may have left its reason behind */
		err = receive_reply(s->socket, message, ret_fds, ret_count);
	if (!err && message->type == QUOIT_CTL_END)
		message->result = -ECONNRESET;
	else if (!err && (message->magic != QUOIT_CTL_MAGIC || message->type != type ||
			  message->seq != s->seq || message->result > 0))
		err = -EPROTO;
	return err;
}

int libquoit_control_call(struct quoit_session *s, struct quoit_ctl *message, int fd, int *ret_fds,
			  unsigned want)
{
	int fds[MAX_FDS];
	unsigned count;
	int err;

	pthread_mutex_lock(&s->control);
	err = exchange(s, message, fd, fds, &count);
	pthread_mutex_unlock(&s->control);
	if (!err && message->result < 0) {
		err = message->result;
		libquoit_text_set("%.*s", (int)sizeof message->text, message->text);
	} else if (err || count != want) {
		err = err ? err : -EPROTO;
		if (err != -ETIMEDOUT)
			libquoit_text_set(err == -EPROTO ? "quoitd sent a reply that makes no sense"
					  : err == -EMFILE
						  ? "this process may open no more descriptors"
						  : "quoitd has closed the connection");
	}
	if (err)
		close_all(fds, count);
	else if (want)
		memcpy(ret_fds, fds, want * sizeof *fds);
	return err;
}

int libquoit_control_map(int fd, size_t bytes, int protection, void **ret)
{
	const int needed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;
	void *map;

	if (seals < 0 || (seals & needed) != needed || fstat(fd, &st) < 0 ||
	    (uint64_t)st.st_size != bytes) {
		libquoit_text_set("quoitd sent memory of the wrong size or without its seals");
		return -EPROTO;
	}
	map = mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		int err = -errno;

		libquoit_text_set("%zu bytes from quoitd cannot be mapped: %s%s", bytes,
				  strerrordesc_np(-err),
				  err == -ENOMEM ? " (ulimit -v, vm.max_map_count?)" : "");
		return err;
	}
	/* Emulated kernels do not know them all: a child then has pages that it never looks at. */
	(void)madvise(map, bytes, MADV_DONTFORK);
	(void)madvise(map, bytes, MADV_DONTDUMP);
	*ret = map;
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* ctl_client.c - send control messages of any kind */
#include "ctl_client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FDS_MOST    253 /* the kernel's limit for one message */
#define BLOCKS_MOST 2
#define PATIENCE_MS 60000

struct quoit_ctl ctl_request(uint16_t type)
{
	return (struct quoit_ctl){.magic = QUOIT_CTL_MAGIC, .type = type, .seq = 7};
}

struct quoit_ctl ctl_hello(void)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_HELLO);

	m.hello = (struct quoit_hello){.abi_version = QUOIT_ABI_VERSION,
				       .sqe_size = sizeof(struct quoit_sqe),
				       .cqe_size = sizeof(struct quoit_cqe),
				       .host_bytes = 1u << 20,
				       .arena_bytes = 4096,
				       .max_tensors = 64,
				       .name = "torture"};
	return m;
}

int ctl_put_blocks(int socket, const void *bytes, size_t size, const int *fds, unsigned count,
		   unsigned blocks)
{
	const size_t block = count ? CMSG_SPACE(count * sizeof(int)) : 0;
	_Alignas(struct cmsghdr) char control[BLOCKS_MOST * CMSG_SPACE(FDS_MOST * sizeof(int))] = {
		0};
	struct iovec data = {(void *)(uintptr_t)bytes, size};
	struct msghdr m = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = block ? control : NULL,
			   .msg_controllen = blocks * block};

	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	}
	return sendmsg(socket, &m, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -errno;
}

int ctl_put(int socket, const void *bytes, size_t size, const int *fds, unsigned count)
{
	return ctl_put_blocks(socket, bytes, size, fds, count, 1);
}

static void close_all(struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		for (size_t at = CMSG_LEN(0); at < c->cmsg_len; at += sizeof(int)) {
			int fd;

			memcpy(&fd, (char *)c + at, sizeof fd);
			close(fd);
		}
}

int ctl_get(int socket, struct quoit_ctl *ret)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(FDS_MOST * sizeof(int))];
	struct iovec data = {ret, sizeof *ret};
	struct msghdr m = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof control};
	struct pollfd p = {.fd = socket, .events = POLLIN};
	ssize_t n;

	memset(ret, 0, sizeof *ret);
	if (poll(&p, 1, PATIENCE_MS) <= 0)
		return -ETIME;
	n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n != sizeof *ret)
		return -ECONNRESET;
	close_all(&m);
	return 0;
}

int ctl_ask(int socket, const struct quoit_ctl *request, int fd, struct quoit_ctl *ret)
{
	int err = ctl_put(socket, request, sizeof *request, &fd, fd >= 0);

	/* If sending fails because the connection has ended, the reason is still to be read. */
	return err && err != -EPIPE ? err : ctl_get(socket, ret);
}

int ctl_add_file(const struct raw_client *c, int fd, uint32_t *ret_index)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_FILE_ADD), answer;
	int err = ctl_ask(c->socket, &m, fd, &answer);

	*ret_index = answer.file.index;
	return err ? err : answer.result;
}

int ctl_remove_file(const struct raw_client *c, uint32_t index)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_FILE_REMOVE), answer;
	int err;

	m.file.index = index;
	err = ctl_ask(c->socket, &m, -1, &answer);
	return err ? err : answer.result;
}

void ctl_expect_end(struct stage *s, struct raw_client *c, uint32_t reason, const char *words)
{
	struct quoit_ctl m;
	int err;

	do
		err = ctl_get(c->socket, &m);
	while (!err && m.type != QUOIT_CTL_END);
	if (!CHECK(s, !err) || !CHECK(s, m.result < 0) || !CHECK(s, strstr(m.text, words)))
		printf("  wanted \"%s\", got \"%.112s\"\n", words, m.text);
	CHECK(s, ctl_get(c->socket, &m) == -ECONNRESET);
	stage_expect(s, reason, 1);
	raw_close(c);
}

static bool comes(const struct raw_client *c, short event)
{
	struct pollfd p = {.fd = c->socket, .events = event};

	return poll(&p, 1, PATIENCE_MS) == 1 && p.revents & event;
}

/* The first reply has come before the second request, and is there until quoitd has looked at it. */
void ctl_leave_unread(struct stage *s, struct raw_client *c, const struct quoit_ctl *request)
{
	CHECK(s, !ctl_put(c->socket, request, sizeof *request, NULL, 0));
	CHECK(s, comes(c, POLLIN));
	CHECK(s, !ctl_put(c->socket, request, sizeof *request, NULL, 0));
	CHECK(s, comes(c, POLLHUP));
	ctl_expect_end(s, c, QUOIT_DAEMON_KILL_PROTO, "before the last reply was read");
}

int ctl_connect_as(struct raw_client *c, const char *socket, uid_t uid)
{
	int err;

	if (uid && seteuid(uid) < 0)
		return -errno;
	err = raw_connect(c, socket);
	if (uid && seteuid(0) < 0)
		return -errno;
	return err;
}

uint32_t ctl_record(struct stage *s, struct raw_client *c, uint32_t records)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_TRACE, .trace.records = records};
	unsigned none;

	if (!CHECK(s, !raw_connect(c, s->daemon.socket)) ||
	    !CHECK(s, !raw_call(c, &m, NULL, 0, &none)) || !CHECK(s, m.trace.sessions))
		return 0;
	return m.trace.sessions;
}

void ctl_leave(struct stage *s, struct raw_client *c)
{
	stage_expect(s, QUOIT_DAEMON_CLIENTS_LEFT, 1);
	raw_close(c);
}

bool ctl_put_early(struct stage *s, struct raw_client *c, const void *bytes, size_t size,
		   const int *fds, unsigned count)
{
	int err = ctl_put(c->socket, bytes, size, fds, count);

	if (err == -EPERM && count) {
		ctl_leave(s, c);
		return false;
	}
	return CHECK(s, !err);
}

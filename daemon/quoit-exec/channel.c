/* SPDX-License-Identifier: MIT */
/* channel.c - the rings and sockets between quoit-exec and quoitd's reactors */
#include "channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MASK (QUOIT_EXEC_ENTRIES - 1)

/* ---- requests and answers ---- */

int channel_ready(struct channel *c)
{
	uint32_t ready = quoit_ring_peek(&c->requests);

	if (ready > QUOIT_EXEC_ENTRIES)
		return -EPROTO;
	return (int)(ready > CHANNEL_BURST ? CHANNEL_BURST : ready);
}

int channel_take(struct channel *c, struct quoit_exec_request *ret)
{
	int err = 0;

	quoit_ring_copy((uint64_t *)ret,
			(const uint64_t *)&c->daemon->request[c->requests.next & MASK],
			sizeof *ret / sizeof(uint64_t));
	quoit_ring_release(&c->requests, 1);
	if (ret->slot >= QUOIT_EXEC_SLOTS)
		return -EPROTO;
	/* quoitd sent the memory, image or kernel that such a request needs before it. */
	if (!c->slots[ret->slot].known || ret->type == QUOIT_EXEC_LOAD ||
	    ret->type == QUOIT_EXEC_FIND)
		err = memory_receive(c->socket, c->slots);
	if (!err && !c->slots[ret->slot].known)
		err = -EPROTO;
	return err;
}

static void ring_bell(const struct channel *c)
{
	/* A full socket is success: the reactor's epoll sees the bytes there. */
	(void)send(c->socket, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int channel_answer(struct channel *c, const struct quoit_exec_answer *a)
{
	uint32_t i;

	if (!quoit_ring_reserve(&c->answers, &i))
		return -EPROTO; /* the ring has room for an answer to each request */
	c->exec->answer[i & MASK] = *a;
	if (quoit_ring_submit_wake(&c->answers, &c->daemon->need_wake))
		ring_bell(c);
	return 0;
}

/* ---- sleep ---- */

static bool may_sleep(struct channels *c)
{
	bool idle = true;

	for (uint32_t i = 0; i < c->count; i++)
		idle &= quoit_ring_sleep(&c->channel[i].requests, &c->words->need_wake);
	return idle;
}

int channels_sleep(struct channels *c, uint64_t most_ns)
{
	struct timespec time = {.tv_sec = (time_t)(most_ns / 1000000000u),
				.tv_nsec = (long)(most_ns % 1000000000u)};
	int err = 0, n = 0;

	if (may_sleep(c))
		n = ppoll(c->poll, c->count + 1, most_ns == CHANNELS_FOREVER ? NULL : &time, NULL);
	quoit_ring_awake(&c->words->need_wake);
	if (n <= 0)
		return 0;
	/* Drain bells before looking at the rings again, or one could be lost. */
	for (uint32_t i = 0; i < c->count && !err; i++)
		if (c->poll[i].revents)
			err = memory_receive(c->channel[i].socket, c->channel[i].slots);
	return err ? err : c->poll[c->count].revents != 0;
}

/* ---- messages on the first socket ---- */

int channels_hear(struct channels *c, struct quoit_exec_peer *ret, int *ret_fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec data = {ret, sizeof *ret};
	struct msghdr msg = {.msg_iov = &data,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof control.bytes};
	const struct cmsghdr *h;
	ssize_t n = recvmsg(c->poll[c->count].fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*ret_fd = -1;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -ECONNRESET;
	h = CMSG_FIRSTHDR(&msg);
	if (h && h->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(h), sizeof(int));
	return n == sizeof *ret ? 1 : -EPROTO;
}

/* ---- start ---- */

#define PAGES   3 /* descriptors before those of channels */
#define MAX_FDS (QUOIT_MAX_REACTORS + PAGES)

union descriptors {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(MAX_FDS * sizeof(int))];
};

static int receive_start(int socket, struct quoit_exec_start *ret, int fds[MAX_FDS])
{
	union descriptors control;
	struct iovec data = {ret, sizeof *ret};
	struct msghdr msg = {.msg_iov = &data,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof control.bytes};
	struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return -ECONNRESET;
	c = CMSG_FIRSTHDR(&msg);
	if (n != sizeof *ret || ret->magic != QUOIT_EXEC_MAGIC || !ret->channels ||
	    ret->channels > QUOIT_MAX_REACTORS || !c ||
	    c->cmsg_len != CMSG_LEN((ret->channels + PAGES) * sizeof(int)))
		return -EPROTO;
	memcpy(fds, CMSG_DATA(c), (ret->channels + PAGES) * sizeof(int));
	return 0;
}

static int map_pages(int fd, uint64_t bytes, int protection, void **ret)
{
	*ret = mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);
	(void)close(fd);
	return *ret == MAP_FAILED ? -errno : 0;
}

static int open_channel(struct channels *s, uint32_t i, struct quoit_exec_daemon_channel *daemon,
			struct quoit_exec_channel *exec, int socket)
{
	struct channel *c = &s->channel[i];

	*c = (struct channel){.socket = socket, .daemon = &daemon[i], .exec = &exec[i]};
	quoit_consumer_init(&c->requests, &exec[i].request_head, &daemon[i].request_tail,
			    QUOIT_EXEC_ENTRIES);
	quoit_producer_init(&c->answers, &exec[i].answer_tail, &daemon[i].answer_head,
			    QUOIT_EXEC_ENTRIES);
	c->slots = calloc(QUOIT_EXEC_SLOTS, sizeof *c->slots);
	s->poll[i] = (struct pollfd){.fd = socket, .events = POLLIN};
	return c->slots ? 0 : -ENOMEM;
}

int channels_open(struct channels *c, int socket)
{
	struct quoit_exec_start m;
	void *daemon = NULL, *exec = NULL, *direct = NULL;
	int fds[MAX_FDS];
	int err;

	*c = (struct channels){0};
	err = receive_start(socket, &m, fds);
	if (!err)
		err = map_pages(fds[0], m.daemon_bytes, PROT_READ, &daemon);
	if (!err)
		err = map_pages(fds[1], m.exec_bytes, PROT_READ | PROT_WRITE, &exec);
	if (!err)
		err = map_pages(fds[2], m.direct_bytes, PROT_READ | PROT_WRITE, &direct);
	if (err < 0)
		return err;
	c->words = exec;
	c->count = m.channels;
	c->direct_requests = direct;
	c->direct_words =
		(void *)((uint8_t *)exec +
			 QUOIT_EXEC_DIRECT_AT(sizeof *c->words +
					      m.channels * sizeof(struct quoit_exec_channel)));
	for (uint32_t i = 0; i < m.channels && !err; i++)
		err = open_channel(c, i, daemon, (struct quoit_exec_channel *)(c->words + 1),
				   fds[i + PAGES]);
	c->poll[m.channels] = (struct pollfd){.fd = socket, .events = POLLIN};
	return err;
}

void channels_close(struct channels *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		free(c->channel[i].slots);
}

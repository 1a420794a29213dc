/* SPDX-License-Identifier: MIT */
/* raw_client.c - speak the protocol by hand */
#ifndef _GNU_SOURCE /* if it is compiled by itself */
#define _GNU_SOURCE
#endif
#include "raw_client.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define FDS_MOST    QUOIT_MAX_RINGS
#define PATIENCE_MS 30000 /* far longer than a job takes under a sanitizer */
#define SLICE_MS    20    /* sleep between two looks at the socket */

static void clear(struct raw_client *c)
{
	*c = (struct raw_client){.socket = -1, .arena_fd = -1, .ring_fd = -1, .bell = -1};
}

/* ---- the control socket ---- */

static uid_t user;

void raw_set_user(uid_t uid)
{
	user = uid;
}

/* For this thread only, unlike libc's function: other threads may be connecting, too. */
static int set_effective_user(uid_t uid)
{
	return syscall(SYS_setresuid, -1, uid, -1) < 0 ? -errno : 0;
}

/* quoitd sees the effective user of this moment. */
static int connect_as_user(int fd, const struct sockaddr_un *address)
{
	bool other = user && geteuid() == 0;
	int err = other ? set_effective_user(user) : 0;

	if (err)
		return err;
	if (connect(fd, (const struct sockaddr *)address, sizeof *address) < 0)
		err = -errno;
	if (other && set_effective_user(0) < 0)
		abort(); /* all later results would be wrong */
	return err;
}

int raw_connect(struct raw_client *c, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int err;

	clear(c);
	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	c->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	err = c->socket < 0 ? -errno : connect_as_user(c->socket, &address);
	if (err)
		raw_close(c);
	return err;
}

static int receive(struct raw_client *c, struct quoit_ctl *ret, int *ret_fds, unsigned room,
		   unsigned *ret_count)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(FDS_MOST * sizeof(int))];
	struct iovec data = {ret, sizeof *ret};
	struct msghdr m = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof control};
	struct cmsghdr *header;
	ssize_t n = recvmsg(c->socket, &m, MSG_CMSG_CLOEXEC);
	unsigned count = 0;

	if (n != sizeof *ret)
		return -ECONNRESET;
	header = CMSG_FIRSTHDR(&m);
	if (header)
		count = (unsigned)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	for (unsigned i = 0; i < count; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
		if (i < room)
			ret_fds[i] = fd;
		else
			close(fd);
	}
	*ret_count = count < room ? count : room;
	memcpy(c->text, ret->text, sizeof c->text);
	c->ended = ret->type == QUOIT_CTL_END;
	return c->ended ? -ECONNRESET : ret->result;
}

static void put(const struct raw_client *c, const struct quoit_ctl *m, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {0};
	struct iovec data = {(void *)(uintptr_t)m, sizeof *m};
	struct msghdr h = {.msg_iov = &data, .msg_iovlen = 1};

	if (fd >= 0) {
		h.msg_control = control;
		h.msg_controllen = sizeof control;
		*CMSG_FIRSTHDR(&h) = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
						      .cmsg_type = SCM_RIGHTS,
						      .cmsg_len = CMSG_LEN(sizeof fd)};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&h)), &fd, sizeof fd);
	}
	/* If sending fails because the connection has ended, the reason is still to be read. */
	(void)!sendmsg(c->socket, &h, MSG_NOSIGNAL);
}

static int call(struct raw_client *c, struct quoit_ctl *m, int fd, int *ret_fds, unsigned room,
		unsigned *ret_count)
{
	m->magic = QUOIT_CTL_MAGIC;
	m->seq = ++c->seq;
	*ret_count = 0;
	if (c->ended)
		return -ECONNRESET;
	c->text[0] = '\0';
	put(c, m, fd);
	return receive(c, m, ret_fds, room, ret_count);
}

int raw_call(struct raw_client *c, struct quoit_ctl *m, int *ret_fds, unsigned room,
	     unsigned *ret_count)
{
	return call(c, m, -1, ret_fds, room, ret_count);
}

int raw_call_with(struct raw_client *c, struct quoit_ctl *m, int fd, int *ret_fd)
{
	unsigned count;

	return call(c, m, fd, ret_fd, ret_fd != NULL, &count);
}

bool raw_has_ended(struct raw_client *c, int timeout_ms)
{
	struct pollfd p = {.fd = c->socket, .events = POLLIN};
	struct quoit_ctl m;
	unsigned count;

	return c->ended ||
	       (poll(&p, 1, timeout_ms) > 0 && receive(c, &m, NULL, 0, &count) == -ECONNRESET);
}

/* ---- opening ---- */

int raw_memory(uint64_t bytes, uint8_t **ret_map)
{
	int fd = memfd_create("torture", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *at;

	*ret_map = NULL;
	if (fd < 0 || ftruncate(fd, (off_t)bytes) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		return fd;
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	*ret_map = at == MAP_FAILED ? NULL : at;
	return fd;
}

int raw_fill(int fd, uint8_t *map, uint64_t bytes, uint32_t seals)
{
	for (uint64_t at = 0; at < bytes; at += 4096)
		*(volatile uint8_t *)(map + at) = map[at];
	return fcntl(fd, F_ADD_SEALS, (int)seals) < 0 ? -errno : 0;
}

int raw_ready(struct raw_client *c)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_READY};

	return raw_call_with(c, &m, -1, NULL);
}

static void close_ring(struct raw_client *c)
{
	if (c->pages)
		munmap(c->pages, quoit_ring_bytes(&c->layout));
	if (c->ring_fd >= 0)
		close(c->ring_fd);
	if (c->bell >= 0)
		close(c->bell);
	c->ring_fd = c->bell = -1;
	c->pages = NULL;
	c->client = NULL;
	c->daemon = NULL;
}

static void find_pages(struct raw_client *c)
{
	const struct quoit_ring_layout *l = &c->layout;
	uint8_t *client = c->pages, *daemon = client + l->client_bytes;

	c->client = (struct quoit_client_words *)client;
	c->daemon = (struct quoit_daemon_words *)daemon;
	c->sqes = (struct quoit_sqe *)(client + l->sqes);
	c->cqes = (const struct quoit_cqe *)(daemon + l->cqes);
	c->errors = (const struct quoit_error *)(daemon + l->errors);
	c->stamps = l->stamps ? (const struct quoit_stamps *)(daemon + l->stamps) : NULL;
	quoit_producer_init_line(&c->sq, c->client->sq, &c->daemon->sq_head, l->sq_entries);
	quoit_consumer_init_line(&c->cq, &c->client->cq_head, c->client->cq, l->cq_entries);
}

int raw_give_ring(struct raw_client *c, uint32_t sq_entries, uint32_t cq_entries, uint32_t flags)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_RING_OPEN};
	struct quoit_ring_open good;
	int err;

	close_ring(c);
	m.ring_open = good = (struct quoit_ring_open){sq_entries, cq_entries, flags, 1};
	if (!cq_entries && sq_entries <= QUOIT_MAX_ENTRIES)
		good.cq_entries = 2 * sq_entries;
	if (sq_entries > QUOIT_MAX_ENTRIES || good.cq_entries > 2 * QUOIT_MAX_ENTRIES)
		return raw_call_with(c, &m, -1, NULL); /* there is no such layout */
	quoit_ring_layout_of(&good, &c->layout);
	c->ring_fd = raw_memory(quoit_ring_bytes(&c->layout), &c->pages);
	if (!c->pages)
		return -ENOMEM;
	err = raw_call_with(c, &m, c->ring_fd, &c->bell);
	if (err)
		return err;
	c->ring = m.ring_reply.ring;
	c->seals = m.ring_reply.seals;
	return c->bell >= 0 ? 0 : -EPROTO;
}

int raw_begin_ring(struct raw_client *c)
{
	int err = raw_fill(c->ring_fd, c->pages, quoit_ring_bytes(&c->layout), c->seals);

	if (!err)
		err = raw_ready(c);
	if (!err)
		find_pages(c);
	return err;
}

int raw_ring_open(struct raw_client *c, uint32_t sq_entries, uint32_t cq_entries, uint32_t flags)
{
	int err = raw_give_ring(c, sq_entries, cq_entries, flags);

	return err ? err : raw_begin_ring(c);
}

/* The shared region, and the arena behind it. */
static uint64_t arena_bytes(const struct raw_client *c)
{
	return (uint64_t)c->info.shared_pages * QUOIT_CTL_PAGE + c->info.arena_bytes;
}

int raw_give_arena(struct raw_client *c)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_ARENA};
	int err;

	c->arena_fd = raw_memory(arena_bytes(c), &c->arena);
	if (!c->arena)
		return -ENOMEM;
	err = raw_call_with(c, &m, c->arena_fd, NULL);
	c->seals = m.ring_reply.seals;
	return err;
}

int raw_begin_arena(struct raw_client *c)
{
	int err = raw_fill(c->arena_fd, c->arena, arena_bytes(c), c->seals);

	return err ? err : raw_ready(c);
}

int raw_hello(struct raw_client *c, const struct raw_wish *wish)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_HELLO};
	int err;

	m.hello = (struct quoit_hello){.abi_version = QUOIT_ABI_VERSION,
				       .sqe_size = sizeof(struct quoit_sqe),
				       .cqe_size = sizeof(struct quoit_cqe),
				       .features = wish->features,
				       .host_bytes = wish->host_bytes,
				       .arena_bytes = wish->arena_bytes,
				       .pinned_bytes = wish->pinned_bytes,
				       .shared_bytes = wish->shared_bytes,
				       .max_tensors = wish->max_tensors,
				       .name = "torture"};
	err = raw_call_with(c, &m, -1, NULL);
	if (!err)
		c->info = m.hello_reply;
	return err;
}

int raw_open(struct raw_client *c, const char *path, const struct raw_wish *wish)
{
	int err = raw_connect(c, path);

	if (!err)
		err = raw_hello(c, wish);
	if (!err)
		err = raw_give_arena(c);
	if (!err)
		err = raw_begin_arena(c);
	if (!err && wish->sq_entries)
		err = raw_ring_open(c, wish->sq_entries, wish->cq_entries, wish->flags);
	if (err) {
		char text[sizeof c->text];

		memcpy(text, c->text, sizeof text);
		raw_close(c);
		memcpy(c->text, text, sizeof text);
	}
	return err;
}

void raw_close(struct raw_client *c)
{
	close_ring(c);
	if (c->arena)
		munmap(c->arena, arena_bytes(c));
	if (c->arena_fd >= 0)
		close(c->arena_fd);
	if (c->socket >= 0)
		close(c->socket);
	clear(c);
}

/* ---- the ring ---- */

struct quoit_sqe *raw_slot(const struct raw_client *c, uint32_t index)
{
	return &c->sqes[index & (c->layout.sq_entries - 1)];
}

void raw_ring_bell(const struct raw_client *c)
{
	(void)!send(c->bell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool raw_submit_all(struct raw_client *c, const struct quoit_sqe *sqes, unsigned count)
{
	uint32_t index;

	for (unsigned i = 0; i < count; i++) {
		if (!quoit_ring_reserve(&c->sq, &index))
			return false;
		*raw_slot(c, index) = sqes[i];
	}
	if (quoit_ring_submit_wake(&c->sq, &c->daemon->need_wake))
		raw_ring_bell(c);
	return true;
}

bool raw_submit(struct raw_client *c, const struct quoit_sqe *sqe)
{
	return raw_submit_all(c, sqe, 1);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void sleep_cq(struct raw_client *c)
{
	struct timespec slice = {.tv_nsec = SLICE_MS * 1000000};

	if (quoit_ring_sleep(&c->cq, &c->client->cq_wait))
		(void)syscall(SYS_futex, &c->client->cq_tail, FUTEX_WAIT, c->cq.cached_tail, &slice,
			      NULL, 0);
	quoit_ring_awake(&c->client->cq_wait);
}

int raw_reap(struct raw_client *c, int timeout_ms, struct quoit_cqe *ret,
	     struct quoit_error *ret_error)
{
	uint64_t end = now_ms() + (uint64_t)timeout_ms;
	uint32_t slot;

	while (!quoit_ring_peek(&c->cq)) {
		if (raw_has_ended(c, 0))
			return -ECONNRESET;
		if (now_ms() >= end)
			return -ETIME;
		sleep_cq(c);
	}
	slot = c->cq.next & (c->layout.cq_entries - 1);
	*ret = c->cqes[slot];
	if (ret_error)
		*ret_error = c->errors[slot];
	quoit_ring_release(&c->cq, 1);
	return 0;
}

int raw_run(struct raw_client *c, struct quoit_sqe sqe)
{
	struct quoit_cqe cqe;
	int err;

	sqe.flags &= (uint8_t)~QUOIT_SQE_QUIET;
	if (!raw_submit(c, &sqe))
		return -EAGAIN;
	err = raw_reap(c, PATIENCE_MS, &cqe, NULL);
	return err ? err : cqe.res;
}

void raw_submit_nops(struct raw_client *c, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct quoit_sqe nop = {.opcode = QUOIT_OP_NOP, .user_data = c->sq.next};

		(void)raw_submit(c, &nop);
	}
}

bool raw_reap_good(struct raw_client *c, unsigned count)
{
	struct quoit_cqe cqe;

	for (unsigned i = 0; i < count; i++)
		if (raw_reap(c, PATIENCE_MS, &cqe, NULL) || cqe.res)
			return false;
	return true;
}

/* ---- the ring's words ---- */

void raw_set_tail(const struct raw_client *c, uint32_t tail)
{
	QUOIT_RING_STORE(&c->client->sq_tail, tail, QUOIT_RING_SEQ_CST);
	raw_ring_bell(c);
}

void raw_set_cq_head(const struct raw_client *c, uint32_t head)
{
	QUOIT_RING_STORE(&c->client->cq_head, head, QUOIT_RING_SEQ_CST);
}

uint32_t raw_sq_head(const struct raw_client *c)
{
	return QUOIT_RING_LOAD(&c->daemon->sq_head, QUOIT_RING_ACQUIRE);
}

uint32_t raw_cq_tail(const struct raw_client *c)
{
	return QUOIT_RING_TAIL(&c->cq, QUOIT_RING_ACQUIRE);
}

bool raw_await_posted(struct raw_client *c, uint32_t tail)
{
	uint64_t end = now_ms() + PATIENCE_MS;

	while (raw_cq_tail(c) != tail)
		if (now_ms() >= end || raw_has_ended(c, 1))
			return false;
	return true;
}

/* ---- jobs ---- */

struct quoit_sqe raw_job(uint8_t opcode, uint32_t t0, uint32_t t1, uint32_t t2)
{
	return (struct quoit_sqe){.opcode = opcode, .tensor = {t0, t1, t2}};
}

struct quoit_sqe raw_vector(uint32_t handle, uint32_t n, uint64_t offset)
{
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_CREATE, .arg = QUOIT_F32};

	sqe.base[0] = handle;
	sqe.dim[0] = sqe.dim[1] = sqe.dim[2] = 1;
	sqe.dim[3] = n;
	if (offset != RAW_ARENA_NOT) {
		sqe.arg |= QUOIT_CREATE_ARENA;
		sqe.offset = offset;
	}
	return sqe;
}

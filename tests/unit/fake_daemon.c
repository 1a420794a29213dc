/* SPDX-License-Identifier: MIT */
/* fake_daemon.c - a quoitd of one thread, for tests of libquoit alone */
#include "fake_daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "fake_jobs.h"

#ifndef F_SEAL_FUTURE_WRITE /* Linux 5.1 */
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#define FIRST_SEALS (F_SEAL_SHRINK | F_SEAL_GROW)
#define MORE_SEALS  (F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)

/* ---- memory and messages ---- */

/*
 * Check as quoitd does: it is long enough, can be mapped, and has neither pages nor further seals
 * yet.
 */
static void *map_memory(int fd, uint64_t bytes)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct stat st;

	cr_assert_neq(map, MAP_FAILED);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_eq((uint64_t)st.st_size, bytes);
	cr_assert_eq(st.st_blocks, 0);
	cr_assert_eq(fcntl(fd, F_GET_SEALS) & (FIRST_SEALS | MORE_SEALS), FIRST_SEALS);
	return map;
}

static uint64_t allocated(int fd)
{
	struct stat st;

	cr_assert_eq(fstat(fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

/* bytes 0: all of it. */
static void check_ready(int fd, uint64_t bytes)
{
	struct stat st;

	cr_assert_eq(fstat(fd, &st), 0);
	bytes = bytes ? bytes : (uint64_t)st.st_size;
	cr_assert_geq((uint64_t)st.st_blocks * 512, bytes, "pages are missing");
	cr_assert_eq(fcntl(fd, F_GET_SEALS) & MORE_SEALS, MORE_SEALS);
	close(fd);
}

static void ready(struct fake_daemon *f)
{
	cr_assert(f->waiting);
	while (f->waiting)
		check_ready(f->memory[--f->waiting], f->rings_given ? 0 : f->options.arena_bytes);
	f->rings = f->rings_given;
}

static void reply(struct fake_daemon *f, struct quoit_ctl *m, const int *fds, unsigned count)
{
	char control[CMSG_SPACE(FAKE_RINGS * sizeof(int))] = {0};
	struct iovec data = {m, sizeof *m};
	struct msghdr h = {.msg_iov = &data, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (count) {
		h.msg_control = control;
		h.msg_controllen = CMSG_SPACE(count * sizeof *fds);
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof *fds);
		memcpy(CMSG_DATA(c), fds, count * sizeof *fds);
	}
	m->seq += f->options.wrong_seq;
	if (f->options.end) {
		m->type = QUOIT_CTL_END;
		strcpy(m->text, "ended by the test");
	}
	(void)sendmsg(f->client, &h, MSG_NOSIGNAL);
	for (unsigned i = 0; i < count; i++)
		close(fds[i]);
}

static uint64_t arena_most(const struct fake_daemon *f)
{
	return f->options.arena_most ? f->options.arena_most : f->options.arena_bytes;
}

static void hello(struct fake_daemon *f, struct quoit_ctl *m)
{
	uint32_t version = m->hello.abi_version;

	__atomic_store_n(&f->cpu_hint, m->hello.cpu_hint, __ATOMIC_RELAXED);
	memset(m->bytes, 0, sizeof m->bytes);
	if (f->options.refuse) {
		m->result = f->options.refuse;
		strcpy(m->text, "refused by the test");
		reply(f, m, NULL, 0);
		return;
	}
	if (f->options.version && !f->options.lax) {
		snprintf(m->text, sizeof m->text, "client has ABI %u, quoitd ABI %u", version,
			 f->options.version);
		m->result = -EPROTO;
		m->hello_reply.abi_version = f->options.version;
		reply(f, m, NULL, 0);
		return;
	}
	m->hello_reply = (struct quoit_hello_reply){
		.abi_version = f->options.version ? f->options.version : QUOIT_ABI_VERSION,
		.features = f->options.features,
		.max_tensors = FAKE_TENSORS,
		.session = 7,
		.arena_bytes = f->options.arena_bytes,
		.arena_most = arena_most(f),
		.tsc_hz = 1000000000,
		.max_entries = 1024};
	reply(f, m, NULL, 0);
}

static void arena(struct fake_daemon *f, struct quoit_ctl *m, int fd)
{
	cr_assert(!f->waiting && !f->arena);
	f->arena = map_memory(fd, arena_most(f));
	f->arena_fd = dup(fd);
	f->memory[f->waiting++] = fd;
	m->ring_reply.seals = MORE_SEALS;
	reply(f, m, NULL, 0);
}

/* As quoitd: the limit first, then the pages. */
static int arena_more(struct fake_daemon *f, uint64_t bytes)
{
	f->arena_asked++;
	if (f->refuse_arena)
		return -EDQUOT;
	if (allocated(f->arena_fd) < bytes)
		return -EFAULT;
	return 0;
}

static void ring_make(struct fake_ring *r, const struct quoit_ring_open *o, int fd, int *ret_socket)
{
	struct quoit_client_words *client;
	struct quoit_daemon_words *daemon;
	int pair[2];

	quoit_ring_layout_of(o, &r->layout);
	r->stamps = o->flags & QUOIT_RING_STAMPS;
	r->client = map_memory(fd, quoit_ring_bytes(&r->layout));
	r->daemon = r->client + r->layout.client_bytes;
	client = (struct quoit_client_words *)r->client;
	daemon = (struct quoit_daemon_words *)r->daemon;
	cr_assert(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	r->socket = pair[0];
	*ret_socket = pair[1];
	quoit_consumer_init_line(&r->sq, &daemon->sq_head, client->sq, o->sq_entries);
	quoit_producer_init_line(&r->cq, client->cq, &client->cq_head, o->cq_entries);
}

static void ring_open(struct fake_daemon *f, struct quoit_ctl *m, const int *memory, unsigned count)
{
	struct quoit_ring_open o = m->ring_open;
	int sockets[FAKE_RINGS];

	memset(m->bytes, 0, sizeof m->bytes);
	if (f->rings + o.count > FAKE_RINGS) {
		m->result = -EMFILE;
		for (unsigned i = 0; i < count; i++)
			close(memory[i]);
		reply(f, m, NULL, 0);
		return;
	}
	cr_assert(!f->waiting);
	cr_assert_eq(count, o.count);
	m->ring_reply.ring = f->rings;
	m->ring_reply.count = o.count;
	m->ring_reply.seals = MORE_SEALS;
	for (uint32_t i = 0; i < o.count; i++) {
		ring_make(&f->ring[f->rings + i], &o, memory[i], &sockets[i]);
		f->memory[f->waiting++] = memory[i];
	}
	f->rings_given = f->rings + o.count;
	reply(f, m, sockets, o.count);
}

/* ---- the thread ---- */

static void serve_message(struct fake_daemon *f)
{
	char control[CMSG_SPACE(QUOIT_MAX_RINGS * sizeof(int))];
	struct quoit_ctl m;
	struct iovec data = {&m, sizeof m};
	struct msghdr h = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof control};
	int fds[QUOIT_MAX_RINGS];
	unsigned count = 0;

	if (recvmsg(f->client, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != sizeof m)
		return;
	if (CMSG_FIRSTHDR(&h)) {
		count = (unsigned)((CMSG_FIRSTHDR(&h)->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&h)), count * sizeof(int));
	}
	switch (m.type) {
	case QUOIT_CTL_HELLO:
		hello(f, &m);
		return;
	case QUOIT_CTL_ARENA:
		arena(f, &m, count ? fds[0] : -1);
		return;
	case QUOIT_CTL_RING_OPEN:
		ring_open(f, &m, fds, count);
		return;
	case QUOIT_CTL_READY:
		ready(f);
		break;
	case QUOIT_CTL_ARENA_MORE:
		m.result = arena_more(f, m.arena_more.bytes);
		break;
	case QUOIT_CTL_CANCEL:
		m.result = fake_cancel(&f->ring[m.job.ring], m.job.sq_index);
		break;
	case QUOIT_CTL_RING_CLOSE:
		f->closed++;
		break;
	case QUOIT_CTL_FILE_ADD:
		if (!count)
			m.result = -EBADF;
		m.file.index = f->files++;
		break;
	}
	reply(f, &m, NULL, 0);
}

static void *serve(void *data)
{
	struct fake_daemon *f = data;
	bool stop = false;

	while (!stop) {
		struct pollfd p = {.fd = f->client >= 0 ? f->client : f->listener,
				   .events = POLLIN};

		(void)poll(&p, 1, f->rings ? 0 : 1);
		pthread_mutex_lock(&f->lock);
		if (f->client < 0 && p.revents)
			f->client = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC);
		if (f->client >= 0)
			serve_message(f);
		for (uint32_t i = 0; i < f->rings; i++)
			fake_serve_ring(f, &f->ring[i]);
		stop = f->stop;
		pthread_mutex_unlock(&f->lock);
		if (f->rings)
			usleep(20);
	}
	return NULL;
}

struct fake_daemon *fake_start(const struct fake_options *options)
{
	struct fake_daemon *f = calloc(1, sizeof *f);
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (options)
		f->options = *options;
	if (!f->options.arena_bytes)
		f->options.arena_bytes = 1u << 20;
	f->bytes = mmap(NULL, FAKE_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	strcpy(f->directory, "/tmp/quoit-test-XXXXXX");
	cr_assert(mkdtemp(f->directory) != NULL);
	snprintf(f->path, sizeof f->path, "%s/quoitd.sock", f->directory);
	strcpy(address.sun_path, f->path);
	f->client = -1;
	f->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	cr_assert(bind(f->listener, (struct sockaddr *)&address, sizeof address) == 0 &&
		  listen(f->listener, 4) == 0);
	pthread_mutex_init(&f->lock, NULL);
	pthread_create(&f->thread, NULL, serve, f);
	return f;
}

static void hang_up(struct fake_daemon *f)
{
	for (uint32_t i = 0; i < f->rings; i++)
		close(f->ring[i].socket);
	close(f->client);
	f->client = -1;
	f->rings = f->rings_given = 0;
	while (f->waiting)
		close(f->memory[--f->waiting]);
	if (f->arena)
		close(f->arena_fd);
	f->arena = NULL;
}

void fake_kill(struct fake_daemon *f)
{
	pthread_mutex_lock(&f->lock);
	f->stop = true;
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
	hang_up(f);
	close(f->listener);
	unlink(f->path);
	rmdir(f->directory);
	f->thread = 0;
}

void fake_replace(struct fake_daemon *f, uint32_t version)
{
	pthread_mutex_lock(&f->lock);
	hang_up(f);
	f->options.version = version;
	pthread_mutex_unlock(&f->lock);
}

void fake_stop(struct fake_daemon *f)
{
	if (f->thread)
		fake_kill(f);
	munmap(f->bytes, FAKE_BYTES);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

const char *fake_path(const struct fake_daemon *f)
{
	return f->path;
}

/* ---- controls and views for the test, under the thread's lock ---- */

#define FAKE_SET(f, statement)                                                                     \
	do {                                                                                       \
		pthread_mutex_lock(&(f)->lock);                                                    \
		statement;                                                                         \
		pthread_mutex_unlock(&(f)->lock);                                                  \
	} while (0)

void fake_hold_fetch(struct fake_daemon *f, bool hold)
{
	FAKE_SET(f, f->hold_fetch = hold);
}

void fake_hold_jobs(struct fake_daemon *f, bool hold)
{
	FAKE_SET(f, f->hold_jobs = hold);
}

void fake_fail(struct fake_daemon *f, uint8_t opcode, int error)
{
	FAKE_SET(f, f->fail_opcode = opcode; f->fail_error = error);
}

void fake_say_asleep(struct fake_daemon *f)
{
	FAKE_SET(f, f->asleep = true; fake_serve_ring(f, &f->ring[0]));
}

void fake_lie_cq_tail(struct fake_daemon *f)
{
	FAKE_SET(f, *f->ring[0].cq.tail += 10 * f->ring[0].layout.cq_entries);
}

void fake_spoil_cqes(struct fake_daemon *f)
{
	FAKE_SET(f, f->ring[0].spoil_cqes = true);
}

void fake_lie_sq_head(struct fake_daemon *f)
{
	FAKE_SET(f, *f->ring[0].sq.head += 10 * f->ring[0].layout.sq_entries);
}

uint32_t fake_fetched(struct fake_daemon *f)
{
	uint32_t n;

	FAKE_SET(f, n = f->fetched);
	return n;
}

struct quoit_sqe fake_sqe(struct fake_daemon *f, uint32_t i)
{
	struct quoit_sqe e;

	FAKE_SET(f, e = f->log[i % FAKE_LOG]);
	return e;
}

uint32_t fake_kicks(struct fake_daemon *f)
{
	uint32_t n;

	FAKE_SET(f, n = f->kicks);
	return n;
}

void fake_refuse_arena(struct fake_daemon *f, bool refuse)
{
	FAKE_SET(f, f->refuse_arena = refuse);
}

uint64_t fake_arena_allocated(struct fake_daemon *f)
{
	uint64_t n;

	FAKE_SET(f, n = allocated(f->arena_fd));
	return n;
}

uint32_t fake_arena_asked(struct fake_daemon *f)
{
	uint32_t n;

	FAKE_SET(f, n = f->arena_asked);
	return n;
}

uint32_t fake_cpu_hint(struct fake_daemon *f)
{
	return __atomic_load_n(&f->cpu_hint, __ATOMIC_RELAXED);
}

uint32_t fake_closed(struct fake_daemon *f)
{
	uint32_t n;

	FAKE_SET(f, n = f->closed);
	return n;
}

uint32_t fake_tensors_alive(struct fake_daemon *f)
{
	uint32_t n;

	FAKE_SET(f, n = f->alive);
	return n;
}

const struct quoit_site *fake_sites(struct fake_daemon *f)
{
	return (const struct quoit_site *)(f->ring[0].client + f->ring[0].layout.sites);
}

const struct quoit_ring_events *fake_events(struct fake_daemon *f)
{
	return (const struct quoit_ring_events *)(f->ring[0].client + f->ring[0].layout.events);
}

void fake_record(struct fake_daemon *f, uint32_t allowance)
{
	struct quoit_daemon_words *words = (struct quoit_daemon_words *)f->ring[0].daemon;

	__atomic_store_n(&words->tracing, allowance, __ATOMIC_RELAXED);
}

void fake_sample(struct fake_daemon *f, uint32_t sampling)
{
	struct quoit_daemon_words *words = (struct quoit_daemon_words *)f->ring[0].daemon;

	__atomic_store_n(&words->sampling, sampling, __ATOMIC_RELAXED);
}

const uint64_t *fake_submitted(struct fake_daemon *f)
{
	return ((const struct quoit_client_words *)f->ring[0].client)->submitted;
}

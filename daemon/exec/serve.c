/* SPDX-License-Identifier: MIT */
/* serve.c - requests of all channels, one at a time, in order */
#include "serve.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <quoit/ring.h>
#include <quoit/stats.h>

#include "memory.h"

/* Looks at all rings before it sleeps, about 20 us: about what a sleep and a wake-up cost. */
#define SPIN_LOOKS 500u

/* Requests of one channel before the next has its turn. */
#define BURST 8u

#define MASK (QUOIT_EXEC_ENTRIES - 1)

struct channel {
	int socket;
	const struct quoit_exec_daemon_channel *daemon;
	struct quoit_exec_channel *exec;
	struct quoit_consumer requests;
	struct quoit_producer answers;
	struct memory *slots;
};

struct server {
	const struct module *module;
	struct quoit_exec_words *words;
	uint32_t channels;
	struct channel channel[QUOIT_MAX_REACTORS];
	struct pollfd poll[QUOIT_MAX_REACTORS + 1]; /* the last one: quoitd's own socket */
};

/* ---- requests ---- */

static bool fill_call(const struct quoit_exec_request *q, const struct memory *m,
		      struct quoit_exec_call *ret)
{
	*ret = (struct quoit_exec_call){.arg = q->arg};
	for (unsigned i = 0; i < 2; i++)
		ret->scalar[i].u = q->scalar[i];
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct quoit_exec_view *v = &q->view[i];
		struct quoit_exec_tensor *t = &ret->tensor[i];

		if (!v->given)
			continue;
		if (v->region >= QUOIT_EXEC_REGIONS || v->offset > m->bytes[v->region])
			return false;
		t->data = m->base[v->region] + v->offset;
		t->dtype = v->dtype;
		memcpy(t->dim, v->dim, sizeof t->dim);
		memcpy(t->stride, v->stride, sizeof t->stride);
	}
	return true;
}

static void run(struct server *s, const struct quoit_exec_request *q, const struct memory *m,
		struct quoit_exec_answer *a)
{
	struct quoit_exec_call call;

	if (m->err || q->op >= s->module->api->count || !fill_call(q, m, &call)) {
		a->res = m->err ? m->err : -EPROTO;
		return;
	}
	a->res = s->module->api->ops[q->op].run(s->module->state, &call);
	a->field = call.field;
	a->value[0] = call.value[0];
	a->value[1] = call.value[1];
}

static void say_running(struct server *s, uint64_t what)
{
	__atomic_store_n(&s->words->running, what, __ATOMIC_RELAXED);
}

static void ring_bell(const struct channel *c)
{
	/* Full is success: the reactor's epoll sees the bytes that are there. */
	(void)send(c->socket, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int answer(struct channel *c, const struct quoit_exec_answer *a)
{
	uint32_t i;

	if (!quoit_ring_reserve(&c->answers, &i))
		return -EPROTO; /* as many answers as requests fit */
	c->exec->answer[i & MASK] = *a;
	if (quoit_ring_submit_wake(&c->answers, &c->daemon->need_wake))
		ring_bell(c);
	return 0;
}

static int serve_request(struct server *s, uint32_t index, const struct quoit_exec_request *q)
{
	struct channel *c = &s->channel[index];
	struct quoit_exec_answer a = {.id = q->id, .type = q->type};
	int err = 0;

	if (q->slot >= QUOIT_EXEC_SLOTS)
		return -EPROTO;
	if (!c->slots[q->slot].known) /* it was sent before the request */
		err = memory_receive(c->socket, c->slots);
	if (err < 0 || !c->slots[q->slot].known)
		return err < 0 ? err : -EPROTO;
	if (q->type == QUOIT_EXEC_UNMAP) {
		memory_unmap(&c->slots[q->slot]);
	} else {
		say_running(s, (uint64_t)index << 32 | (q->id + 1));
		run(s, q, &c->slots[q->slot], &a);
	}
	err = answer(c, &a);
	say_running(s, 0);
	return err;
}

/* How many requests were served, or -errno. */
static int serve_channel(struct server *s, uint32_t index)
{
	struct channel *c = &s->channel[index];
	uint32_t ready = quoit_ring_peek(&c->requests);
	int err = 0;

	if (ready > QUOIT_EXEC_ENTRIES)
		return -EPROTO;
	if (ready > BURST)
		ready = BURST;
	for (uint32_t i = 0; i < ready && !err; i++) {
		struct quoit_exec_request q;

		quoit_ring_copy((uint64_t *)&q,
				(const uint64_t *)&c->daemon->request[c->requests.next & MASK],
				sizeof q / sizeof(uint64_t));
		quoit_ring_release(&c->requests, 1);
		err = serve_request(s, index, &q);
	}
	return err ? err : (int)ready;
}

/* ---- sleep ---- */

static bool may_sleep(struct server *s)
{
	bool idle = true;

	for (uint32_t i = 0; i < s->channels; i++)
		idle &= quoit_ring_sleep(&s->channel[i].requests, &s->words->need_wake);
	return idle;
}

/* 0, or -ECONNRESET: quoitd has hung up. */
static int sleep_now(struct server *s)
{
	int err = 0;

	if (may_sleep(s))
		while (poll(s->poll, s->channels + 1, -1) < 0 && errno == EINTR)
			;
	quoit_ring_awake(&s->words->need_wake);
	/* Bells are drained before the rings are looked at again, or one could be lost. */
	for (uint32_t i = 0; i < s->channels && !err; i++)
		if (s->poll[i].revents)
			err = memory_receive(s->channel[i].socket, s->channel[i].slots);
	if (s->poll[s->channels].revents)
		err = -ECONNRESET;
	return err;
}

static int serve_all(struct server *s)
{
	int served = 0;

	for (uint32_t i = 0; i < s->channels; i++) {
		int n = serve_channel(s, i);

		if (n < 0)
			return n;
		served += n;
	}
	return served;
}

static int loop(struct server *s)
{
	uint32_t looks = 0;

	for (;;) {
		int n = serve_all(s);

		if (n < 0)
			return n;
		if (n) {
			looks = 0;
		} else if (looks++ < SPIN_LOOKS) {
			__builtin_ia32_pause();
		} else {
			n = sleep_now(s);
			if (n < 0)
				return n;
		}
	}
}

/* ---- start ---- */

#define MAX_FDS (QUOIT_MAX_REACTORS + 2)

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
	    c->cmsg_len != CMSG_LEN((ret->channels + 2) * sizeof(int)))
		return -EPROTO;
	memcpy(fds, CMSG_DATA(c), (ret->channels + 2) * sizeof(int));
	return 0;
}

static int map_pages(int fd, uint64_t bytes, int protection, void **ret)
{
	*ret = mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);
	(void)close(fd);
	return *ret == MAP_FAILED ? -errno : 0;
}

static int open_channel(struct server *s, uint32_t i, struct quoit_exec_daemon_channel *daemon,
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

static int start(struct server *s, int socket)
{
	struct quoit_exec_start m;
	void *daemon, *exec;
	int fds[MAX_FDS];
	int err = receive_start(socket, &m, fds);

	if (!err)
		err = map_pages(fds[0], m.daemon_bytes, PROT_READ, &daemon);
	if (!err)
		err = map_pages(fds[1], m.exec_bytes, PROT_READ | PROT_WRITE, &exec);
	if (err < 0)
		return err;
	s->words = exec;
	s->channels = m.channels;
	for (uint32_t i = 0; i < m.channels && !err; i++)
		err = open_channel(s, i, daemon, (struct quoit_exec_channel *)(s->words + 1),
				   fds[i + 2]);
	s->poll[m.channels] = (struct pollfd){.fd = socket, .events = POLLIN};
	return err;
}

int serve(int socket, const struct module *module)
{
	struct server *s = calloc(1, sizeof *s);
	int err;

	if (!s)
		return -ENOMEM;
	s->module = module;
	err = start(s, socket);
	if (!err)
		err = loop(s);
	for (uint32_t i = 0; i < s->channels; i++)
		free(s->channel[i].slots);
	free(s);
	return err == -ECONNRESET ? 0 : err;
}

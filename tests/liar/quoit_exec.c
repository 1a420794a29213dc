/* SPDX-License-Identifier: MIT */
/*
 * quoit_exec.c - a false quoit-exec: a device's executor that lies when it is told to
 *
 * lies.h lists the lies.  The rings and the first socket work as in the true one.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "quoit-exec/channel.h"
#include "lies.h"

/* A request that is to be answered after the next one. */
static struct {
	struct channel *channel;
	struct quoit_exec_request q;
} late;

static bool stays; /* LIE_STAY */

static _Noreturn void sleep_for_ever(void)
{
	for (;;)
		(void)pause();
}

/* ---- first words ---- */

static void tell_of_device(struct quoit_exec_hello *h, enum lie lie)
{
	h->devices = lie == LIE_DEVICES_NONE ? 0 : lie == LIE_DEVICES_MANY ? 1u << 31 : 1;
	h->device.bytes = lie == LIE_BYTES_NONE ? 0 : lie == LIE_BYTES_MANY ? UINT64_MAX : 1u << 30;
	memcpy(h->device.name, "liar", 4);
	if (lie == LIE_NAME_ENDLESS)
		memset(h->device.name, 'x', sizeof h->device.name);
	if (lie == LIE_NAME_ESCAPE)
		h->device.name[1] = '\033';
}

/* With at most two descriptors. */
static int send_descriptors(int socket, void *bytes, size_t size, unsigned count)
{
	const int fds[] = {STDERR_FILENO, STDERR_FILENO};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof fds)] = {0};
	struct iovec data = {bytes, size};
	struct msghdr msg = {.msg_iov = &data,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = CMSG_SPACE(count * sizeof fds[0])};
	struct cmsghdr *h = CMSG_FIRSTHDR(&msg);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(count * sizeof fds[0]);
	memcpy(CMSG_DATA(h), fds, count * sizeof fds[0]);
	return sendmsg(socket, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -1 : 0;
}

static int say_hello(enum lie lie)
{
	struct {
		struct quoit_exec_hello hello;
		char more[100];
	} m = {.hello = {.magic = QUOIT_EXEC_MAGIC + (lie == LIE_MAGIC),
			 .version = QUOIT_EXEC_VERSION + (lie == LIE_VERSION),
			 .result = lie == LIE_RESULT,
			 .count = lie == LIE_OPERATIONS}};
	size_t bytes = sizeof m.hello;

	tell_of_device(&m.hello, lie);
	if (lie == LIE_TEXT_ENDLESS)
		memset(m.hello.text, 'x', sizeof m.hello.text);
	if (lie == LIE_SHORT)
		bytes -= 100;
	if (lie == LIE_LONG)
		bytes += 100;
	if (lie == LIE_HELLO_EXIT)
		return -1;
	if (lie == LIE_HELLO_CLOSE) {
		(void)close(QUOIT_EXEC_SOCKET);
		sleep_for_ever();
	}
	if (lie == LIE_HELLO_DESCRIPTORS)
		return send_descriptors(QUOIT_EXEC_SOCKET, &m, bytes, 2);
	return send(QUOIT_EXEC_SOCKET, &m, bytes, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* ---- lies in answers ---- */

static int answer(struct channel *c, const struct quoit_exec_request *q, enum lie lie)
{
	struct quoit_exec_answer a = {.id = q->id, .type = q->type};
	int err = 0;

	if (lie == LIE_ID)
		a.id = QUOIT_EXEC_ENTRIES + 7;
	if (lie == LIE_OTHER_ID)
		a.id = (q->id + 1) % QUOIT_EXEC_ENTRIES;
	if (lie == LIE_TYPE)
		a.type = 99;
	if (lie == LIE_UNMAP)
		a = (struct quoit_exec_answer){.id = q->slot, .type = QUOIT_EXEC_UNMAP};
	if (lie == LIE_COUNT)
		a.res = 5;
	if (lie == LIE_POISON)
		a.res = -QUOIT_EPOISON;
	if (lie == LIE_DEATH)
		a.res = -QUOIT_EEXEC;
	if (lie == LIE_FAR)
		a.res = INT32_MIN;
	if (lie == LIE_STAMPS) {
		a.start = UINT64_MAX;
		a.end = 1;
		a.stamp_error = UINT32_MAX;
	}
	if (lie == LIE_STREAM)
		a.stream = UINT8_MAX;
	if (lie == LIE_FAILED) {
		a.res = -ENOMEM;
		a.field = 0xff;
	}
	if (lie == LIE_TWICE)
		err = channel_answer(c, &a);
	return err ? err : channel_answer(c, &a);
}

/* ---- lies in words ---- */

static void say_running(struct channels *all, uint64_t name)
{
	__atomic_store_n(&all->words->running[5], name, __ATOMIC_RELAXED);
}

/* Write small and large numbers over all words that quoitd reads. */
static _Noreturn void scribble(struct channels *all)
{
	size_t words = (sizeof *all->words + all->count * sizeof *all->channel[0].exec) / 4;
	uint32_t *at = (uint32_t *)all->words;
	uint64_t random = (uint64_t)getpid();

	for (;;) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		__atomic_store_n(&at[(random >> 33) % words],
				 (uint32_t)(random >> 20) >> (random >> 59), __ATOMIC_RELAXED);
	}
}

/* Use the ids of calls that a device's process makes for all: each may take as long as a job. */
static _Noreturn void run_anew(struct channels *all, uint32_t channel)
{
	for (uint32_t n = 0;; n++) {
		say_running(all, channel_name(channel, QUOIT_EXEC_ASKED + n % QUOIT_EXEC_CALLS));
		usleep(50000);
	}
}

static _Noreturn void die_of(struct channels *all, int32_t fault, uint64_t culprit)
{
	all->words->culprit = culprit;
	__atomic_store_n(&all->words->fault, fault, __ATOMIC_RELEASE);
	_exit(1);
}

/* Do or say this lie instead of answering; false: an answer is due all the same. */
static bool act(struct channels *all, struct channel *c, const struct quoit_exec_request *q,
		enum lie lie)
{
	uint32_t index = (uint32_t)(c - all->channel);

	switch (lie) {
	case LIE_EARLY:
		late.channel = c;
		late.q = *q;
		return true;
	case LIE_TAIL:
		__atomic_store_n(&c->exec->answer_tail, c->answers.next + 1000, __ATOMIC_RELEASE);
		sleep_for_ever();
	case LIE_TAIL_BACK:
		__atomic_store_n(&c->exec->answer_tail, c->answers.next - 1, __ATOMIC_RELEASE);
		sleep_for_ever();
	case LIE_HEAD:
		__atomic_store_n(&c->exec->request_head, c->requests.next + 1000, __ATOMIC_RELEASE);
		(void)answer(c, q, LIE_NOT);
		sleep_for_ever();
	case LIE_RUNS_NONE:
		say_running(all, channel_name(all->count, q->id));
		sleep_for_ever();
	case LIE_RUNS_FREE:
		say_running(all, channel_name(index, q->id + 100));
		sleep_for_ever();
	case LIE_RUNS_ONE:
		say_running(all, channel_name(index, q->id));
		sleep_for_ever();
	case LIE_RUNS_ANEW:
		run_anew(all, index);
	case LIE_FAULT:
		die_of(all, 12345, UINT64_C(0xdeadbeefdeadbeef));
	case LIE_LOST:
		die_of(all, -QUOIT_EDEVLOST, channel_name(index, q->id));
	case LIE_WHY:
		memset(all->words->why, 'w', sizeof all->words->why); /* without a NUL at the end */
		memcpy(all->words->why, "\n\033[2J", 5);
		_exit(1);
	case LIE_SCRIBBLE:
		scribble(all);
	case LIE_SLEEP:
		sleep_for_ever();
	case LIE_CLOSE:
		for (uint32_t i = 0; i < all->count; i++)
			(void)close(all->channel[i].socket);
		sleep_for_ever();
	case LIE_EXIT:
		_exit(0);
	case LIE_DESCRIPTORS:
		for (int i = 0; i < 1000; i++)
			(void)send_descriptors(c->socket, (char[]){"x"}, 1, 1);
		return false;
	case LIE_STAY:
		stays = true;
		return false;
	case LIE_HAD:
		__atomic_store_n(&c->exec->had[q->slot], UINT64_MAX / 2, __ATOMIC_RELAXED);
		return false;
	default:
		return false;
	}
}

/* ---- requests ---- */

static enum lie lie_of(const struct quoit_exec_request *q)
{
	double number;

	if (q->op != QUOIT_OP_FILL)
		return LIE_NOT;
	memcpy(&number, &q->scalar[0], sizeof number);
	return (enum lie)number;
}

static int run(struct channels *all, struct channel *c, const struct quoit_exec_request *q)
{
	enum lie lie = lie_of(q);
	int err;

	if (act(all, c, q, lie))
		return 0;
	err = answer(c, q, lie);
	if (!err && late.channel) {
		err = answer(late.channel, &late.q, LIE_NOT);
		late.channel = NULL;
	}
	return err;
}

static int serve_request(struct channels *all, struct channel *c,
			 const struct quoit_exec_request *q)
{
	if (q->type == QUOIT_EXEC_RUN)
		return run(all, c, q);
	if (q->type != QUOIT_EXEC_UNMAP || stays)
		return 0;
	memory_unmap(&c->slots[q->slot]);
	return answer(c, q, LIE_NOT);
}

static int serve_channel(struct channels *all, struct channel *c)
{
	int ready = channel_ready(c), err = 0;

	for (int i = 0; i < ready && !err; i++) {
		struct quoit_exec_request q;

		err = channel_take(c, &q);
		if (!err)
			err = serve_request(all, c, &q);
	}
	return err;
}

static void serve(struct channels *all)
{
	int err = channels_open(all, QUOIT_EXEC_SOCKET);

	while (!err) {
		for (uint32_t i = 0; i < all->count && !err; i++)
			err = serve_channel(all, &all->channel[i]);
		if (!err)
			err = channels_sleep(all, CHANNELS_FOREVER);
	}
	channels_close(all);
}

int main(void)
{
	const char *name = getenv("QUOIT_LIE");
	static struct channels all;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (say_hello(name ? (enum lie)atoi(name) : LIE_NOT) < 0)
		return 1;
	serve(&all);
	return 0;
}

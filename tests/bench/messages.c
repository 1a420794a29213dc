/* SPDX-License-Identifier: MIT */
/* messages.c - messages from one process to another one by a pipe or by a POSIX message queue */
#include "messages.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "floor_process.h"

#define WARM_UP_PART  10u   /* of the messages that are measured so many come before them */
#define MOST_MESSAGES 1280u /* in a message queue; halved to 10 until the system allows as many */

/* What the two processes share; the descriptors are the same in both. */
struct table {
	int in, out;
	size_t size;
	uint64_t count;
	bool (*send)(const struct table *t, const char *message);
	bool (*receive)(const struct table *t, char *message);
	uint64_t begun, ended; /* by the receiver's clock */
	bool is_whole;         /* the receiver has got all */
};

/* ---- the two kinds ---- */

static bool send_pipe(const struct table *t, const char *message)
{
	return write(t->out, message, t->size) == (ssize_t)t->size;
}

/* A large message comes in parts. */
static bool receive_pipe(const struct table *t, char *message)
{
	for (size_t got = 0; got < t->size;) {
		ssize_t n = read(t->in, message + got, t->size - got);

		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return true;
}

static bool send_mq(const struct table *t, const char *message)
{
	return mq_send((mqd_t)t->out, message, t->size, 0) == 0;
}

static bool receive_mq(const struct table *t, char *message)
{
	return mq_receive((mqd_t)t->in, message, t->size, NULL) == (ssize_t)t->size;
}

/* ---- two processes ---- */

static bool receive_all(struct table *t, char *message)
{
	for (uint64_t i = 0; i < t->count / WARM_UP_PART; i++)
		if (!t->receive(t, message))
			return false;
	t->begun = floor_now();
	for (uint64_t i = 0; i < t->count; i++)
		if (!t->receive(t, message))
			return false;
	t->ended = floor_now();
	return true;
}

static void be_receiver(void *memory)
{
	struct table *t = memory;
	char *message = malloc(t->size);

	if (t->out != t->in)
		(void)close(t->out); /* else it would wait for itself when the sender has died */
	t->is_whole = message && receive_all(t, message);
	free(message);
}

static int send_all(const struct table *t, const char *message)
{
	for (uint64_t i = 0; i < t->count + t->count / WARM_UP_PART; i++)
		if (!t->send(t, message))
			return errno ? -errno : -EIO;
	return 0;
}

/* The receiver on the second CPU. */
static int run(const int cpu[2], struct table *t)
{
	char *message = calloc(1, t->size);
	cpu_set_t before;
	pid_t pid;
	int err = message ? floor_pin(cpu[0], &before) : -ENOMEM;

	if (err) {
		free(message);
		return err;
	}
	err = floor_fork(be_receiver, t, cpu[1], &pid);
	if (!err) {
		err = send_all(t, message);
		if (floor_join(pid) < 0 || !t->is_whole)
			err = err ? err : -EIO;
	}
	floor_unpin(&before);
	free(message);
	return err;
}

static int run_table(const int cpu[2], const struct table *as, double *ret_ns)
{
	struct table *t = floor_map(sizeof *t);
	int err;

	if (!t)
		return -errno;
	*t = *as;
	err = run(cpu, t);
	*ret_ns = (double)(t->ended - t->begun) / (double)t->count;
	floor_unmap(t, sizeof *t);
	return err;
}

static int run_twice(const int cpu[2], const struct table *t, struct messages_times *ret)
{
	const int one[2] = {cpu[1], cpu[1]};
	int err = run_table(one, t, &ret->together_ns);

	return err ? err : run_table(cpu, t, &ret->apart_ns);
}

int messages_by_pipe(const int cpu[2], size_t size, uint64_t count, struct messages_times *ret)
{
	struct table t = {.size = size, .count = count, .send = send_pipe, .receive = receive_pipe};
	int fd[2], err;

	if (pipe(fd) < 0)
		return -errno;
	t.in = fd[0];
	t.out = fd[1];
	/* A small pipe stays as it is: 64 KiB have room for as many messages as our queue. */
	if (size > (size_t)fcntl(fd[1], F_GETPIPE_SZ))
		(void)fcntl(fd[1], F_SETPIPE_SZ, (int)size);
	err = run_twice(cpu, &t, ret);
	close(fd[0]);
	close(fd[1]);
	return err;
}

/* As deep as the system allows: for users 10 messages, unless the limits were changed. */
static mqd_t open_mq(size_t size)
{
	struct mq_attr attr = {.mq_msgsize = (long)size};
	char name[32];
	mqd_t q = (mqd_t)-1;

	snprintf(name, sizeof name, "/quoit-peer-%d", (int)getpid());
	for (attr.mq_maxmsg = MOST_MESSAGES; q == (mqd_t)-1 && attr.mq_maxmsg; attr.mq_maxmsg /= 2)
		q = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
	if (q != (mqd_t)-1)
		(void)mq_unlink(name);
	return q;
}

int messages_by_mq(const int cpu[2], size_t size, uint64_t count, struct messages_times *ret)
{
	struct table t = {.size = size, .count = count, .send = send_mq, .receive = receive_mq};
	mqd_t q = open_mq(size);
	int err;

	if (q == (mqd_t)-1)
		return -ENOTSUP;
	t.in = t.out = (int)q;
	err = run_twice(cpu, &t, ret);
	(void)mq_close(q);
	return err;
}

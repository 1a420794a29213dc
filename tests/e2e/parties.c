/* SPDX-License-Identifier: MIT */
/* parties.c - two sessions that wait for each other by locks and their kin */
#include "parties.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct party party_open_with(const struct daemon *d, uint64_t host_bytes)
{
	const struct quoit_open_params p = {
		.socket = d->socket, .host_bytes = host_bytes, .shared_bytes = MIB};
	struct party one = {0};

	cr_assert_eq(quoit_open(&p, &one.s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(one.s, NULL, &one.q), 0, "%s", quoit_open_text());
	return one;
}

struct party party_open(const struct daemon *d)
{
	return party_open_with(d, 0);
}

struct parties parties_begin(void)
{
	struct parties t = {.f = begin()};

	t.a = party_open(&t.f.d);
	t.b = party_open(&t.f.d);
	return t;
}

struct parties parties_begin_with(parties_open_fn *open_it, const struct quoit_sync_params *params)
{
	struct parties t = parties_begin();

	t.a.number = party_number(open_it(t.a.s, PARTIES_NAME, params));
	t.b.number = party_number(open_it(t.b.s, PARTIES_NAME, params));
	return t;
}

void parties_end(struct parties *t)
{
	quoit_close(t->a.s, QUOIT_CLOSE_CANCEL);
	quoit_close(t->b.s, QUOIT_CLOSE_CANCEL);
	end(&t->f);
}

pid_t party_fork(const struct daemon *d, uint64_t host_bytes,
		 int (*act)(struct party *p, int argument), int argument)
{
	int ready[2];
	char byte = 0;
	pid_t pid;

	cr_assert_eq(pipe(ready), 0);
	fflush(NULL);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (!pid) {
		struct party p = party_open_with(d, host_bytes);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (act(&p, argument) < 0 || write(ready[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

void party_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int party_number(int number)
{
	cr_assert_geq(number, 0, "%s", quoit_open_text());
	return number;
}

quoit_job party_start(struct party *p, struct quoit_sqe sqe)
{
	quoit_job job = 0;

	cr_assert_eq(quoit_start(p->q, sqe, &job), 0);
	cr_assert_eq(quoit_flush(p->q), 0);
	return job;
}

void party_waits(struct party *p, quoit_job job)
{
	cr_expect_eq(quoit_wait(p->q, job, SHORT_MS), -ETIME);
}

void party_poison(struct party *p, quoit_tensor x)
{
	quoit_tensor index = quoit_create_vector(p->q, QUOIT_I32, 1);
	quoit_tensor from = quoit_create_vector(p->q, QUOIT_F32, 1);

	cr_assert_eq(quoit_push(p->q, quoit_fill(index, 7)), 0);
	cr_assert_eq(quoit_push(p->q, quoit_gather(x, from, index, 3)), 0);
	cr_assert_eq(quoit_wait_tensor(p->q, x, SOON_MS), -QUOIT_EPOISON);
}

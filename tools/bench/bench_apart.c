/* SPDX-License-Identifier: MIT */
/* bench_apart.c - run one measurement in a process of its own, with a time limit */
#include "bench_apart.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child sends this when it has measured. */
struct outcome {
	int err;
	double value[BENCH_APART_VALUES];
};

static volatile sig_atomic_t caught;

static void catch_signal(int number)
{
	caught = number;
}

void bench_apart_catch_signals(void)
{
	const struct sigaction action = {.sa_handler = catch_signal};

	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
}

int bench_apart_signal(void)
{
	return caught;
}

/* Only the child has its end of the pipe, so that its death shows as an end of file. */
static void measure(const struct bench *b, const struct bench_series *s, pid_t parent, int out)
{
	struct outcome o = {0};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGTERM, SIG_DFL);
	if (getppid() != parent)
		_exit(1);
	o.err = s->measure(b, s, o.value);
	fflush(stdout);
	_exit(write(out, &o, sizeof o) != sizeof o);
}

/* Wait until the outcome can be read, the limit is reached, or a signal has come. */
static int await(int from, unsigned limit_s)
{
	const double end = bench_now() + limit_s;
	struct pollfd fd = {.fd = from, .events = POLLIN};

	while (!caught) {
		const double left = end - bench_now();
		int came = left > 0 ? poll(&fd, 1, left > 1 ? 1000 : (int)(left * 1e3) + 1) : 0;

		if (came > 0)
			return 0;
		if (came < 0 && errno != EINTR)
			return -errno;
		if (left <= 0)
			return -ETIMEDOUT;
	}
	return -EINTR;
}

int bench_apart(const struct bench *b, const struct bench_series *s, unsigned values,
		unsigned limit_s, double *ret)
{
	const pid_t self = getpid();
	struct outcome o;
	int fd[2], err;
	pid_t child;

	if (pipe(fd) < 0)
		return -errno;
	fflush(NULL);
	child = fork();
	if (child == 0) {
		close(fd[0]);
		measure(b, s, self, fd[1]);
	}
	close(fd[1]);
	err = child < 0 ? -EAGAIN : await(fd[0], limit_s);
	if (!err)
		err = read(fd[0], &o, sizeof o) == sizeof o ? o.err : -ECHILD;
	close(fd[0]);
	if (child > 0) {
		(void)kill(child, SIGKILL);
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (!err)
		memcpy(ret, o.value, values * sizeof *ret);
	return err;
}

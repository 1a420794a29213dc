/* SPDX-License-Identifier: MIT */
/* barriers.c - processes that meet at a barrier of POSIX threads in shared memory */
#include "barriers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floor_process.h"

#define PROCESSES 64u

struct table {
	pthread_barrier_t barrier;
	uint64_t rounds;
};

static int make_barrier(struct table *t, unsigned processes)
{
	pthread_barrierattr_t attr;
	int err = -pthread_barrierattr_init(&attr);

	if (!err)
		err = -pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	if (!err)
		err = -pthread_barrier_init(&t->barrier, &attr, processes);
	(void)pthread_barrierattr_destroy(&attr);
	return err;
}

static void meet(struct table *t)
{
	for (uint64_t i = 0; i < t->rounds; i++)
		(void)pthread_barrier_wait(&t->barrier);
}

static int use_both(const int cpu[2])
{
	cpu_set_t both;

	CPU_ZERO(&both);
	CPU_SET((unsigned)cpu[0], &both);
	CPU_SET((unsigned)cpu[1], &both);
	return sched_setaffinity(0, sizeof both, &both) < 0 ? -errno : 0;
}

/* The others come; returns how many were started. */
static unsigned start_others(struct table *t, unsigned processes, pid_t pid[PROCESSES])
{
	unsigned n = 0;

	for (; n + 1 < processes; n++) {
		pid[n] = fork();
		if (pid[n] < 0)
			break;
		if (!pid[n]) {
			meet(t);
			_exit(0);
		}
	}
	return n;
}

int barriers_run(const int cpu[2], unsigned processes, uint64_t rounds, double *ret_ns)
{
	struct table *t = floor_map(sizeof *t);
	pid_t pid[PROCESSES];
	uint64_t begun;
	unsigned n;
	int err;

	if (!t)
		return -errno;
	t->rounds = rounds;
	err = processes > PROCESSES ? -EINVAL : use_both(cpu);
	if (!err)
		err = make_barrier(t, processes);
	if (err) {
		floor_unmap(t, sizeof *t);
		return err;
	}
	begun = floor_now();
	n = start_others(t, processes, pid);
	if (n + 1 == processes)
		meet(t);
	*ret_ns = (double)(floor_now() - begun) / (double)rounds;
	for (unsigned i = 0; i < n; i++) {
		if (n + 1 < processes)
			(void)kill(pid[i], SIGKILL);
		(void)waitpid(pid[i], NULL, 0);
	}
	floor_unmap(t, sizeof *t);
	return n + 1 < processes ? -EAGAIN : 0;
}

/* SPDX-License-Identifier: MIT */
/* floor_process.c - provide memory, another process and a clock for the floor */
#include "floor_process.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

uint64_t floor_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void *floor_map(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void floor_unmap(void *memory, size_t bytes)
{
	munmap(memory, bytes);
}

static int set_cpu(pid_t pid, int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(pid, sizeof(set), &set) < 0 ? -errno : 0;
}

int floor_pin(int cpu, cpu_set_t *ret_before)
{
	if (sched_getaffinity(0, sizeof(*ret_before), ret_before) < 0)
		return -errno;
	return set_cpu(0, cpu);
}

void floor_unpin(const cpu_set_t *before)
{
	sched_setaffinity(0, sizeof(*before), before);
}

int floor_fork(void (*serve)(void *memory), void *memory, int cpu, pid_t *ret_pid)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		serve(memory);
		_exit(0);
	}
	/* Set by the parent, so that a refused CPU is an error and not a silent server. */
	int r = set_cpu(pid, cpu);

	if (r < 0) {
		kill(pid, SIGKILL);
		floor_join(pid);
		return r;
	}
	*ret_pid = pid;
	return 0;
}

int floor_join(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ECHILD;
}

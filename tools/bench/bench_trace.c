/* SPDX-License-Identifier: MIT */
/* bench_trace.c - count the system calls of processes, by ptrace */
#include "bench_trace.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_THREADS 256
#define SYSCALL_STOP (SIGTRAP | 0x80) /* with PTRACE_O_TRACESYSGOOD */
#define READY_US     1000

enum side { DAEMON, CLIENT, SERVER };

struct tracees {
	pid_t list[MOST_THREADS];
	enum side side[MOST_THREADS];
	unsigned count;
};

static int seize(struct tracees *t, pid_t tid, enum side side)
{
	if (t->count == MOST_THREADS)
		return -ENOTSUP;
	if (ptrace(PTRACE_SEIZE, tid, NULL, PTRACE_O_TRACESYSGOOD) < 0)
		return -ENOTSUP;
	t->side[t->count] = side;
	t->list[t->count++] = tid;
	/* From the stop that this asks for on, the thread's system calls are traced. */
	return ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0 ? -ENOTSUP : 0;
}

static int seize_process(struct tracees *t, pid_t pid, enum side side)
{
	char path[32];
	struct dirent *entry;
	DIR *dir;
	int err = 0;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -ENOTSUP;
	while (!err && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			err = seize(t, (pid_t)atoi(entry->d_name), side);
	closedir(dir);
	return err;
}

/* Let a stopped thread run on to its next stop. */
static void resume(pid_t tid, int status)
{
	int signal = WSTOPSIG(status);

	/* Stops of ptrace's own are not signals for the thread. */
	if (signal == SYSCALL_STOP || status >> 16 == PTRACE_EVENT_STOP)
		signal = 0;
	ptrace(PTRACE_SYSCALL, tid, NULL, signal);
}

/* Has the thread stopped because it begins a system call?  Returns the call's number, or -1. */
static int64_t entered(pid_t tid, int status)
{
	struct __ptrace_syscall_info info;

	if (WSTOPSIG(status) != SYSCALL_STOP ||
	    ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info) < 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return -1;
	return (int64_t)info.entry.nr;
}

/* Wait until every thread has had its first stop: then its calls are seen. */
static int await_all(const struct tracees *t)
{
	for (unsigned i = 0; i < t->count; i++) {
		int status;

		if (waitpid(t->list[i], &status, __WALL) < 0 || !WIFSTOPPED(status))
			return -ECHILD;
		resume(t->list[i], status);
	}
	return 0;
}

static void count(const struct tracees *t, pid_t tid, int64_t nr, struct bench_trace_counts *ret)
{
	unsigned i = 0;

	while (i < t->count && t->list[i] != tid)
		i++;
	if (i == t->count)
		return;
	ret->client += t->side[i] == CLIENT;
	ret->daemon += t->side[i] == DAEMON;
	ret->server += t->side[i] == SERVER;
	ret->marks += t->side[i] == CLIENT && nr == BENCH_TRACE_MARK;
}

/* Follow all threads until the client ends; it is our only child besides the daemon's keeper. */
static int follow(const struct tracees *t, pid_t client, const struct bench_trace *trace,
		  struct bench_trace_counts *ret)
{
	for (;;) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL);
		int64_t nr;

		if (tid < 0 && errno != EINTR)
			return -ECHILD;
		if (tid == client && !WIFSTOPPED(status))
			return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ECHILD;
		if (tid < 0 || !WIFSTOPPED(status))
			continue;
		nr = entered(tid, status);
		if (nr >= 0 && __atomic_load_n(&trace->counting, __ATOMIC_SEQ_CST))
			count(t, tid, nr, ret);
		resume(tid, status);
	}
}

static void let_go(const struct tracees *t)
{
	for (unsigned i = 0; i < t->count; i++) {
		pid_t tid = t->list[i];
		int status;

		if (t->side[i] == CLIENT || ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
			continue;
		if (waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status))
			ptrace(PTRACE_DETACH, tid, NULL, NULL);
	}
}

int bench_trace_count(pid_t daemon, pid_t client, struct bench_trace *trace,
		      struct bench_trace_counts *ret)
{
	struct tracees tracees = {.count = 0};
	int err;

	*ret = (struct bench_trace_counts){0};
	while (!__atomic_load_n(&trace->ready, __ATOMIC_ACQUIRE) && !kill(client, 0))
		usleep(READY_US);
	err = seize_process(&tracees, daemon, DAEMON);
	if (!err)
		err = seize_process(&tracees, client, CLIENT);
	if (!err && trace->server)
		err = seize_process(&tracees, trace->server, SERVER);
	if (!err)
		err = await_all(&tracees);
	if (!err) {
		__atomic_store_n(&trace->go, 1, __ATOMIC_SEQ_CST);
		err = follow(&tracees, client, trace, ret);
	} else {
		kill(client, SIGKILL);
		waitpid(client, NULL, __WALL);
	}
	let_go(&tracees);
	return err ? err : trace->result;
}

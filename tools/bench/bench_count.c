/* SPDX-License-Identifier: MIT */
/* bench_count.c - count the system calls of processes, by counters of the kernel (perf) */
#include "bench_count.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_THREADS 256
#define TRACEPOINT   "/sys/kernel/tracing/events/raw_syscalls/sys_enter/id"
#define MARK         SYS_getppid

struct bench_count {
	int fd[MOST_THREADS];
	unsigned process[MOST_THREADS];
	unsigned count;
	int mark; /* counts the caller's calls of MARK */
};

static int find_tracepoint(uint64_t *ret)
{
	FILE *f = fopen(TRACEPOINT, "re");
	unsigned long id = 0;
	int got = f ? fscanf(f, "%lu", &id) : 0;

	if (f)
		fclose(f);
	*ret = id;
	return got == 1 ? 0 : -ENOTSUP;
}

/* A counter of a thread and of those that it starts, which does not count yet. */
static int open_counter(uint64_t tracepoint, pid_t tid)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
				       .size = sizeof attr,
				       .config = tracepoint,
				       .disabled = 1,
				       .inherit = 1};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int add_thread(struct bench_count *c, uint64_t tracepoint, pid_t tid, unsigned process)
{
	int fd;

	if (c->count == MOST_THREADS)
		return -E2BIG;
	fd = open_counter(tracepoint, tid);
	if (fd < 0) /* one that has just ended calls nothing any more */
		return errno == ESRCH ? 0 : errno == EACCES || errno == EPERM ? -ENOTSUP : -errno;
	c->process[c->count] = process;
	c->fd[c->count++] = fd;
	return 0;
}

static int add_process(struct bench_count *c, uint64_t tracepoint, pid_t pid, unsigned process)
{
	char path[32];
	struct dirent *entry;
	DIR *dir;
	int err = 0;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			err = add_thread(c, tracepoint, (pid_t)atoi(entry->d_name), process);
	closedir(dir);
	return err;
}

static int add_mark(struct bench_count *c, uint64_t tracepoint)
{
	char filter[32];

	snprintf(filter, sizeof filter, "id == %d", MARK);
	c->mark = open_counter(tracepoint, 0);
	return c->mark < 0 || ioctl(c->mark, PERF_EVENT_IOC_SET_FILTER, filter) < 0 ? -ENOTSUP : 0;
}

int bench_count_open(const pid_t pid[BENCH_COUNT_PROCESSES], struct bench_count **ret)
{
	struct bench_count *c = calloc(1, sizeof *c);
	uint64_t tracepoint;
	int err;

	*ret = NULL;
	if (!c)
		return -ENOMEM;
	c->mark = -1;
	err = find_tracepoint(&tracepoint);
	if (!err)
		err = add_mark(c, tracepoint);
	for (unsigned i = 0; i < BENCH_COUNT_PROCESSES && !err; i++)
		if (pid[i])
			err = add_process(c, tracepoint, pid[i], i);
	if (err)
		bench_count_close(c);
	else
		*ret = c;
	return err;
}

void bench_count_begin(void)
{
	(void)prctl(PR_TASK_PERF_EVENTS_ENABLE);
}

int bench_count_end(struct bench_count *c, uint64_t ret_calls[BENCH_COUNT_PROCESSES])
{
	uint64_t n, marks = 0;
	int err = 0;

	(void)syscall(MARK);
	(void)prctl(PR_TASK_PERF_EVENTS_DISABLE);
	for (unsigned i = 0; i < BENCH_COUNT_PROCESSES; i++)
		ret_calls[i] = 0;
	for (unsigned i = 0; i < c->count; i++) {
		if (read(c->fd[i], &n, sizeof n) != sizeof n)
			err = -EBADMSG;
		else
			ret_calls[c->process[i]] += n;
	}
	if (read(c->mark, &marks, sizeof marks) != sizeof marks || marks != 1 || ret_calls[0] < 2)
		return -EBADMSG;
	ret_calls[0] -= 2; /* both of the above */
	return err;
}

void bench_count_close(struct bench_count *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < c->count; i++)
		close(c->fd[i]);
	if (c->mark >= 0)
		close(c->mark);
	free(c);
}

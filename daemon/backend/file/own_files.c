/* SPDX-License-Identifier: MIT */
/* own_files.c - gives a thread a table of descriptors of its own */
#include "own_files.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int own_files_start(pthread_t *ret, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(ret, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

static int close_from(unsigned first, unsigned last)
{
	return first > last ? 0 : (int)syscall(SYS_close_range, first, last, 0);
}

/* For kernels or filters that refuse close_range. */
static void close_one_by_one(int keep)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		limit.rlim_cur = 1024;
	for (rlim_t fd = 0; fd < limit.rlim_cur && fd < INT_MAX; fd++)
		if ((int)fd != keep)
			own_files_close((int)fd);
}

int own_files_begin(int keep)
{
	if (unshare(CLONE_FILES) < 0)
		return -errno;
	if ((keep > 0 && close_from(0, (unsigned)keep - 1) < 0) ||
	    close_from((unsigned)(keep + 1), UINT_MAX) < 0)
		close_one_by_one(keep);
	return 0;
}

int own_files_take(int fd)
{
	/* The process's descriptors are those of its first thread: the common table. */
	int process = (int)syscall(SYS_pidfd_open, getpid(), 0), own;

	if (process < 0)
		return -errno;
	own = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
	if (own < 0)
		own = -errno;
	own_files_close(process);
	return own;
}

void own_files_close(int fd)
{
	(void)syscall(SYS_close, fd);
}

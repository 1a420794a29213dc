/* SPDX-License-Identifier: MIT */
/* supervised.c - start one of the processes that supervise.c runs */
#include "supervised.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit/service_manager.h>

/* CPUs may have gone since they were looked up: rather all that are left than none. */
static void pin(const struct supervised_place *place, unsigned number)
{
	const struct supervise_params *p = place->params;
	int err = p->pinned ? cpu_shares_pin(&place->cpus, number, p->processes) : 0;

	if (err < 0)
		fprintf(stderr, "quoit %s: process %d is not pinned to CPUs: %s\n", p->command,
			(int)getpid(), strerror(-err));
}

/*
 * In a process group of its own, so that the whole group can be killed.  A terminal stops such a
 * process when it reads, so it gets no input.
 */
static int prepare(const struct supervised_place *place, unsigned number, pid_t parent)
{
	const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	char text[12];

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it died before it could send that signal */
		return -ESRCH;
	group_guard_enter(&place->guard, number);
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	pin(place, number);
	snprintf(text, sizeof text, "%u", number);
	if (setenv(place->params->number_variable, text, 1) < 0)
		return -errno;
	quoit_service_manager_leave(environ); /* it is told by us when all are ready */
	sigprocmask(SIG_SETMASK, &place->signals, NULL);
	return 0;
}

/* Become the program.  What keeps us from that, -errno, is written into `failed`. */
static void become(const struct supervised_place *place, unsigned number, pid_t parent, int failed)
{
	char *const *argv = place->params->argv;
	int err = prepare(place, number, parent);

	if (!err) {
		execvp(argv[0], argv);
		err = -errno;
	}
	while (write(failed, &err, sizeof err) < 0 && errno == EINTR)
		;
	_exit(1);
}

/* The pipe closes without a word when the program is executed. */
static int await_program(pid_t pid, int failed)
{
	int err = 0;
	ssize_t n;

	do
		n = read(failed, &err, sizeof err);
	while (n < 0 && errno == EINTR);
	if (n != sizeof err)
		return 0;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return err;
}

pid_t supervised_start(const struct supervised_place *place, unsigned number)
{
	const pid_t self = getpid();
	int ends[2], err;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		become(place, number, self, ends[1]);
	err = pid < 0 ? -errno : 0;
	close(ends[1]);
	if (!err)
		err = await_program(pid, ends[0]);
	close(ends[0]);
	if (err < 0)
		place->guard.group[number] = 0;
	return err < 0 ? err : pid;
}

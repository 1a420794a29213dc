/* SPDX-License-Identifier: MIT */
/* group_guard.c - leave no process behind, however we end */
#include "group_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit/descriptors.h>

static size_t bytes_of(unsigned count)
{
	return count * sizeof(_Atomic(pid_t));
}

void group_guard_clear(const struct group_guard *g, unsigned place)
{
	pid_t group = atomic_exchange(&g->group[place], 0);

	if (group > 0)
		(void)kill(-group, SIGKILL);
}

/* It is in a session of its own: what a terminal or a user sends to our group is not for it. */
static void guard(const struct group_guard *g, int lifeline)
{
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	(void)setsid();
	(void)prctl(PR_SET_NAME, "quoit-guard");
	(void)dup2(lifeline, STDIN_FILENO);
	quoit_descriptors_close(STDIN_FILENO + 1, ~0u);
	while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR)
		;
	for (unsigned i = 0; i < g->count; i++)
		group_guard_clear(g, i);
	_exit(0);
}

static int start(struct group_guard *g)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	g->pid = fork();
	if (g->pid == 0) {
		close(ends[1]);
		guard(g, ends[0]);
	}
	close(ends[0]);
	g->lifeline = ends[1];
	if (g->pid > 0)
		return 0;
	close(ends[1]);
	return -EAGAIN;
}

int group_guard_open(struct group_guard *g, unsigned count)
{
	void *shared = mmap(NULL, bytes_of(count), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int err;

	if (shared == MAP_FAILED)
		return -errno;
	*g = (struct group_guard){.group = shared, .count = count};
	err = start(g);
	if (err < 0)
		munmap(shared, bytes_of(count));
	return err;
}

void group_guard_close(struct group_guard *g)
{
	for (unsigned i = 0; i < g->count; i++)
		g->group[i] = 0;
	close(g->lifeline);
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
	munmap(g->group, bytes_of(g->count));
}

void group_guard_enter(const struct group_guard *g, unsigned place)
{
	(void)setpgid(0, 0);
	g->group[place] = getpid();
}

/* SPDX-License-Identifier: MIT */
/* forked.c - processes that a case has started, and their ends */
#include "forked.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 60000u

void forked_await_exit(struct stage *s, pid_t pid)
{
	int status = -1;

	for (unsigned ms = 0; waitpid(pid, &status, WNOHANG) != pid; ms++) {
		if (!CHECK(s, ms < PATIENCE_MS)) {
			kill(pid, SIGKILL);
			(void)waitpid(pid, &status, 0);
			return;
		}
		usleep(1000);
	}
	if (!CHECK(s, status == 0))
		printf("  wait status %#x\n", (unsigned)status);
}

void forked_kill(struct stage *s, pid_t pid)
{
	int status = -1;

	CHECK(s, !kill(pid, SIGKILL));
	CHECK(s, waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
}

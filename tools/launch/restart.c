/* SPDX-License-Identifier: MIT */
/* restart.c - when to start a process again that has ended, and the words for its end */
#include "restart.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

uint64_t restart_pause_ns(uint64_t first_ns, uint64_t last_ns, uint64_t lived_ns)
{
	if (!last_ns || lived_ns >= RESTART_WELL_NS)
		return first_ns;
	return last_ns < RESTART_MOST_NS / 2 ? 2 * last_ns : RESTART_MOST_NS;
}

void restart_say_end(int status, char *ret, size_t size)
{
	const int signo = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (signo)
		snprintf(ret, size, "was killed by signal %d (%s)", signo, strsignal(signo));
	else
		snprintf(ret, size, "ended with status %d", WEXITSTATUS(status));
}

void restart_say_time(uint64_t ns, char *ret, size_t size)
{
	const double s = (double)ns / 1e9;

	snprintf(ret, size, "%.*f s", s < 0.095 ? 3 : 1, s);
}

/* SPDX-License-Identifier: MIT */
/* thread_state.c - reads a thread's line in /proc */
#include "thread_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool thread_waits_for_core(pid_t thread, uint64_t *ticks)
{
	char path[48], line[512], state = '?', *rest = NULL;
	uint64_t user = 0, system = 0, before = *ticks;
	FILE *f;

	if (!thread)
		return true;
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof line, f))
		rest = strrchr(line, ')'); /* after its name */
	if (f)
		(void)fclose(f);
	if (!rest ||
	    sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
		   &state, &user, &system) != 3)
		return false;
	*ticks = user + system;
	return state == 'R' && *ticks == before;
}

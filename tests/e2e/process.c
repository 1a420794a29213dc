/* SPDX-License-Identifier: MIT */
/* process.c - stops a process, and sees that it stands still */
#include "process.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

static char state_in(const char *path)
{
	char line[512] = "";
	FILE *f = fopen(path, "r");
	const char *end;

	(void)!(f && fgets(line, sizeof line, f));
	if (f)
		fclose(f);
	end = strrchr(line, ')');
	return end ? end[2] : '?';
}

char process_state(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	return state_in(path);
}

/* A thread that is in the kernel stops only when it comes out. */
static bool has_stopped(pid_t pid)
{
	const struct dirent *task;
	char path[320];
	bool all = true;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	dir = opendir(path);
	cr_assert(dir, "process %d is gone", (int)pid);
	while ((task = readdir(dir)) != NULL) {
		if (*task->d_name == '.')
			continue;
		snprintf(path, sizeof path, "/proc/%d/task/%s/stat", (int)pid, task->d_name);
		all &= strchr("T?", state_in(path)) != NULL;
	}
	closedir(dir);
	return all;
}

void process_await_stop(pid_t pid)
{
	for (unsigned tries = 0; tries < 20000; tries++) {
		if (has_stopped(pid))
			return;
		usleep(1000);
	}
	cr_assert_fail("process %d does not stop", (int)pid);
}

void process_stop(pid_t pid)
{
	cr_assert_eq(kill(pid, SIGSTOP), 0);
	process_await_stop(pid);
}

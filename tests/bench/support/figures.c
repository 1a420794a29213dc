/* SPDX-License-Identifier: MIT */
/* figures.c - a clock, medians, and figures that a child measures as another user */
#include "figures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void figures_must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
	exit(1);
}

double figures_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void figures_sort(double *value, unsigned count)
{
	qsort(value, count, sizeof *value, by_value);
}

void figures_print(const char *name, const char *suffix, double *value, unsigned count)
{
	char full[40];

	snprintf(full, sizeof full, "%s%s", name, suffix);
	figures_sort(value, count);
	printf("%-20s %10.3f %10.3f %10.3f\n", full, value[count / 2], value[0], value[count - 1]);
	fflush(stdout);
}

bool figures_become(uid_t uid)
{
	return !setresgid(uid, uid, uid) && !setresuid(uid, uid, uid);
}

double figures_as(uid_t uid, double (*measure)(const void *of), const void *of)
{
	double *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	double figure;
	int status = 1;
	pid_t pid;

	figures_must(shared != MAP_FAILED, "no memory");
	pid = fork();
	if (pid == 0) {
		if (!figures_become(uid))
			_exit(1);
		*shared = measure(of);
		_exit(0);
	}
	(void)waitpid(pid, &status, 0);
	figures_must(status == 0, "no figure from a child");
	figure = *shared;
	munmap(shared, sizeof *shared);
	return figure;
}

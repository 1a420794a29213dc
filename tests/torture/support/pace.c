/* SPDX-License-Identifier: MIT */
/* pace.c - the canary's pace beside a case, and beside an equal load */
#include "pace.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

#ifdef QUOIT_SANITIZE
#define PACED false
#else
#define PACED true
#endif

#define SLOWER_BY  2
#define CROWD      4
#define LOADS_MOST 16u
#define PERIOD_NS  (SECOND / 100) /* a load works for a part of each */
#define LONGEST_NS (20 * SECOND)

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static uint64_t used_by(int who)
{
	struct rusage r;

	getrusage(who, &r);
	return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * SECOND +
	       (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000;
}

/* By the test and its processes that have ended: the canary and quoitd have not. */
static uint64_t used_ns(void)
{
	return used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN);
}

void pace_begin(struct pace *p, struct canary *canary)
{
	*p = (struct pace){
		.canary = PACED ? canary : NULL, .since_ns = now_ns(), .cpu_ns = used_ns()};
	if (p->canary)
		canary_time_anew(p->canary);
}

void pace_end(struct pace *p)
{
	uint64_t wall = now_ns() - p->since_ns;

	p->p99_ns = p->canary ? canary_p99_ns(p->canary) : 0;
	p->load = wall ? (double)(used_ns() - p->cpu_ns) / (double)wall : 0;
}

/* ---- the other one ---- */

static void work(uint64_t busy_ns)
{
	struct timespec rest = {.tv_nsec = (long)(PERIOD_NS - busy_ns)};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		for (uint64_t end = now_ns() + busy_ns; now_ns() < end;)
			;
		nanosleep(&rest, NULL);
	}
}

static unsigned start_load(double load, pid_t *pids)
{
	unsigned count = (unsigned)load + 2; /* it was not one thread for all of the time */

	if (count > LOADS_MOST)
		count = LOADS_MOST;
	fflush(NULL);
	for (unsigned i = 0; i < count; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			work((uint64_t)(load / count * (double)PERIOD_NS));
	}
	return count;
}

static uint64_t p99_beside(double load, struct canary *c)
{
	const uint64_t end = now_ns() + LONGEST_NS;
	pid_t pids[LOADS_MOST];
	unsigned count = start_load(load, pids);
	uint64_t p99;

	canary_time_anew(c);
	do {
		sleep(1);
		p99 = canary_p99_ns(c);
	} while (!p99 && now_ns() < end);
	for (unsigned i = 0; i < count; i++)
		if (pids[i] > 0) {
			kill(pids[i], SIGKILL);
			(void)waitpid(pids[i], NULL, 0);
		}
	return p99;
}

/* More want to run than the scenes of a test have threads that do. */
static bool is_crowded(void)
{
	double wanting = 0;

	return getloadavg(&wanting, 1) != 1 ||
	       wanting > CROWD + (double)sysconf(_SC_NPROCESSORS_ONLN);
}

bool pace_was_kept(const struct pace *p)
{
	uint64_t beside;

	if (!p->p99_ns || is_crowded())
		return true;
	beside = p99_beside(p->load, p->canary);
	if (!beside || p->p99_ns <= SLOWER_BY * beside)
		return true;
	printf("  (99 of 100 small jobs of the canary within %.0f us, beside as busy a stranger "
	       "%.0f us)\n",
	       (double)p->p99_ns / 1e3, (double)beside / 1e3);
	return false;
}

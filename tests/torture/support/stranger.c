/* SPDX-License-Identifier: MIT */
/* stranger.c - run processes that work for a part of the time */
#include "stranger.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "times.h"

#define PERIOD_NS UINT64_C(10000000) /* each works for a part of this */

static uint64_t used_by(int who)
{
	struct rusage r;

	getrusage(who, &r);
	return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000u;
}

uint64_t strangers_used_ns(void)
{
	return used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN);
}

static void work(uint64_t busy_ns)
{
	struct timespec rest = {.tv_nsec = (long)(PERIOD_NS - busy_ns)};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		for (uint64_t end = times_now_ns() + busy_ns; times_now_ns() < end;)
			;
		nanosleep(&rest, NULL);
	}
}

void strangers_start(struct strangers *s, double processors)
{
	/* one more, since the case was not one thread working all the time */
	unsigned count = (unsigned)processors + 2;

	s->count = count < STRANGERS_MOST ? count : STRANGERS_MOST;
	fflush(NULL);
	for (unsigned i = 0; i < s->count; i++) {
		s->pid[i] = fork();
		if (s->pid[i] == 0)
			work((uint64_t)(processors / s->count * (double)PERIOD_NS));
	}
}

void strangers_stop(struct strangers *s)
{
	for (unsigned i = 0; i < s->count; i++)
		if (s->pid[i] > 0) {
			kill(s->pid[i], SIGKILL);
			(void)waitpid(s->pid[i], NULL, 0);
		}
	s->count = 0;
}

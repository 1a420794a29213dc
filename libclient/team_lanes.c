/* SPDX-License-Identifier: MIT */
/* team_lanes.c - the threads that a team starts, and how they end */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "refusal.h"
#include "team.h"

/* Also if a function ends its thread: else quoit_close_team would wait for it for ever. */
static void leave(void *team)
{
	libquoit_team_enters(team, -1);
}

static void *lane_run(void *arg)
{
	const struct lane *lane = arg;
	char name[16];
	cpu_set_t cpus;

	snprintf(name, sizeof name, "quoit-lane-%u", lane->number % 1000);
	(void)pthread_setname_np(pthread_self(), name);
	CPU_ZERO(&cpus);
	if (lane->cpu >= 0 && lane->cpu < CPU_SETSIZE) {
		CPU_SET((unsigned)lane->cpu, &cpus);
		(void)sched_setaffinity(0, sizeof cpus, &cpus); /* it works anywhere */
	}
	pthread_cleanup_push(leave, lane->team);
	(void)libquoit_team_serve_until(lane->team, NEVER);
	pthread_cleanup_pop(1);
	return NULL;
}

/* Wait a moment for the last threads to leave the team.  False: some are still there. */
static bool has_emptied(struct quoit_team *t)
{
	struct timespec until;
	bool empty;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&t->rest);
	if (t->helpers)
		(void)pthread_cond_timedwait(&t->left, &t->rest, &until);
	empty = !t->helpers;
	pthread_mutex_unlock(&t->rest);
	return empty;
}

/* For so many turns of a millisecond a closing service leaves its calls to other processes. */
#define TURNS_LEFT 1000u

/* A closing service whose threads do not leave: perhaps they wait for calls of this very service. */
static void serve_once_more(struct quoit_team *t)
{
	struct team_work work;

	if (__atomic_exchange_n(&t->closing, TEAM_CLOSES_AND_SERVES, __ATOMIC_SEQ_CST) !=
	    TEAM_CLOSES_AND_SERVES)
		libquoit_team_joins(t, 1);
	if (libquoit_team_take(t, &work))
		libquoit_team_run(&work);
}

/*
 * A function that runs may wait for a call that nobody takes any more.  So those of a team are
 * returned as cancelled.  Those of a service stay, as another process is to get them; if that does
 * not help, this thread runs them.
 */
static void clear_the_way(struct quoit_team *t, unsigned turn)
{
	if (!t->serve)
		libquoit_team_refuse_all(t);
	else if (turn >= TURNS_LEFT)
		serve_once_more(t);
}

void libquoit_team_stop_lanes(struct quoit_team *t)
{
	unsigned turn = 0;

	__atomic_store_n(&t->closing, TEAM_CLOSES, __ATOMIC_SEQ_CST);
	libquoit_team_joins(t, 0);
	do {
		libquoit_team_wake_all(t);
		clear_the_way(t, turn++);
	} while (!has_emptied(t));
	clear_the_way(t, 0);
	for (unsigned i = 0; i < t->lane_count; i++)
		(void)pthread_join(t->lanes[i].thread, NULL);
	t->lane_count = 0;
}

/* The program's signal handlers are for its own threads. */
static int start_lane(struct lane *lane)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
	sigset_t all, before;
	int err;

	sigfillset(&all);
	for (unsigned i = 0; i < sizeof own / sizeof *own; i++)
		sigdelset(&all, own[i]); /* what a function does is its thread's own */
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&lane->thread, NULL, lane_run, lane);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int libquoit_team_start_lanes(struct quoit_team *t, unsigned count, const cpu_set_t *cpus)
{
	int cpu = -1, err = 0;

	t->lanes = calloc(count ? count : 1, sizeof *t->lanes);
	if (!t->lanes)
		return libquoit_text_refuse_memory();
	libquoit_team_joins(t, (int)count);
	for (unsigned i = 0; i < count && !err; i++) {
		if (cpus && CPU_COUNT(cpus))
			do
				cpu = (cpu + 1) % CPU_SETSIZE;
			while (!CPU_ISSET((unsigned)cpu, cpus));
		t->lanes[i] = (struct lane){.team = t, .number = i, .cpu = cpu};
		libquoit_team_enters(t, 1);
		err = start_lane(&t->lanes[i]);
		if (err)
			libquoit_team_enters(t, -1);
		t->lane_count += !err;
	}
	if (err)
		libquoit_text_set("cannot start thread %u of %u: %s", t->lane_count + 1, count,
				  strerrordesc_np(-err));
	return err;
}

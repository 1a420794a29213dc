/* SPDX-License-Identifier: MIT */
/*
 * explore_sched.h - run a few threads under every schedule, in the memory of C11.
 *
 * Threads are coroutines that stop before each access to a shared word.  The
 * scheduler takes every choice there is: which thread goes on, which of the stores
 * it may still see a load sees (explore_memory.h), whether a mortal thread dies
 * here.  A state that was seen before is not entered again, so loops that spin
 * end, and the search is exhaustive without a bound on pre-emptions.
 *
 * A state is the shared words, what the kernel holds, and the live stacks and
 * registers of the threads; it is remembered by a hash of 64 bits, so among a
 * million states one in thirty million searches would skip one.
 *
 * One search at a time; nothing here is thread-safe.
 */
#ifndef EXPLORE_SCHED_H
#define EXPLORE_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#define EXPLORE_THREADS 2

struct explore_scenario {
	const char *name;
	void (*setup)(void); /* declares the shared words */
	void (*thread[EXPLORE_THREADS])(void);
	bool mortal; /* thread 0 may die before any of its steps */
};

struct explore_result {
	uint64_t states;
	uint64_t steps;
	uint64_t ends;     /* states in which every thread has come to its end */
	char failure[128]; /* what went wrong; empty: nothing did */
};

/*
 * Search all schedules of a scenario.  False: one of them fails, or the search
 * was cut off by its bounds; the reason is in ret->failure and the schedule that
 * leads there is on stdout if `verbose`.
 */
bool explore_run(const struct explore_scenario *scenario, bool verbose, struct explore_result *ret);

/* ---- for the threads of a scenario ---- */

/* Any of 0..n-1: the search tries them all. */
uint32_t explore_choose(uint32_t n);

/* This schedule is wrong if `ok` is false. */
void explore_check(bool ok, const char *what);

bool explore_is_dead(int thread);

/* A socket that holds one byte.  Send never blocks: a full socket is success. */
void explore_bell_send(void);
void explore_bell_wait(void);
void explore_bell_drain(void);

/* futex(2): sleep if *word is `expected`; wake whoever sleeps. */
void explore_futex_wait(const uint32_t *word, uint32_t expected);
void explore_futex_sleep(void); /* without the comparison: wrong, for a seeded bug */
void explore_futex_wake(void);

/* ---- for explore_memory.c ---- */

/* Let the scheduler take over before an access; returns when it is this thread's turn. */
void explore_step(void);

/* The thread that runs. */
int explore_self(void);

/* A line of the schedule that is printed on failure. */
void explore_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

/* SPDX-License-Identifier: MIT */
/*
 * explore_sched.h - run a few threads under every schedule, in the memory of C11.
 *
 * Threads are coroutines that stop before each access to a shared word.  The scheduler tries every
 * choice: the thread that goes on; for a load, the store that it sees among those that it may see
 * (explore_memory.h); and whether a mortal thread dies here.  A state that was seen before is not
 * entered again, so loops that spin end, and the search is exhaustive without a bound on
 * pre-emptions.
 *
 * A state is the shared words, the kernel's state, and the live stacks and registers of the
 * threads.  It is remembered by a hash of 64 bits, so among a million states one in thirty million
 * searches would skip one.
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
	char failure[128]; /* the failure; empty: there was none */
};

/*
 * Search all schedules of a scenario.  False: one of them fails, or the search reached its limits;
 * ret->failure has the reason, and with `verbose` the schedule is printed on stdout.
 */
bool explore_run(const struct explore_scenario *scenario, bool verbose, struct explore_result *ret);

/* ---- for the threads of a scenario ---- */

/* Any number of 0..n-1: the search tries them all. */
uint32_t explore_choose(uint32_t n);

/* This schedule is wrong if `ok` is false. */
void explore_check(bool ok, const char *what);

bool explore_is_dead(int thread);

/* A socket that holds one byte.  Send never blocks: on a full socket it succeeds, too. */
void explore_bell_send(void);
void explore_bell_wait(void);
void explore_bell_drain(void);

/* futex(2): sleep if *word is `expected`; wake all sleepers. */
void explore_futex_wait(const uint32_t *word, uint32_t expected);
void explore_futex_sleep(void); /* without the comparison, which is wrong: a seeded bug */
void explore_futex_wake(void);

/* ---- for explore_memory.c ---- */

/* Stop before an access, and let the scheduler choose; returns when this thread goes on. */
void explore_step(void);

/* The running thread. */
int explore_self(void);

/* Add a line to the schedule that is printed on failure. */
void explore_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

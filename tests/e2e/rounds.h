/* SPDX-License-Identifier: MIT */
/*
 * rounds.h - rounds of work beside the test, so that what it looks at does not end: a tool that
 * comes late sees the same as one that comes at once
 */
#ifndef TESTS_ROUNDS_H
#define TESTS_ROUNDS_H

#include <pthread.h>
#include <stdbool.h>

#include <criterion/criterion.h>

struct rounds {
	pthread_t thread;
	void (*round)(void *arg);
	void *arg;
	bool stop;
};

static inline void *rounds_do(void *arg)
{
	struct rounds *r = arg;

	while (!__atomic_load_n(&r->stop, __ATOMIC_SEQ_CST))
		r->round(r->arg);
	return NULL;
}

/* *r stays where it is until rounds_end. */
static inline void rounds_begin(struct rounds *r, void (*round)(void *arg), void *arg)
{
	*r = (struct rounds){.round = round, .arg = arg};
	cr_assert_eq(pthread_create(&r->thread, NULL, rounds_do, r), 0);
}

/* Wait for the end of the round that is at work. */
static inline void rounds_end(struct rounds *r)
{
	__atomic_store_n(&r->stop, true, __ATOMIC_SEQ_CST);
	pthread_join(r->thread, NULL);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * rounds.h - rounds of work beside the test, so that what it looks at does not end: a tool that
 * comes late sees the same as one that comes at once
 */
#ifndef TESTS_ROUNDS_H
#define TESTS_ROUNDS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include <criterion/criterion.h>

struct rounds {
	pthread_t thread;
	void (*round)(void *arg);
	void *arg;
	bool *stop;
};

static void *rounds_do(void *arg)
{
	const struct rounds r = *(struct rounds *)arg;

	free(arg);
	while (!__atomic_load_n(r.stop, __ATOMIC_SEQ_CST))
		r.round(r.arg);
	return NULL;
}

static inline struct rounds rounds_begin(void (*round)(void *arg), void *arg)
{
	struct rounds r = {.round = round, .arg = arg, .stop = calloc(1, sizeof *r.stop)};
	struct rounds *own = malloc(sizeof *own);

	cr_assert(r.stop && own);
	*own = r;
	cr_assert_eq(pthread_create(&r.thread, NULL, rounds_do, own), 0);
	return r;
}

/* Wait for the end of the round that is at work. */
static inline void rounds_end(struct rounds *r)
{
	__atomic_store_n(r->stop, true, __ATOMIC_SEQ_CST);
	pthread_join(r->thread, NULL);
	free(r->stop);
}

#endif

/* SPDX-License-Identifier: MIT */
/* measure_thread.c - run a thread on one CPU */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "measure.h"

#define JOIN_S 3 /* longer than MEASURE_MOST_S, so that each thread that runs has ended */

struct thread {
	pthread_t id;
	void (*run)(void *arg);
	void *arg;
};

static void *begin(void *arg)
{
	struct thread *t = arg;

	t->run(t->arg);
	return NULL;
}

static int choose_cpu(pthread_attr_t *attributes, unsigned cpu)
{
	size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	int err = ENOMEM;

	if (set) {
		CPU_ZERO_S(bytes, set);
		CPU_SET_S(cpu, bytes, set);
		err = pthread_attr_setaffinity_np(attributes, bytes, set);
		CPU_FREE(set);
	}
	return err;
}

int measure_start(unsigned cpu, void (*run)(void *arg), void *arg, void **ret_thread)
{
	struct thread *t = malloc(sizeof *t);
	pthread_attr_t attributes;
	int err;

	*ret_thread = NULL;
	if (!t)
		return -ENOMEM;
	*t = (struct thread){.run = run, .arg = arg};
	pthread_attr_init(&attributes);
	err = choose_cpu(&attributes, cpu);
	if (!err)
		err = pthread_create(&t->id, &attributes, begin, t);
	pthread_attr_destroy(&attributes);
	if (err)
		free(t);
	else
		*ret_thread = t;
	return -err;
}

bool measure_join(void *thread)
{
	struct thread *t = thread;
	struct timespec until;

	if (!t)
		return true;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += JOIN_S;
	if (pthread_clockjoin_np(t->id, NULL, CLOCK_MONOTONIC, &until)) {
		pthread_detach(t->id); /* it may still read *t */
		return false;
	}
	free(t);
	return true;
}

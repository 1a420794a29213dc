/* SPDX-License-Identifier: MIT */
/* event.c - emulate events, which are places in streams. */
#include <pthread.h>
#include <stdlib.h>

#include "emulator.h"

struct CUevent_st {
	uint64_t recorded, done;
	unsigned users; /* its owner, and tasks */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all events */
static pthread_cond_t progress = PTHREAD_COND_INITIALIZER;

struct mark {
	cudaEvent_t event;
	uint64_t number;
};

static void release_event(cudaEvent_t e) /* Call it with the lock held. */
{
	if (--e->users == 0)
		free(e);
}

static void record_task(void *argument)
{
	struct mark *m = argument;

	pthread_mutex_lock(&lock);
	if (m->event->done < m->number)
		__atomic_store_n(&m->event->done, m->number, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&progress);
	release_event(m->event);
	pthread_mutex_unlock(&lock);
	free(m);
}

static void wait_task(void *argument)
{
	struct mark *m = argument;

	pthread_mutex_lock(&lock);
	while (m->event->done < m->number)
		pthread_cond_wait(&progress, &lock);
	release_event(m->event);
	pthread_mutex_unlock(&lock);
	free(m);
}

static cudaError_t put_mark(cudaStream_t s, cudaEvent_t e, emulator_task *task, unsigned more)
{
	const cudaError_t err = emulator_begin();
	struct mark *m = err ? NULL : malloc(sizeof *m);

	if (!m)
		return emulator_say(err ? err : cudaErrorMemoryAllocation);
	pthread_mutex_lock(&lock);
	e->recorded += more;
	e->users++;
	*m = (struct mark){e, e->recorded};
	pthread_mutex_unlock(&lock);
	return emulator_put(s, task, m);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *ret, unsigned int flags)
{
	const cudaError_t err = emulator_begin();
	struct CUevent_st *e = err ? NULL : calloc(1, sizeof *e);

	if (flags != cudaEventDisableTiming)
		emulator_refuse("an event of flags %u", flags);
	if (!e)
		return emulator_say(err ? err : cudaErrorMemoryAllocation);
	e->users = 1;
	*ret = e;
	return emulator_say(cudaSuccess);
}

cudaError_t cudaEventDestroy(cudaEvent_t e)
{
	pthread_mutex_lock(&lock);
	release_event(e);
	pthread_mutex_unlock(&lock);
	return emulator_say(emulator_broken());
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
	return put_mark(s, e, record_task, 1);
}

cudaError_t cudaEventQuery(cudaEvent_t e)
{
	return emulator_say_whether(__atomic_load_n(&e->done, __ATOMIC_ACQUIRE) >= e->recorded);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned int flags)
{
	if (flags)
		emulator_refuse("an event waited for with flags %u", flags);
	return put_mark(s, e, wait_task, 0);
}

/* SPDX-License-Identifier: MIT */
/* stream.c - emulate streams: a stream is a host thread with a queue. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "emulator.h"

#define STREAM_NICE (-15)

/* The most resident kernels. */
#define RESIDENTS 64

struct task {
	emulator_task *run;
	void *argument;
	struct task *next;
};

struct CUstream_st {
	pthread_t thread;
	pthread_cond_t more;
	struct task *first, **last;
	uint64_t put, done;
	bool leaves;
	struct CUstream_st *next;
};

/* One lock for all streams, and one condition for all events. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t progress = PTHREAD_COND_INITIALIZER;
static struct CUstream_st *streams;
static const uint32_t *resident[RESIDENTS]; /* the words with which they say that they leave */

/* ---- the thread ---- */

static struct task *await_task(struct CUstream_st *s)
{
	struct task *t;

	while (!s->first && !s->leaves)
		pthread_cond_wait(&s->more, &lock);
	t = s->first;
	if (t) {
		s->first = t->next;
		if (!s->first)
			s->last = &s->first;
	}
	return t;
}

static void *stream_main(void *argument)
{
	struct CUstream_st *s = argument;
	struct task *t;

	/*
	 * A device needs no processor of ours: its threads run before all others, as far as we may
	 * set that.
	 */
	(void)setpriority(PRIO_PROCESS, 0, STREAM_NICE);
	pthread_mutex_lock(&lock);
	while ((t = await_task(s))) {
		pthread_mutex_unlock(&lock);
		t->run(t->argument);
		free(t);
		pthread_mutex_lock(&lock);
		__atomic_store_n(&s->done, s->done + 1, __ATOMIC_RELEASE);
		pthread_cond_broadcast(&progress);
	}
	pthread_mutex_unlock(&lock);
	emulator_leave();
	return NULL;
}

/* ---- streams ---- */

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	*least = 0;
	*greatest = -2;
	return emulator_say(emulator_begin());
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *ret, unsigned int flags, int priority)
{
	struct CUstream_st *s;
	cudaError_t err = emulator_park("cudaStreamCreateWithPriority");

	if (err)
		return emulator_say(err);
	if (flags != cudaStreamNonBlocking || priority > 0 || priority < -2)
		emulator_refuse("a stream of flags %u and priority %d", flags, priority);
	s = calloc(1, sizeof *s);
	if (!s)
		return emulator_say(cudaErrorMemoryAllocation);
	pthread_cond_init(&s->more, NULL);
	s->last = &s->first;
	pthread_mutex_lock(&lock);
	s->next = streams;
	streams = s;
	pthread_mutex_unlock(&lock);
	if (pthread_create(&s->thread, NULL, stream_main, s))
		emulator_refuse("no thread for a stream");
	*ret = s;
	return emulator_say(cudaSuccess);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *ret, unsigned int flags)
{
	return cudaStreamCreateWithPriority(ret, flags, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t s)
{
	struct CUstream_st **at;
	cudaError_t err = emulator_settle("cudaStreamDestroy");

	if (err)
		return emulator_say(err);
	pthread_mutex_lock(&lock);
	for (at = &streams; *at && *at != s; at = &(*at)->next)
		;
	if (!*at)
		emulator_refuse("a stream that is none");
	*at = s->next;
	s->leaves = true;
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&lock);
	pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->more);
	free(s);
	return emulator_say(cudaSuccess);
}

cudaError_t emulator_say_whether(bool done)
{
	const cudaError_t err = emulator_begin();

	if (!done)
		sched_yield();
	return emulator_say(err ? err : done ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaStreamQuery(cudaStream_t s)
{
	return emulator_say_whether(__atomic_load_n(&s->done, __ATOMIC_ACQUIRE) == s->put);
}

cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
	const cudaError_t err = emulator_begin();

	if (err)
		return emulator_say(err);
	pthread_mutex_lock(&lock);
	while (s->done != s->put)
		pthread_cond_wait(&progress, &lock);
	pthread_mutex_unlock(&lock);
	return emulator_say(emulator_broken());
}

cudaError_t emulator_put(cudaStream_t s, emulator_task *run, void *argument)
{
	struct task *t = malloc(sizeof *t);

	if (!t || !argument) {
		free(t);
		free(argument);
		return emulator_say(cudaErrorMemoryAllocation);
	}
	if (!s)
		emulator_refuse("the default stream, which waits for all others");
	*t = (struct task){run, argument, NULL};
	pthread_mutex_lock(&lock);
	*s->last = t;
	s->last = &t->next;
	s->put++;
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&lock);
	return emulator_say(cudaSuccess);
}

static bool is_idle(void)
{
	for (const struct CUstream_st *s = streams; s; s = s->next)
		if (s->done != s->put)
			return false;
	return true;
}

static bool is_left(void)
{
	for (unsigned i = 0; i < RESIDENTS; i++)
		if (resident[i])
			return false;
	return true;
}

/* Call it with the lock held. */
static void refuse_residents(const char *who)
{
	for (unsigned i = 0; i < RESIDENTS; i++)
		if (resident[i] && !__atomic_load_n(resident[i], __ATOMIC_ACQUIRE))
			emulator_refuse("%s beside a kernel that stays", who);
}

void emulator_change_resident(const uint32_t *from, const uint32_t *to)
{
	unsigned i = 0;

	pthread_mutex_lock(&lock);
	while (i < RESIDENTS && resident[i] != from)
		i++;
	if (i == RESIDENTS)
		emulator_refuse("more than %d kernels that stay", RESIDENTS);
	resident[i] = to;
	pthread_cond_broadcast(&progress);
	pthread_mutex_unlock(&lock);
}

static void await(bool (*is_so)(void), const char *who)
{
	pthread_mutex_lock(&lock);
	refuse_residents(who);
	while (!is_so())
		pthread_cond_wait(&progress, &lock);
	pthread_mutex_unlock(&lock);
}

cudaError_t emulator_park(const char *who)
{
	const cudaError_t err = emulator_begin();

	if (!err)
		await(is_left, who);
	return err ? err : emulator_broken();
}

cudaError_t emulator_settle(const char *who)
{
	if (!emulator_broken())
		await(is_idle, who);
	return emulator_broken();
}

cudaError_t cudaDeviceSynchronize(void)
{
	return emulator_say(emulator_settle("cudaDeviceSynchronize"));
}

/* SPDX-License-Identifier: MIT */
/* stream.c - a stream is a host thread with a queue; events are places in them. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "emulator.h"

#define STREAM_NICE (-15)

/* Kernels that stay, at most. */
#define RESIDENTS 64

#define KERNELS 4096

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

struct CUevent_st {
	uint64_t recorded, done;
	unsigned users; /* whoever made it, and tasks */
};

/* One lock for all, and one place to wait for whatever has been done. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t progress = PTHREAD_COND_INITIALIZER;
static struct CUstream_st *streams;
static const uint32_t *resident[RESIDENTS]; /* the words by which they say that they leave */

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

	/* A device has no need of our processors: it is before all who do, as far as we may. */
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

/* Who asks so asks again: without the lock, and what it waits for may need its processor. */
static cudaError_t say_whether(bool done)
{
	const cudaError_t err = emulator_begin();

	if (!done)
		sched_yield();
	return emulator_say(err ? err : done ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaStreamQuery(cudaStream_t s)
{
	return say_whether(__atomic_load_n(&s->done, __ATOMIC_ACQUIRE) == s->put);
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

/* The lock is held. */
static void refuse_residents(const char *who)
{
	for (unsigned i = 0; i < RESIDENTS; i++)
		if (resident[i] && !__atomic_load_n(resident[i], __ATOMIC_ACQUIRE))
			emulator_refuse("%s beside a kernel that stays", who);
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

/* ---- launches ---- */

struct launch {
	struct emulator_grid grid;
	_Alignas(16) char args[];
};

/* From one to the other, NULL: nobody's place. */
static void change_resident(const uint32_t *from, const uint32_t *to)
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

static void launch_task(void *argument)
{
	struct launch *l = argument;
	cudaError_t err;

	l->grid.args = l->args;
	err = emulator_broken() ? cudaSuccess : emulator_run(&l->grid);
	if (err)
		emulator_break(err);
	if (l->grid.left)
		change_resident(l->grid.left, NULL);
	free(l);
}

bool emulator_load(const void *kernel)
{
	static const void *loaded[KERNELS];
	size_t i = 0;

	while (i < KERNELS && loaded[i] && loaded[i] != kernel)
		i++;
	if (i == KERNELS)
		emulator_refuse("more than %d kernels", KERNELS);
	if (loaded[i])
		return true;
	loaded[i] = kernel;
	return false;
}

cudaError_t emulator_launch(cudaStream_t s, const void *kernel, const struct emulator_grid *grid,
			    const void *args, size_t args_bytes)
{
	const struct emulator_grid *g = grid;
	const uint64_t threads = (uint64_t)g->block.x * g->block.y * g->block.z;
	const cudaError_t before = cudaPeekAtLastError();
	cudaError_t err;
	struct launch *l;

	if (before)
		emulator_refuse("error %d was not taken before the next launch", before);
	if (threads == 0 || threads > EMULATOR_BLOCK_THREADS || g->block.z > 64 || !g->grid.x ||
	    !g->grid.y || !g->grid.z || g->grid.y > 65535 || g->grid.z > 65535 ||
	    g->grid.x > INT32_MAX)
		return emulator_say(cudaErrorInvalidConfiguration);
	err = emulator_load(kernel) ? emulator_begin()
				    : emulator_park("the first launch of a kernel");
	if (err)
		return emulator_say(err);
	l = malloc(sizeof *l + args_bytes);
	if (l) {
		l->grid = *grid;
		memcpy(l->args, args, args_bytes);
		if (grid->left)
			change_resident(NULL, grid->left);
	}
	return emulator_put(s, launch_task, l);
}

/* ---- events ---- */

struct mark {
	cudaEvent_t event;
	uint64_t number;
};

static void release_event(cudaEvent_t e) /* the lock is held */
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
	return say_whether(__atomic_load_n(&e->done, __ATOMIC_ACQUIRE) >= e->recorded);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned int flags)
{
	if (flags)
		emulator_refuse("an event waited for with flags %u", flags);
	return put_mark(s, e, wait_task, 0);
}

/* SPDX-License-Identifier: MIT */
/*
 * soft_stream.c - a stream: a queue, and the thread that runs its entries.
 *
 * A stream ends itself when it is told to and its queue is empty.  So only the closing of the
 * device waits for it.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/affinity.h"
#include "soft_private.h"

/* Reactors preempt an urgent stream; it preempts other streams and workers. */
#define URGENT_NICE 10

struct quoit_device_stream {
	struct quoit_device *device;
	LIST_ENTRY(quoit_device_stream) list;
	enum quoit_device_urgency urgency;
	pthread_cond_t put; /* with the device's lock: there is work, or the end */
	bool ends;          /* under the lock */
	uint64_t tail; /* entries put in; the calling thread's, which moves it under the lock */
	_Atomic uint64_t head; /* entries done; the stream's thread's */
	struct soft_task task[SOFT_ENTRIES];
};

/* ---- the stream's thread ---- */

_Noreturn void soft_hang(void)
{
	for (;;)
		(void)pause();
}

/* What QUOIT_SOFT_FAULTS does when the work runs. */
static int suffer(int what)
{
	switch (what) {
	case SOFT_HANG:
		soft_hang();
	case SOFT_DIE:
		return kill(getpid(), SIGKILL);
	case SOFT_STOP:
		return kill(getpid(), SIGSTOP);
	default:
		return what;
	}
}

static struct soft_task *next_task(struct quoit_device_stream *s)
{
	struct quoit_device *d = s->device;
	const uint64_t head = s->head;
	bool any;

	(void)pthread_mutex_lock(&d->lock);
	while (s->tail == head && !s->ends)
		(void)pthread_cond_wait(&s->put, &d->lock);
	any = s->tail != head;
	(void)pthread_mutex_unlock(&d->lock);
	return any ? &s->task[head % SOFT_ENTRIES] : NULL;
}

/* Do a task.  A broken device's work has no effect any more: it is taken out, and not run. */
static void do_task(struct quoit_device_stream *s, struct soft_task *task)
{
	struct quoit_device *d = s->device;
	int err = 0;

	if (!d->broken) {
		err = suffer(task->suffers);
		if (!err)
			err = task->run(d, task);
	}
	if (err)
		soft_break(d, err, task->verdict, task->suffers ? SOFT_INJECTED : SOFT_ASTRAY);
	soft_mark_unref(task->mark);
	/* The caller may write into the entry once it sees this. */
	atomic_fetch_add_explicit(&s->head, 1, memory_order_release);
}

static void end(struct quoit_device_stream *s)
{
	struct quoit_device *d = s->device;

	(void)pthread_mutex_lock(&d->lock);
	LIST_REMOVE(s, list);
	(void)pthread_cond_broadcast(&d->changed);
	(void)pthread_mutex_unlock(&d->lock); /* this thread's last access to the device */
	(void)pthread_cond_destroy(&s->put);
	free(s);
}

static void *work(void *argument)
{
	struct quoit_device_stream *s = argument;
	struct soft_task *task;

	/*
	 * A real device takes no time of the cores.  So the threads that stand for it do not
	 * compete with programs by D23, as workers do, but always stay out of the way.  Both calls
	 * may be refused; the stream works all the same.
	 */
	if (s->urgency == QUOIT_DEVICE_URGENT)
		(void)affinity_set_nice(URGENT_NICE);
	else
		(void)affinity_give_way(AFFINITY_BACKGROUND_NICE);
	while ((task = next_task(s)))
		do_task(s, task);
	end(s);
	return NULL;
}

/* The thread blocks all signals: they are for the thread that calls the driver. */
int soft_thread_start(void *(*run)(void *), void *argument)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all;
	int err;

	(void)sigfillset(&all);
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setsigmask_np(&attr, &all);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = -pthread_create(&thread, &attr, run, argument);
	(void)pthread_attr_destroy(&attr);
	return err;
}

/* ---- the thread that calls the driver ---- */

int soft_stream_new(struct quoit_device *d, enum quoit_device_urgency urgency,
		    struct quoit_device_stream **ret)
{
	struct quoit_device_stream *s;
	int err = soft_enter(d, SOFT_STREAM_NEW);

	if (err)
		return err;
	s = calloc(1, sizeof *s);
	if (!s)
		return -ENOMEM;
	s->device = d;
	s->urgency = urgency;
	(void)pthread_cond_init(&s->put, NULL);
	(void)pthread_mutex_lock(&d->lock);
	LIST_INSERT_HEAD(&d->streams, s, list);
	err = soft_thread_start(work, s);
	if (err)
		LIST_REMOVE(s, list);
	(void)pthread_mutex_unlock(&d->lock);
	if (err) {
		(void)pthread_cond_destroy(&s->put);
		free(s);
		return err;
	}
	*ret = s;
	return 0;
}

/* Call it with the lock held. */
static void tell_to_end(struct quoit_device_stream *s)
{
	s->ends = true;
	(void)pthread_cond_signal(&s->put);
}

void soft_stream_free(struct quoit_device_stream *s)
{
	struct quoit_device *d;

	if (!s)
		return;
	d = s->device;
	(void)pthread_mutex_lock(&d->lock);
	tell_to_end(s);
	(void)pthread_mutex_unlock(&d->lock);
}

void soft_stream_free_all(struct quoit_device *d)
{
	struct quoit_device_stream *s;

	(void)pthread_mutex_lock(&d->lock);
	LIST_FOREACH(s, &d->streams, list)
	tell_to_end(s);
	while (!LIST_EMPTY(&d->streams))
		(void)pthread_cond_wait(&d->changed, &d->lock);
	(void)pthread_mutex_unlock(&d->lock);
}

struct quoit_device *soft_stream_device(const struct quoit_device_stream *s)
{
	return s->device;
}

int soft_stream_reserve(struct quoit_device_stream *s, enum soft_function function,
			struct soft_task **ret)
{
	struct soft_task *task = &s->task[s->tail % SOFT_ENTRIES];
	int err = atomic_load_explicit(&s->device->broken, memory_order_acquire);
	int suffers;

	if (err)
		return err;
	suffers = soft_faults_next(function);
	if (suffers < 0 && !soft_is_sticky(suffers))
		return suffers;
	if (s->tail - atomic_load_explicit(&s->head, memory_order_acquire) == SOFT_ENTRIES)
		return -EAGAIN;
	task->suffers = suffers;
	task->verdict = NULL;
	task->mark = NULL;
	*ret = task;
	return 0;
}

void soft_stream_submit(struct quoit_device_stream *s)
{
	(void)pthread_mutex_lock(&s->device->lock);
	s->tail++;
	(void)pthread_cond_signal(&s->put);
	(void)pthread_mutex_unlock(&s->device->lock);
}

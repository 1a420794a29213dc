/* SPDX-License-Identifier: MIT */
/*
 * soft_event.c - events, and streams that wait for them.
 *
 * An event may be recorded again while streams still wait for its earlier recording.  So each
 * recording has a mark of its own, which lives while the event or a stream refers to it.  An event
 * is for streams of its own device only; with others it is -EINVAL.
 */
#include <errno.h>
#include <stdlib.h>

#include "soft_private.h"

struct quoit_device_event {
	struct quoit_device *device;
	struct soft_mark *mark; /* NULL: never recorded */
};

void soft_mark_unref(struct soft_mark *mark)
{
	/* The last user frees what the others have read and written. */
	if (mark && atomic_fetch_sub_explicit(&mark->users, 1, memory_order_acq_rel) == 1)
		free(mark);
}

int soft_event_new(struct quoit_device *d, struct quoit_device_event **ret)
{
	const int err = soft_enter(d, SOFT_EVENT_NEW);
	struct quoit_device_event *e;

	if (err)
		return err;
	e = calloc(1, sizeof *e);
	if (!e)
		return -ENOMEM;
	e->device = d;
	*ret = e;
	return 0;
}

void soft_event_free(struct quoit_device_event *e)
{
	if (e)
		soft_mark_unref(e->mark);
	free(e);
}

static int run_record(struct quoit_device *d, const struct soft_task *task)
{
	(void)pthread_mutex_lock(&d->lock);
	atomic_store_explicit(&task->mark->done, true, memory_order_release);
	(void)pthread_cond_broadcast(&d->changed);
	(void)pthread_mutex_unlock(&d->lock);
	return 0;
}

int soft_event_record(struct quoit_device_event *e, struct quoit_device_stream *s)
{
	struct soft_mark *mark;
	struct soft_task *task;
	int err = soft_stream_reserve(s, SOFT_EVENT_RECORD, &task);

	if (err)
		return err;
	if (e->device != soft_stream_device(s))
		return -EINVAL;
	mark = malloc(sizeof *mark);
	if (!mark)
		return -ENOMEM;
	atomic_init(&mark->users, 2); /* the event and the task */
	atomic_init(&mark->done, false);
	soft_mark_unref(e->mark);
	e->mark = mark;
	task->mark = mark;
	task->run = run_record;
	soft_stream_submit(s);
	return 0;
}

int soft_event_done(struct quoit_device_event *e)
{
	const int err = soft_enter(e->device, SOFT_EVENT_DONE);

	if (err)
		return err;
	return !e->mark || atomic_load_explicit(&e->mark->done, memory_order_acquire);
}

static int run_wait(struct quoit_device *d, const struct soft_task *task)
{
	(void)pthread_mutex_lock(&d->lock);
	while (!task->mark->done && !d->broken)
		(void)pthread_cond_wait(&d->changed, &d->lock);
	(void)pthread_mutex_unlock(&d->lock);
	return 0;
}

int soft_event_wait(struct quoit_device_stream *s, struct quoit_device_event *e)
{
	struct soft_task *task;
	const int err = soft_stream_reserve(s, SOFT_STREAM_WAIT, &task);

	if (err)
		return err;
	if (e->device != soft_stream_device(s))
		return -EINVAL;
	if (!e->mark)
		return 0;
	(void)atomic_fetch_add_explicit(&e->mark->users, 1, memory_order_relaxed);
	task->mark = e->mark;
	task->run = run_wait;
	soft_stream_submit(s);
	return 0;
}

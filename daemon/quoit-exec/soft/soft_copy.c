/* SPDX-License-Identifier: MIT */
/* soft_copy.c - work that moves bytes or writes a word */
#include <errno.h>
#include <string.h>

#include "soft_private.h"

/* ---- bytes ---- */

static int run_copy(struct quoit_device *d, const struct soft_task *task)
{
	const struct soft_copy *c = &task->copy;
	void *to = c->way == QUOIT_DEVICE_OUT ? (void *)(uintptr_t)c->to
					      : soft_memory_find(d, c->to, c->bytes);
	const void *from = c->way == QUOIT_DEVICE_IN ? (const void *)(uintptr_t)c->from
						     : soft_pool_find(d, c->from, c->bytes);

	if (!to || !from)
		return -QUOIT_EGPUFAULT;
	memmove(to, from, c->bytes);
	return 0;
}

int soft_copy(struct quoit_device_stream *s, uint64_t to, uint64_t from, uint64_t bytes,
	      enum quoit_device_way way)
{
	const struct quoit_device *d = soft_stream_device(s);
	const uint64_t host = way == QUOIT_DEVICE_OUT ? to : from;
	struct soft_task *task;
	const int err = soft_stream_reserve(s, SOFT_COPY, &task);

	if (err)
		return err;
	if (way != QUOIT_DEVICE_WITHIN && !soft_host_is_known(d, (void *)(uintptr_t)host, bytes))
		return -EFAULT;
	task->run = run_copy;
	task->copy = (struct soft_copy){to, from, bytes, way};
	soft_stream_submit(s);
	return 0;
}

static int run_clear(struct quoit_device *d, const struct soft_task *task)
{
	const struct soft_clear *c = &task->clear;
	void *at = soft_memory_find(d, c->address, c->bytes);

	if (!at)
		return -QUOIT_EGPUFAULT;
	memset(at, 0, c->bytes);
	return 0;
}

int soft_clear(struct quoit_device_stream *s, uint64_t address, uint64_t bytes)
{
	struct soft_task *task;
	const int err = soft_stream_reserve(s, SOFT_CLEAR, &task);

	if (err)
		return err;
	task->run = run_clear;
	task->clear = (struct soft_clear){address, bytes};
	soft_stream_submit(s);
	return 0;
}

/* ---- words ---- */

static int run_signal(struct quoit_device *d, const struct soft_task *task)
{
	(void)d;
	/* A reader of the value, with acquire, sees all that this stream has done before. */
	__atomic_store_n(task->signal.word, task->signal.value, __ATOMIC_RELEASE);
	return 0;
}

int soft_signal(struct quoit_device_stream *s, uint32_t *word, uint32_t value)
{
	struct soft_task *task;
	const int err = soft_stream_reserve(s, SOFT_SIGNAL, &task);

	if (err)
		return err;
	if (!soft_host_is_known(soft_stream_device(s), word, sizeof *word))
		return -EFAULT;
	task->run = run_signal;
	task->signal = (struct soft_signal){word, value};
	soft_stream_submit(s);
	return 0;
}

static int run_stamp(struct quoit_device *d, const struct soft_task *task)
{
	(void)d;
	__atomic_store_n(task->stamp, soft_now(), __ATOMIC_RELEASE);
	return 0;
}

int soft_stamp(struct quoit_device_stream *s, uint64_t *word)
{
	struct soft_task *task;
	const int err = soft_stream_reserve(s, SOFT_STAMP, &task);

	if (err)
		return err;
	if (!soft_host_is_known(soft_stream_device(s), word, sizeof *word))
		return -EFAULT;
	task->run = run_stamp;
	task->stamp = word;
	soft_stream_submit(s);
	return 0;
}

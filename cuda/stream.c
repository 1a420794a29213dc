/* SPDX-License-Identifier: MIT */
/* stream.c - streams, events, and work that copies, clears, signals or stamps. */
#include <errno.h>
#include <stdlib.h>

#include "context.h"
#include "errors.h"
#include "kernels/kernels.h"
#include "kernels/reduce_plan.h"

/*
 * Scratch is allocated in these steps, so that a little more needs no new allocation.  Every stream
 * has the first step from the beginning.  No reduction needs more, so one may run beside a resident
 * consumer.
 */
#define STREAM_SCRATCH_STEP REDUCE_MOST_SCRATCH

struct quoit_device_event {
	struct quoit_device *device;
	cudaEvent_t event;
};

int stream_new(struct quoit_device *d, enum quoit_device_urgency urgency,
	       struct quoit_device_stream **ret)
{
	struct quoit_device_stream *s;
	int least, greatest;
	uint64_t scratch;
	int err;

	if (d->broken)
		return d->broken;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->device = d;
	err = device_check(d, cudaDeviceGetStreamPriorityRange(&least, &greatest));
	if (!err)
		err = device_check(d, cudaStreamCreateWithPriority(
					      &s->stream, cudaStreamNonBlocking,
					      urgency == QUOIT_DEVICE_URGENT ? greatest : least));
	if (!err)
		err = stream_scratch(s, STREAM_SCRATCH_STEP, &scratch);
	s->next = d->streams;
	d->streams = s;
	if (err) {
		stream_free(s);
		return err;
	}
	*ret = s;
	return 0;
}

void stream_free(struct quoit_device_stream *s)
{
	struct quoit_device_stream **at;
	struct quoit_device *d;

	if (!s)
		return;
	d = s->device;
	for (at = &d->streams; *at != s; at = &(*at)->next)
		;
	*at = s->next;
	if (!d->broken && s->stream) {
		(void)device_check(d, cudaStreamSynchronize(s->stream));
		if (d->blas.library)
			blas_handle_free(&d->blas, s->blas);
		if (s->scratch)
			(void)device_check(d, memory_give(d, s->scratch, s->stream));
		(void)device_check(d, cudaStreamDestroy(s->stream));
	}
	free(s);
}

/* By the stream's order the old scratch stays in use until work that was put in before is done. */
int stream_scratch(struct quoit_device_stream *s, size_t bytes, uint64_t *ret)
{
	const size_t more = (bytes + STREAM_SCRATCH_STEP - 1) & ~((size_t)STREAM_SCRATCH_STEP - 1);
	struct quoit_device *d = s->device;
	int err = 0;

	if (bytes > s->scratch_bytes) {
		if (s->scratch)
			err = device_check(d, memory_give(d, s->scratch, s->stream));
		s->scratch = NULL;
		s->scratch_bytes = 0;
		if (!err)
			err = device_check(d, memory_take(d, more, s->stream, &s->scratch));
		if (err)
			return err;
		s->scratch_bytes = more;
	}
	*ret = (uintptr_t)s->scratch;
	return 0;
}

/* ---- events ---- */

int stream_event_new(struct quoit_device *d, struct quoit_device_event **ret)
{
	struct quoit_device_event *e;
	int err;

	if (d->broken)
		return d->broken;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->device = d;
	err = device_check(d, cudaEventCreateWithFlags(&e->event, cudaEventDisableTiming));
	if (err) {
		free(e);
		return err;
	}
	*ret = e;
	return 0;
}

void stream_event_free(struct quoit_device_event *e)
{
	if (e && !e->device->broken)
		(void)device_check(e->device, cudaEventDestroy(e->event));
	free(e);
}

int stream_event_record(struct quoit_device_event *e, struct quoit_device_stream *s)
{
	if (e->device->broken)
		return e->device->broken;
	return device_check(e->device, cudaEventRecord(e->event, s->stream));
}

int stream_event_done(struct quoit_device_event *e)
{
	int err;

	if (e->device->broken)
		return e->device->broken;
	err = device_check(e->device, cudaEventQuery(e->event));
	return err == -EAGAIN ? 0 : err ? err : 1;
}

int stream_wait(struct quoit_device_stream *s, struct quoit_device_event *e)
{
	if (s->device->broken)
		return s->device->broken;
	return device_check(s->device, cudaStreamWaitEvent(s->stream, e->event, 0));
}

/* ---- bytes and words ---- */

int stream_copy(struct quoit_device_stream *s, uint64_t to, uint64_t from, uint64_t bytes,
		enum quoit_device_way way)
{
	static const enum cudaMemcpyKind kind[] = {
		[QUOIT_DEVICE_IN] = cudaMemcpyHostToDevice,
		[QUOIT_DEVICE_OUT] = cudaMemcpyDeviceToHost,
		[QUOIT_DEVICE_WITHIN] = cudaMemcpyDeviceToDevice,
	};
	static const unsigned name[] = {
		[QUOIT_DEVICE_IN] = PROFILE_COPY_IN,
		[QUOIT_DEVICE_OUT] = PROFILE_COPY_OUT,
		[QUOIT_DEVICE_WITHIN] = QUOIT_OP_COPY,
	};
	int err;

	if (s->device->broken)
		return s->device->broken;
	if (bytes == 0)
		return 0;
	profile_begin(&s->device->profile, name[way]);
	err = device_check(s->device,
			   cudaMemcpyAsync((void *)(uintptr_t)to, (const void *)(uintptr_t)from,
					   bytes, kind[way], s->stream));
	profile_end(&s->device->profile);
	return err;
}

int stream_clear(struct quoit_device_stream *s, uint64_t address, uint64_t bytes)
{
	int err;

	if (s->device->broken)
		return s->device->broken;
	if (bytes == 0)
		return 0;
	profile_begin(&s->device->profile, PROFILE_CLEAR);
	err = device_check(s->device,
			   cudaMemsetAsync((void *)(uintptr_t)address, 0, bytes, s->stream));
	profile_end(&s->device->profile);
	return err;
}

/* The write comes after all earlier work, and a reader that sees it sees that: the default flag. */
int stream_signal(struct quoit_device_stream *s, uint32_t *word, uint32_t value)
{
	struct quoit_device *d = s->device;
	void *there;
	int err;

	if (!d->write_value)
		return -ENOTSUP;
	err = device_pointer(d, word, &there);
	if (err)
		return err;
	return device_check(d, (cudaError_t)d->write_value(s->stream, (uintptr_t)there, value,
							   CU_STREAM_WRITE_VALUE_DEFAULT));
}

int stream_stamp(struct quoit_device_stream *s, uint64_t *word)
{
	void *there;
	int err = device_pointer(s->device, word, &there);

	return err ? err : device_check(s->device, kernel_stamp(there, s->stream));
}

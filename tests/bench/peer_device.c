/* SPDX-License-Identifier: MIT */
/* peer_device.c - call the device layer directly */
#include "peer_device.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <quoit/pause.h>

#include "quoit-exec/driver.h"
#include "floor_process.h"

/* The most calls ahead of the stream, since drivers' queues are limited. */
#define AHEAD 256u

struct run {
	struct driver driver;
	struct quoit_device_stream *stream;
	uint32_t *word;
	uint32_t number; /* of the last signal */
	uint64_t memory[3];
	void *host;
	uint64_t bytes;
	struct quoit_device_call call;
	struct quoit_device_event *event;
	struct quoit_direct_requests *requests; /* the requests of direct rings */
	struct quoit_direct_words *words;
};

/* ---- one call, and waiting for it ---- */

static int signal_end(struct run *r)
{
	return r->driver.api->signal(r->stream, r->word, ++r->number);
}

static void see_end(const struct run *r, uint32_t number)
{
	while ((int32_t)(__atomic_load_n(r->word, __ATOMIC_ACQUIRE) - number) < 0)
		quoit_pause();
}

static int put(struct run *r, enum peer_device_work work)
{
	const struct quoit_device_driver *api = r->driver.api;
	uint64_t host = (uint64_t)(uintptr_t)r->host;

	switch (work) {
	case PEER_DEVICE_IN:
		return api->copy(r->stream, r->memory[0], host, r->bytes, QUOIT_DEVICE_IN);
	case PEER_DEVICE_OUT:
		return api->copy(r->stream, host, r->memory[0], r->bytes, QUOIT_DEVICE_OUT);
	default:
		return api->run(r->stream, &r->call);
	}
}

/* Make one call, and wait for an event behind it. */
static int run_and_wait(struct run *r)
{
	const struct quoit_device_driver *api = r->driver.api;
	int err = api->run(r->stream, &r->call);

	if (!err)
		err = api->event_record(r->event, r->stream);
	while (!err)
		err = api->event_done(r->event);
	return err < 0 ? err : 0;
}

/* Start a consumer, and wait until it is there. */
static int start_consumer(struct run *r)
{
	uint32_t beat = __atomic_load_n(&r->words->beat, __ATOMIC_RELAXED);
	int err;

	r->words->leave = r->words->left = r->words->need_wake = 0;
	err = r->driver.api->direct_start(r->driver.device, 0);
	while (!err && __atomic_load_n(&r->words->beat, __ATOMIC_ACQUIRE) == beat)
		quoit_pause();
	return err;
}

static void end_consumer(struct run *r)
{
	__atomic_store_n(&r->words->leave, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&r->words->left, __ATOMIC_ACQUIRE))
		quoit_pause();
}

/* Start a consumer, tell it to leave, and add the nanoseconds until it has left to *ns. */
static int start_and_leave(struct run *r, double *ns)
{
	uint64_t start;
	int err = start_consumer(r);

	if (err)
		return err;
	start = floor_now();
	end_consumer(r);
	*ns += (double)(floor_now() - start);
	return 0;
}

/*
 * Make requests one at a time, and wait for each; start the consumer again if it left while we were
 * away.
 */
static int run_in_ring(struct run *r, uint64_t count)
{
	struct quoit_direct_requests *q = r->requests;
	int err = 0;

	for (uint64_t i = 0; i < count && !err; i++) {
		q->request[q->tail % QUOIT_DIRECT_ENTRIES].call = r->call;
		__atomic_store_n(&q->tail, q->tail + 1, __ATOMIC_RELEASE);
		while (!err && __atomic_load_n(&r->words->head, __ATOMIC_ACQUIRE) != q->tail)
			if (__atomic_load_n(&r->words->left, __ATOMIC_ACQUIRE))
				err = start_consumer(r);
	}
	return err;
}

/* Make calls, and wait for the stream after each half of AHEAD, or after each call. */
static int repeat(struct run *r, enum peer_device_work work, uint64_t count)
{
	uint32_t each = work == PEER_DEVICE_ADD ? 1 : AHEAD / 2;
	uint32_t before = r->number;
	int err = 0;

	for (uint64_t i = 0; i < count && !err; i++) {
		err = put(r, work);
		if (err || (i % each != each - 1 && i != count - 1))
			continue;
		err = signal_end(r);
		see_end(r, each == 1 || i == count - 1 ? r->number : before);
		before = r->number;
	}
	return err;
}

/* ---- calls ---- */

static bool is_gemm(enum peer_device_work work)
{
	return work == PEER_DEVICE_GEMM || work == PEER_DEVICE_BF16;
}

static void set_tensor(struct quoit_device_tensor *t, uint64_t data, uint32_t rows, uint32_t cols)
{
	*t = (struct quoit_device_tensor){
		.data = data,
		.dim = {1, 1, rows, cols},
		.stride = {(int32_t)(rows * cols), (int32_t)(rows * cols), (int32_t)cols, 1},
		.dtype = QUOIT_F32};
}

static void set_call(struct run *r, enum peer_device_work work, uint32_t side)
{
	const double one = 1;

	if (is_gemm(work)) {
		r->call.opcode = QUOIT_OP_GEMM;
		for (unsigned i = 0; i < 3; i++) {
			set_tensor(&r->call.tensor[i], r->memory[i], side, side);
			if (work == PEER_DEVICE_BF16)
				r->call.tensor[i].dtype = QUOIT_BF16;
		}
	} else {
		r->call.opcode = QUOIT_OP_ADD;
		r->call.arg = QUOIT_EW_SCALAR;
		set_tensor(&r->call.tensor[0], r->memory[0], 1, 2);
		set_tensor(&r->call.tensor[1], r->memory[1], 1, 2);
	}
	memcpy(&r->call.scalar[0], &one, sizeof one);
}

static int open_run(struct run *r, const char *name)
{
	struct quoit_exec_hello *hello = calloc(1, sizeof *hello);
	const struct quoit_device_driver *api;
	void *word = NULL;
	int err;

	if (!hello)
		return -ENOMEM;
	driver_open(name, &r->driver, hello);
	free(hello);
	api = r->driver.api;
	if (!api)
		return -ENOTSUP;
	err = api->stream_new(r->driver.device, QUOIT_DEVICE_NORMAL, &r->stream);
	if (!err)
		err = api->host_new(r->driver.device, QUOIT_LINE, &word);
	if (!err && !(r->driver.info.flags & QUOIT_DEVICE_SIGNALS))
		err = -ENOTSUP;
	r->word = word;
	return err;
}

/* Open the rings for works with resident consumers. */
static int open_direct(struct run *r, enum peer_device_work work)
{
	const struct quoit_device_driver *api = r->driver.api;

	if (work == PEER_DEVICE_SYNC)
		return api->event_new(r->driver.device, &r->event);
	if (!api->direct_open)
		return -ENOTSUP;
	r->requests = aligned_alloc(QUOIT_EXEC_PAGE, QUOIT_EXEC_DIRECT_AT(sizeof *r->requests));
	r->words = aligned_alloc(QUOIT_EXEC_PAGE, QUOIT_EXEC_PAGE);
	if (!r->requests || !r->words)
		return -ENOMEM;
	memset(r->requests, 0, sizeof *r->requests);
	memset(r->words, 0, sizeof *r->words);
	return api->direct_open(r->driver.device, r->requests, r->words, 1);
}

static int measure_ring(struct run *r, uint64_t count, double *ret_ns)
{
	uint64_t start;
	int err = start_consumer(r);

	if (!err)
		err = run_in_ring(r, count / 10);
	start = floor_now();
	if (!err)
		err = run_in_ring(r, count);
	*ret_ns = (double)(floor_now() - start);
	if (!err)
		end_consumer(r);
	return err;
}

static int measure_sync(struct run *r, uint64_t count, double *ret_ns)
{
	uint64_t start;
	int err = 0;

	for (uint64_t i = 0; i < count / 10 && !err; i++)
		err = run_and_wait(r);
	start = floor_now();
	for (uint64_t i = 0; i < count && !err; i++)
		err = run_and_wait(r);
	*ret_ns = (double)(floor_now() - start);
	return err;
}

static int measure_direct(struct run *r, enum peer_device_work work, uint64_t count, double *ret_ns)
{
	int err = open_direct(r, work);

	*ret_ns = 0;
	if (!err && work == PEER_DEVICE_SYNC)
		err = measure_sync(r, count, ret_ns);
	else if (!err && work == PEER_DEVICE_RING)
		err = measure_ring(r, count, ret_ns);
	for (uint64_t i = 0; i < count && !err && work == PEER_DEVICE_LEAVE; i++)
		err = start_and_leave(r, ret_ns);
	*ret_ns /= (double)count;
	return err;
}

static int take_memory(struct run *r, bool copies)
{
	const struct quoit_device_driver *api = r->driver.api;
	int err = 0;

	for (unsigned i = 0; i < (copies ? 1 : 3) && !err; i++)
		err = api->memory_new(r->driver.device, r->bytes, &r->memory[i]);
	for (unsigned i = 0; i < (copies ? 1 : 3) && !err; i++)
		err = api->clear(r->stream, r->memory[i], r->bytes);
	if (!err && copies) {
		err = api->host_new(r->driver.device, r->bytes, &r->host);
		if (!err)
			memset(r->host, 1, r->bytes);
	}
	return err;
}

int peer_device_run(const char *name, enum peer_device_work work, uint64_t size, uint64_t count,
		    double *ret_ns)
{
	bool copies = work == PEER_DEVICE_IN || work == PEER_DEVICE_OUT;
	struct run r = {0};
	uint64_t start;
	int err = open_run(&r, name);

	r.bytes = copies ? size : is_gemm(work) ? size * size * sizeof(float) : QUOIT_LINE;
	if (!err)
		err = take_memory(&r, copies);
	if (!err)
		set_call(&r, work, (uint32_t)size);
	if (!err && work >= PEER_DEVICE_SYNC) {
		err = measure_direct(&r, work, count, ret_ns);
	} else if (!err) {
		err = repeat(&r, work, count / 10 + 1);
		start = floor_now();
		if (!err)
			err = repeat(&r, work, count);
		*ret_ns = (double)(floor_now() - start) / (double)count;
	}
	driver_close(&r.driver); /* frees all that it has given */
	free(r.requests);
	free(r.words);
	return err;
}

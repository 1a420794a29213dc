/* SPDX-License-Identifier: MIT */
/*
 * direct_torture.c - GPU-direct rings between three threads: one puts requests in, one consumes
 * them on a soft device, and one starts the consumer and tells it to leave at any moment
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <quoit/direct.h>
#include <quoit/ring.h>

#include "quoit-exec/soft/soft.h"
#include "stage.h"

#define RINGS    2u
#define ALARM_MS 10000 /* a request that is not done after this time was forgotten */

static const struct quoit_device_driver *const soft = &soft_device_driver;

/* The producer of a ring, and the number that its requests change. */
struct party {
	struct quoit_producer producer;
	uint64_t address;
	uint64_t count;    /* number of requests */
	uint64_t expected; /* the number after all requests */
	uint64_t seed;
	bool told;          /* its consumer was told to leave */
	_Atomic bool bell;  /* set by the producer */
	_Atomic bool lied;  /* the head was impossible */
	_Atomic bool ended; /* all requests are put in */
};

static struct quoit_direct_requests all_requests[RINGS];
static struct quoit_direct_words all_words[RINGS];
static struct party party[RINGS];
static _Atomic bool given_up; /* a request was forgotten */

static uint32_t draw(uint64_t *seed, uint32_t below)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(*seed >> 33) % below;
}

/* ---- the producer: a reactor ---- */

/* x = 3 x, then x = x + i: a request that was run twice, not at all or out of order shows. */
static void fill(struct party *p, uint32_t slot, uint64_t i)
{
	struct quoit_device_tensor t = {.data = p->address,
					.dim = {1, 1, 1, 1},
					.stride = {1, 1, 1, 1},
					.dtype = QUOIT_I64};
	bool odd = i % 2;

	all_requests[p - party].request[slot % QUOIT_DIRECT_ENTRIES].call =
		(struct quoit_device_call){.opcode = odd ? QUOIT_OP_ADD : QUOIT_OP_MUL,
					   .arg = QUOIT_EW_SCALAR,
					   .tensor = {t, t},
					   .scalar = {odd ? i : 3}};
	p->expected = odd ? p->expected + i : p->expected * 3;
}

/* Usually go on at once; sometimes wait until the consumer has left by itself. */
static void dawdle(struct party *p)
{
	if (draw(&p->seed, 100) == 0)
		usleep(QUOIT_DIRECT_IDLE_NS / 1000 - 300 + draw(&p->seed, 600));
	else if (draw(&p->seed, 30) == 0)
		(void)sched_yield();
}

static bool has_trouble(struct party *p)
{
	return atomic_load(&p->lied) || atomic_load(&given_up);
}

static bool has_room(struct party *p)
{
	if (quoit_ring_space(&p->producer))
		return true;
	if (!quoit_ring_refresh(&p->producer))
		atomic_store(&p->lied, true);
	return quoit_ring_space(&p->producer);
}

/*
 * Wait for the end, like a program that waits for each of its jobs: no later request rings the
 * bell.
 */
static void see_end(struct party *p)
{
	while (!has_trouble(p) && p->producer.cached_head != p->producer.next) {
		if (!quoit_ring_refresh(&p->producer))
			atomic_store(&p->lied, true);
		(void)sched_yield();
	}
}

static void *produce(void *arg)
{
	struct party *p = arg;

	for (uint64_t i = 0; i < p->count && !has_trouble(p);) {
		uint32_t burst = 1 + draw(&p->seed, 8), slot;

		for (; burst && i < p->count && has_room(p); burst--, i++) {
			(void)quoit_ring_reserve(&p->producer, &slot);
			fill(p, slot, i);
		}
		if (quoit_ring_submit_wake(&p->producer, &all_words[p - party].need_wake))
			atomic_store(&p->bell, true);
		if (draw(&p->seed, 4) == 0)
			see_end(p);
		dawdle(p);
	}
	atomic_store(&p->ended, true);
	return NULL;
}

/* ---- the starter of consumers: the launcher ---- */

static bool has_requests(unsigned i)
{
	return __atomic_load_n(&all_requests[i].tail, __ATOMIC_SEQ_CST) !=
	       __atomic_load_n(&all_words[i].head, __ATOMIC_ACQUIRE);
}

static bool has_left(unsigned i)
{
	return __atomic_load_n(&all_words[i].left, __ATOMIC_ACQUIRE);
}

static void start(struct stage *s, struct quoit_device *d, unsigned i)
{
	struct quoit_direct_words *w = &all_words[i];

	party[i].told = false;
	__atomic_store_n(&w->leave, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&w->left, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&w->need_wake, 0, __ATOMIC_RELEASE);
	CHECK(s, soft->direct_start(d, i) == 0);
}

/*
 * Look for requests that a consumer left behind which was told to go.  After a consumer that went
 * by itself only the bell starts the next one, so that a bell that is not rung is noticed.
 */
static bool look_after(struct stage *s, struct quoit_device *d, unsigned i, uint64_t *seed)
{
	struct party *p = &party[i];

	if (has_left(i)) {
		if (atomic_exchange(&p->bell, false) || (p->told && has_requests(i)))
			start(s, d, i);
	} else if (!p->told && draw(seed, 20) == 0) {
		p->told = true;
		__atomic_store_n(&all_words[i].leave, 1, __ATOMIC_RELEASE);
	}
	return !atomic_load(&p->ended) || has_requests(i);
}

static void launch(struct stage *s, struct quoit_device *d)
{
	uint64_t seed = 7;
	uint32_t heads = 0, quiet_ms = 0;
	bool busy = true;

	while (busy && quiet_ms < ALARM_MS) {
		uint32_t now = 0;

		busy = false;
		for (unsigned i = 0; i < RINGS; i++) {
			busy |= look_after(s, d, i, &seed);
			now += __atomic_load_n(&all_words[i].head, __ATOMIC_RELAXED);
		}
		quiet_ms = now == heads ? quiet_ms + 1 : 0;
		heads = now;
		usleep(draw(&seed, 1000));
	}
	CHECK(s, !busy);
	atomic_store(&given_up, busy);
}

/* ---- the case ---- */

static struct quoit_device *open_device(struct stage *s)
{
	struct quoit_device_info info;
	struct quoit_device *d = NULL;
	char text[128] = "";

	(void)setenv("QUOIT_SOFT_BYTES", "1M", 1);
	CHECK(s, soft->open(0, &d, &info, text, sizeof text) == 0);
	return d;
}

/* Run it by a stream; the rings themselves are not asked. */
static void run_on(struct stage *s, struct quoit_device *d, struct quoit_device_stream *stream,
		   uint64_t address, void *host, bool out)
{
	struct quoit_device_event *e;

	if (out)
		CHECK(s, soft->copy(stream, (uintptr_t)host, address, 8, QUOIT_DEVICE_OUT) == 0);
	else
		CHECK(s, soft->clear(stream, address, 8) == 0);
	CHECK(s, soft->event_new(d, &e) == 0 && soft->event_record(e, stream) == 0);
	while (!soft->event_done(e))
		(void)sched_yield();
	soft->event_free(e);
}

static void requests_are_done_once_and_in_order(struct stage *s)
{
	struct quoit_device *d = open_device(s);
	struct quoit_device_stream *stream;
	pthread_t thread[RINGS];
	void *host;

	CHECK(s, soft->stream_new(d, QUOIT_DEVICE_NORMAL, &stream) == 0);
	CHECK(s, soft->host_new(d, 8, &host) == 0);
	memset(all_requests, 0, sizeof all_requests);
	memset(all_words, 0, sizeof all_words);
	CHECK(s, soft->direct_open(d, all_requests, all_words, RINGS) == 0);
	for (unsigned i = 0; i < RINGS; i++) {
		struct party *p = &party[i];

		*p = (struct party){.count = stage_times(s, 20000, 2000000), .seed = 11 + i};
		CHECK(s, soft->memory_new(d, 8, &p->address) == 0);
		run_on(s, d, stream, p->address, NULL, false);
	}
	for (unsigned i = 0; i < RINGS; i++) { /* nothing is created while a consumer is there */
		struct party *p = &party[i];

		quoit_producer_init(&p->producer, &all_requests[i].tail, &all_words[i].head,
				    QUOIT_DIRECT_ENTRIES);
		start(s, d, i);
		CHECK(s, pthread_create(&thread[i], NULL, produce, p) == 0);
	}
	launch(s, d);
	for (unsigned i = 0; i < RINGS; i++) {
		(void)pthread_join(thread[i], NULL);
		CHECK(s, !party[i].lied);
		run_on(s, d, stream, party[i].address, host, true);
		CHECK(s, *(uint64_t *)host == party[i].expected);
	}
	soft->host_free(d, host);
	soft->close(d);
}

static const struct stage_case cases[] = {
	{"requests are done once, and in order", requests_are_done_once_and_in_order},
};

int main(int argc, char **argv)
{
	return stage_main_alone(argc, argv, cases, sizeof cases / sizeof cases[0]);
}

/* SPDX-License-Identifier: MIT */
/* hostile_contents.c - operands that change while jobs use them */
#include <errno.h>
#include <pthread.h>

#include "stage.h"

#define MIB    (UINT64_C(1) << 20)
#define LITTLE 512u /* elements that the reactor itself works on */
#define LARGE  (256u << 10)
#define TABLE  64u /* elements of the table for gather; it does not change */

/* In the arena, one after the other; outputs last. */
enum { LOOKED_UP = 1, CHANGING, INDICES, GATHERED, PLACE, LARGEST, CURVE };

static const struct raw_wish wish = {
	.host_bytes = 64 * MIB, .arena_bytes = 16 * MIB, .max_tensors = 64, .sq_entries = 16};

static uint8_t *bytes_of(const struct raw_client *c, uint32_t handle)
{
	return c->arena + handle * MIB;
}

static struct quoit_sqe vector(uint32_t handle, uint8_t dtype, uint32_t n)
{
	struct quoit_sqe sqe = raw_vector(handle, n, handle * MIB);

	sqe.arg = (uint8_t)(QUOIT_CREATE_ARENA | dtype);
	return sqe;
}

struct writer {
	const struct raw_client *client;
	uint32_t n;
	_Atomic bool stop;
};

/*
 * Write NaN, infinities, tiny numbers and all others; indices of the table, and of memory around
 * it.
 */
static void *write_anything(void *arg)
{
	struct writer *w = arg;
	uint32_t *numbers = (uint32_t *)(void *)bytes_of(w->client, CHANGING);
	uint32_t *indices = (uint32_t *)(void *)bytes_of(w->client, INDICES);
	uint32_t random = 1;

	while (!w->stop)
		for (uint32_t i = 0; i < w->n; i++) {
			random = random * 1664525u + 1013904223u;
			__atomic_store_n(&numbers[i], random >> (random >> 29), __ATOMIC_RELAXED);
			__atomic_store_n(&indices[i],
					 random & 1u << 30 ? random >> 8 : random % TABLE,
					 __ATOMIC_RELAXED);
		}
	return NULL;
}

static uint32_t word(const struct raw_client *c, uint32_t handle, uint32_t i)
{
	return __atomic_load_n((const uint32_t *)(const void *)bytes_of(c, handle) + i,
			       __ATOMIC_RELAXED);
}

/* Gathered values are of the table, or zero: nothing around the table comes out. */
static void check_gathered(struct stage *s, const struct raw_client *c, uint32_t n)
{
	for (uint32_t i = 0; i < n && !s->bad; i++) {
		uint32_t got = word(c, GATHERED, i);

		CHECK(s, !got || (got >= 1000 && got < 1000 + TABLE));
	}
}

static void run_all(struct stage *s, struct raw_client *c, uint32_t n)
{
	struct quoit_sqe gather = raw_job(QUOIT_OP_GATHER, GATHERED, LOOKED_UP, INDICES);
	struct quoit_sqe place = raw_job(QUOIT_OP_ARGMAX, PLACE, CHANGING, 0);
	struct quoit_sqe largest = raw_job(QUOIT_OP_AMAX, LARGEST, CHANGING, 0);
	int res;

	gather.arg = 3;
	place.arg = largest.arg = QUOIT_AXIS_ALL;
	res = raw_run(c, gather);
	CHECK(s, !res || res == -ERANGE);
	check_gathered(s, c, n);
	CHECK(s, !raw_run(c, place));
	CHECK(s, word(c, PLACE, 0) < n && !word(c, PLACE, 1));
	CHECK(s, !raw_run(c, largest));
	CHECK(s, !raw_run(c, raw_job(QUOIT_OP_SIN, CURVE, CHANGING, 0)));
	CHECK(s, !raw_run(c, raw_job(QUOIT_OP_EXP, CURVE, CHANGING, 0)));
}

static void contents_change(struct stage *s, uint32_t n)
{
	struct raw_client c;
	struct writer w = {.client = &c, .n = n};
	pthread_t thread;

	if (!stage_open(s, &c, &wish))
		return;
	CHECK(s, !raw_run(&c, vector(LOOKED_UP, QUOIT_I32, TABLE)));
	CHECK(s, !raw_run(&c, vector(CHANGING, QUOIT_F32, n)));
	CHECK(s, !raw_run(&c, vector(INDICES, QUOIT_I32, n)));
	CHECK(s, !raw_run(&c, vector(GATHERED, QUOIT_I32, n)));
	CHECK(s, !raw_run(&c, vector(PLACE, QUOIT_I64, 1)));
	CHECK(s, !raw_run(&c, vector(LARGEST, QUOIT_F32, 1)));
	CHECK(s, !raw_run(&c, vector(CURVE, QUOIT_F32, n)));
	for (uint32_t i = 0; i < 2 * TABLE; i++) /* the second half must not be seen */
		((uint32_t *)(void *)bytes_of(&c, LOOKED_UP))[i] = i < TABLE ? 1000 + i : 5;
	pthread_create(&thread, NULL, write_anything, &w);
	for (unsigned i = 0; i < stage_times(s, 5, 500) && !s->bad; i++)
		run_all(s, &c, n);
	w.stop = true;
	pthread_join(thread, NULL);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static void contents_change_under_the_reactor(struct stage *s)
{
	contents_change(s, LITTLE);
}

static void contents_change_under_the_workers(struct stage *s)
{
	contents_change(s, LARGE);
}

static const struct stage_case cases[] = {
	{"contents change under the reactor", contents_change_under_the_reactor},
	{"contents change under the workers", contents_change_under_the_workers},
};

int main(int argc, char **argv)
{
	return stage_main(argc, argv, NULL, cases, sizeof cases / sizeof cases[0]);
}

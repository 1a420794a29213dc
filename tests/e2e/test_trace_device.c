/* SPDX-License-Identifier: MIT */
/* test_trace_device.c - a trace says by which stream of a device a job went */
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "direct.h"
#include "recorder.h"

#define LARGE 1000000u /* elements: milliseconds each */
#define CHAIN 5u       /* this many fit into a stream at once */
#define SLACK 20000u   /* ticks: readings of the two clocks differ by less */

TestSuite(trace_device, .timeout = 120);

static bool is_in_stream(const struct quoit_trace_record *r)
{
	return r->kind <= QUOIT_TRACE_QUIET && r->place >= QUOIT_TRACE_STREAM;
}

/* The place of the `count` jobs of this operation: they must all have the same. */
static unsigned place_of(const struct quoit_trace *file, unsigned opcode, unsigned count)
{
	unsigned place = 0, found = 0;

	for (uint64_t i = 0; i < recorder_records(file); i++) {
		const struct quoit_trace_record *r = recorder_record(file, i);

		if (r->kind > QUOIT_TRACE_QUIET || r->opcode != opcode)
			continue;
		cr_expect(!found || r->place == place, "%u and %u", r->place, place);
		place = r->place;
		found++;
	}
	cr_expect_eq(found, count);
	return place;
}

static void expect_apart(const struct quoit_trace_job *a, const struct quoit_trace_job *b)
{
	cr_expect(a->end <= b->start + SLACK || b->end <= a->start + SLACK,
		  "%llu to %llu and %llu to %llu", (unsigned long long)a->start,
		  (unsigned long long)a->end, (unsigned long long)b->start,
		  (unsigned long long)b->end);
}

static void expect_nothing_overlaps(const struct quoit_trace *file)
{
	for (uint64_t i = 0; i < recorder_records(file); i++)
		for (uint64_t k = 0; k < i; k++) {
			const struct quoit_trace_record *a = recorder_record(file, i);
			const struct quoit_trace_record *b = recorder_record(file, k);

			if (is_in_stream(a) && is_in_stream(b) && a->place == b->place)
				expect_apart(&a->job, &b->job);
		}
}

Test(trace_device, chains_that_know_nothing_of_each_other_are_in_streams_of_their_own)
{
	struct device_room r = room_open("--gpu=soft", 64);
	quoit_tensor x = quoit_create_vector(r.d, QUOIT_F32, LARGE);
	quoit_tensor y = quoit_create_vector(r.d, QUOIT_F32, LARGE);
	int fd = recorder_open(&r.daemon, r.s);
	struct quoit_trace *file;
	unsigned first, second;

	for (unsigned i = 0; i < CHAIN; i++) {
		cr_assert_eq(quoit_push(r.d, quoit_normal(x, i, 0)), 0);
		cr_assert_eq(quoit_push(r.d, quoit_uniform(y, i, 0)), 0);
	}
	cr_assert_eq(quoit_wait_all(r.d, 60000), 0);
	file = recorder_read(&r.daemon, recorder_number(r.s));
	first = place_of(file, QUOIT_OP_NORMAL, CHAIN);
	second = place_of(file, QUOIT_OP_UNIFORM, CHAIN);
	cr_expect(first >= QUOIT_TRACE_STREAM && second >= QUOIT_TRACE_STREAM, "%u %u", first,
		  second);
	cr_expect_neq(first, second);
	cr_expect(first < QUOIT_TRACE_STREAM + QUOIT_TRACE_STREAMS &&
			  second < QUOIT_TRACE_STREAM + QUOIT_TRACE_STREAMS,
		  "the first device's: %u %u", first, second);
	expect_nothing_overlaps(file);
	free(file);
	close(fd);
	room_close(&r);
}

Test(trace_device, streams_of_the_second_device_are_other_places)
{
	struct device_room r = room_open("--gpu=soft:2", 64);
	int fd = recorder_open(&r.daemon, r.s);
	struct quoit_trace *file;
	quoit_tensor x;
	unsigned place;

	cr_assert_eq(quoit_use_device(r.d, 2), 0);
	x = quoit_create_vector(r.d, QUOIT_F32, 100);
	cr_assert_eq(room_run(r.d, quoit_normal(x, 1, 0), NULL), 0);
	file = recorder_read(&r.daemon, recorder_number(r.s));
	place = place_of(file, QUOIT_OP_NORMAL, 1);
	cr_expect(place >= QUOIT_TRACE_STREAM + QUOIT_TRACE_STREAMS &&
			  place < QUOIT_TRACE_STREAM + 2 * QUOIT_TRACE_STREAMS,
		  "%u", place);
	free(file);
	close(fd);
	room_close(&r);
}

/*
 * The recording begins before a consumer comes, because after a consumer was kept from its core
 * there is none for a second.  Jobs that were in its ring then count as jobs of the ring in the
 * record, and as jobs of a stream in the counters.
 */
Test(trace_device, jobs_of_gpu_direct_mode_are_in_the_direct_ring)
{
	struct device_room r = direct_open("", NULL);
	struct quoit_device_desc before, after;
	uint64_t direct = 0, counted;
	struct quoit_trace *file;
	quoit_tensor x;
	int fd;

	fd = recorder_open(&r.daemon, r.s);
	before = direct_device(&r);
	direct_bring_up(&r);
	x = quoit_create_vector(r.d, QUOIT_F32, 3);
	cr_assert_eq(direct_run(r.d, quoit_fill(x, 2.0), NULL), 0);
	for (int i = 0; i < 20; i++)
		cr_assert_eq(direct_run(r.d, quoit_add_scalar(x, x, 1.0), NULL), 0);
	file = recorder_read(&r.daemon, recorder_number(r.s));
	for (uint64_t i = 0; i < recorder_records(file); i++)
		direct +=
			is_in_stream(recorder_record(file, i)) &&
			recorder_record(file, i)->place == QUOIT_TRACE_STREAM + QUOIT_TRACE_DIRECT;
	after = direct_device(&r);
	counted = after.jobs_direct - before.jobs_direct;
	cr_expect_gt(counted, 0);
	cr_expect_geq(direct, counted);
	cr_expect_lt(direct, counted + after.jobs_streamed - before.jobs_streamed, "the first job");
	free(file);
	close(fd);
	room_close(&r);
}

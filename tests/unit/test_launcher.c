/* SPDX-License-Identifier: MIT */
/*
 * test_launcher.c - count quoit-exec's calls of a device's driver for each request
 *
 * A program that calls a device layer directly needs at least one call for an operation, and one
 * for the word that says it is done: that is the bound.
 */
#include <errno.h>

#include <criterion/criterion.h>

#include "base/tsc.h"
#include "launcher_case.h"

static void open_plain(void)
{
	quoitd_open(false);
}

static void open_profiled(void)
{
	quoitd_open(true);
}

TestSuite(launcher, .init = open_plain, .fini = quoitd_close, .timeout = 60);
TestSuite(launcher_profiled, .init = open_profiled, .fini = quoitd_close, .timeout = 60);

/* ---- the cost ---- */

#define CHAIN   100u
#define SIZES   8u
#define AT_ONCE 12u /* fewer than a stream takes before its speed is known */

Test(launcher, a_chain_is_in_its_stream_before_anything_of_it_has_ended)
{
	const struct counting_calls before = quoitd_warm_up();
	struct counting_calls now;

	counting_hold();
	for (uint32_t i = 0; i < AT_ONCE; i++) {
		struct quoit_exec_request q = quoitd_job(i, i % 2, !(i % 2), (int)i - 1);

		quoitd_put(&q);
	}
	quoitd_publish();
	quoitd_expect_runs(before.run + AT_ONCE);
	cr_expect_eq(quoitd_answers(), 0);
	counting_let_go();
	quoitd_expect_answers(AT_ONCE);
	now = counting_now();
	cr_expect_eq(now.run - before.run, AT_ONCE);
	cr_expect_eq(now.signal - before.signal, 2, "a word for eight, and one for the others");
	cr_expect_eq(now.record + now.wait, before.record + before.wait, "no event");
	cr_expect_eq(now.clear + now.copy + now.stamp, before.clear + before.copy + before.stamp);
	cr_expect_eq(now.memory_new + now.host_new, before.memory_new + before.host_new);
	cr_expect_eq(now.event_new, before.event_new);
	cr_expect_not(quoitd_heard_bell(), "nobody slept who had to be woken");
}

Test(launcher, a_job_behind_two_streams_is_one_event_more)
{
	const struct counting_calls before = quoitd_warm_up();
	struct quoit_exec_request q[3] = {quoitd_job(0, 0, 0, -1), quoitd_job(1, 1, 1, -1),
					  quoitd_job(2, 2, 2, 0)};
	struct counting_calls now;

	q[2].after[q[2].afters++] = 1;
	counting_hold();
	for (unsigned i = 0; i < 3; i++)
		quoitd_put(&q[i]);
	quoitd_publish();
	quoitd_expect_runs(before.run + 3);
	counting_let_go();
	quoitd_expect_answers(3);
	now = counting_now();
	cr_expect_eq(now.record - before.record, 1);
	cr_expect_eq(now.wait - before.wait, 1);
	cr_expect_eq(now.signal - before.signal, 2, "before the event, and behind all");
}

/*
 * Two unordered jobs read a buffer that is not cleared yet.  The first one's stream is full; when
 * it goes on, the other job is clearing the buffer in another stream.
 */
Test(launcher, a_job_that_was_stalled_is_behind_who_has_cleared_its_buffer_meanwhile)
{
	const struct counting_calls before = quoitd_warm_up();
	const struct quoit_exec_request stalled = quoitd_job(0, 2, 5, -1);
	const struct quoit_exec_request other = quoitd_job(1, 3, 5, -1);
	struct counting_calls now;

	counting_hold();
	counting_stall(1);
	quoitd_put(&stalled);
	quoitd_put(&other);
	quoitd_publish();
	quoitd_expect_runs(before.run + 2);
	now = counting_now();
	cr_expect_eq(now.clear - before.clear, 3);
	cr_expect_eq(now.record - before.record, 1);
	cr_expect_eq(now.wait - before.wait, 1);
	counting_let_go();
	quoitd_expect_answers(2);
}

static unsigned stream_of(uint32_t id)
{
	for (unsigned i = 0; i < QUOIT_EXEC_ENTRIES && i < quoitd_answers_taken(); i++)
		if (quoitd_answer(i).id == id)
			return quoitd_answer(i).stream;
	return 0;
}

Test(launcher, answers_say_in_which_stream_each_was)
{
	const struct counting_calls before = quoitd_warm_up();
	const struct quoit_exec_request q[3] = {quoitd_job(1, 0, 0, -1), quoitd_job(2, 1, 1, -1),
						quoitd_job(3, 0, 0, 1)};

	counting_hold();
	for (unsigned i = 0; i < 3; i++)
		quoitd_put(&q[i]);
	quoitd_publish();
	quoitd_expect_runs(before.run + 3);
	counting_let_go();
	quoitd_expect_answers(3);
	cr_expect(stream_of(1) > STREAM_WORK && stream_of(1) <= STREAM_URGENT, "%u", stream_of(1));
	cr_expect_neq(stream_of(2), stream_of(1));
	cr_expect_eq(stream_of(3), stream_of(1), "behind the first");
}

/* A new tensor gets the memory of a freed one of its size; the driver is not asked. */
Test(launcher, new_buffers_in_the_place_of_freed_ones_are_no_call)
{
	const struct counting_calls before = quoitd_warm_up();
	struct counting_calls now;

	for (uint32_t i = 0; i < CHAIN; i++) {
		struct quoit_exec_request q = quoitd_job(i, i + 2, i + 1, (int)i - 1);
		struct quoit_exec_request drop = {.type = QUOIT_EXEC_DROP, .id = i + 1};

		quoitd_put(&q);
		quoitd_put(&drop);
	}
	quoitd_publish();
	quoitd_expect_answers(CHAIN);
	now = counting_now();
	cr_expect_eq(now.memory_new - before.memory_new, 1, "there were never more than three: %u",
		     now.memory_new - before.memory_new);
	cr_expect_eq(now.memory_free, before.memory_free);
	cr_expect_eq(now.run - before.run, CHAIN);
	cr_expect_leq(now.signal - before.signal, CHAIN / 4, "%u", now.signal - before.signal);
}

/* A client that waits for a large job hears when that has ended, and not when a later one has. */
Test(launcher, a_large_job_has_a_word_of_its_own)
{
	const struct counting_calls before = quoitd_warm_up();

	for (uint32_t i = 0; i < 3; i++) {
		struct quoit_exec_request q = quoitd_job(i, 0, 0, (int)i - 1);

		q.view[0].dim[3] = q.view[1].dim[3] = SMALL_BYTES / sizeof(float) + (i == 1);
		q.bytes[0] = q.bytes[1] = 2 * SMALL_BYTES;
		quoitd_put(&q);
	}
	quoitd_publish();
	quoitd_expect_answers(3);
	cr_expect_eq(counting_now().signal - before.signal, 2, "with the one before it");
}

/* Leases count memory in use: freed buffers that are kept are no more than was once in use. */
Test(launcher, freed_buffers_of_other_sizes_go_back_to_the_driver)
{
	const struct counting_calls before = quoitd_warm_up();
	struct counting_calls now;

	for (uint32_t i = 0; i < SIZES; i++) {
		struct quoit_exec_request q = quoitd_job(0, 2, 2, -1);
		struct quoit_exec_request drop = {.type = QUOIT_EXEC_DROP, .id = 2};

		q.bytes[0] = q.bytes[1] = UINT64_C(1) << (20 + i);
		quoitd_put(&q);
		quoitd_put(&drop);
		quoitd_publish();
		quoitd_expect_answers(1);
	}
	now = counting_now();
	cr_expect_eq(now.memory_new - before.memory_new, SIZES);
	cr_expect_geq(now.memory_free - before.memory_free, SIZES - 1);
}

Test(launcher, stamps_are_two_calls_more)
{
	const struct counting_calls before = quoitd_warm_up();
	struct quoit_exec_request q = quoitd_job(0, 0, 1, -1);

	q.stamps = 1;
	quoitd_put(&q);
	quoitd_publish();
	quoitd_expect_answers(1);
	cr_expect_eq(counting_now().stamp - before.stamp, 2);
	cr_expect_eq(counting_now().signal - before.signal, 1);
}

/* The reading is exact to a tick, and the stamps are a second after it: 100 us at 100 ppm. */
Test(launcher, how_far_stamps_are_off_grows_with_the_time_since_the_clock_was_read)
{
	struct quoit_exec_request q = quoitd_job(0, 0, 1, -1);
	struct quoit_exec_answer a;
	uint64_t second, least;

	q.stamps = 1;
	a = quoitd_run_alone(&q);
	second = tsc_from_ns(COUNTING_STAMP_NS - COUNTING_READING_NS);
	least = 1 + tsc_from_ns(QUOITD_CLOCK_STEP) + second / 10000;
	cr_expect_geq(a.stamp_error, least);
	cr_expect_leq(a.stamp_error, least + 2, "what two roundings make");
}

/* The clock was read when the device was idle: that reading is old, and its error says so. */
Test(launcher, a_device_that_is_busy_from_the_first_job_on_stamps_jobs)
{
	struct quoit_exec_request q = quoitd_job(0, 0, 1, -1);
	struct quoit_exec_answer a;

	(void)quoitd_warm_up();
	counting_be_busy();
	q.stamps = 1;
	a = quoitd_run_alone(&q);
	cr_expect_neq(a.start, 0);
	cr_expect_neq(a.end, 0);
}

Test(launcher, a_copy_from_the_pinned_region_is_a_copy_and_a_word)
{
	const struct counting_calls before = quoitd_warm_up();
	struct counting_calls now;

	for (uint32_t i = 0; i < CHAIN; i++) {
		struct quoit_exec_request q = quoitd_job(i, 0, 0, (int)i - 1);

		q.op = QUOIT_OP_COPY;
		q.view[1].region = QUOIT_EXEC_PINNED;
		q.bytes[1] = 0;
		quoitd_put(&q);
	}
	quoitd_publish();
	quoitd_expect_answers(CHAIN);
	now = counting_now();
	cr_expect_eq(now.copy - before.copy, CHAIN);
	cr_expect_leq(now.signal - before.signal, CHAIN / 4, "%u", now.signal - before.signal);
	cr_expect_eq(now.run, before.run);
	cr_expect_eq(now.host_register - before.host_register, 1, "once, not for each");
}

/* ---- memory that the device reaches ---- */

/* A copy of this many bytes from the pinned region. */
static struct quoit_exec_request copy_from(uint64_t offset, uint64_t bytes)
{
	struct quoit_exec_request q = quoitd_job(0, 0, 0, -1);

	q.op = QUOIT_OP_COPY;
	q.bytes[0] = bytes;
	q.bytes[1] = 0;
	q.view[0].dim[3] = q.view[1].dim[3] = (uint32_t)(bytes / sizeof(float));
	q.view[1].region = QUOIT_EXEC_PINNED;
	q.view[1].offset = offset;
	return q;
}

static struct quoit_exec_answer unmap(void)
{
	const struct quoit_exec_request q = {.type = QUOIT_EXEC_UNMAP};

	return quoitd_run_alone(&q);
}

static void expect_calls(const struct counting_calls *before, unsigned asked, unsigned copies)
{
	const struct counting_calls now = counting_now();

	cr_expect_eq(now.host_register - before->host_register, asked);
	cr_expect_eq(now.copy - before->copy, copies);
}

Test(launcher, memory_is_asked_for_in_stretches_where_it_is_used_and_once)
{
	const struct counting_calls before = quoitd_warm_up();
	struct quoit_exec_request q = copy_from(4096, 4096);

	(void)quoitd_run_alone(&q);
	expect_calls(&before, 1, 1);
	q = copy_from(REACH_BYTES - 4096, REACH_BYTES);
	cr_expect_eq(quoitd_run_alone(&q).refused, 0);
	expect_calls(&before, 2, 3); /* each stretch takes a copy of its own */
	q = copy_from(REACH_BYTES, REACH_BYTES);
	(void)quoitd_run_alone(&q);
	expect_calls(&before, 2, 4);
}

Test(launcher, nobody_waits_for_more_than_one_stretch_of_another)
{
	const struct counting_calls before = quoitd_warm_up();
	const struct quoit_exec_request copy = copy_from(0, QUOITD_PINNED);
	const struct quoit_exec_request other = quoitd_job(1, 1, 1, -1);

	quoitd_put(&copy);
	quoitd_put(&other);
	quoitd_publish();
	quoitd_expect_answers(2);
	expect_calls(&before, QUOITD_STRETCHES, QUOITD_STRETCHES);
	cr_expect_eq(counting_now().registered_at_run - before.host_register, 1);
}

Test(launcher, what_is_refused_is_said_once_and_goes_through_the_staging_buffer)
{
	const struct counting_calls before = quoitd_warm_up();
	const struct quoit_exec_request q = copy_from(REACH_BYTES - 4096, REACH_BYTES);
	const unsigned parts = REACH_BYTES / STAGE_BYTES;
	struct quoit_exec_answer a;

	counting_refuse(2);
	a = quoitd_run_alone(&q);
	cr_expect_eq(a.refused, REACH_BYTES);
	cr_expect_eq(a.refusal, ENOMEM);
	expect_calls(&before, 2, parts);
	cr_expect_eq(quoitd_run_alone(&q).refused, 0);
	expect_calls(&before, 2, 2 * parts);
}

Test(launcher, all_that_was_asked_for_is_given_back_when_a_session_leaves)
{
	const struct counting_calls before = quoitd_warm_up();
	struct quoit_exec_request q = copy_from(0, QUOITD_PINNED);

	counting_refuse(2);
	(void)quoitd_run_alone(&q);
	q = copy_from(2 * REACH_BYTES, 4096);
	(void)quoitd_run_alone(&q);
	cr_expect_eq(unmap().type, QUOIT_EXEC_UNMAP);
	cr_expect_eq(counting_now().host_register - before.host_register, 3);
	cr_expect_eq(counting_now().host_unregister - before.host_unregister, 2,
		     "the refused one is not there");
	quoitd_send_memory(0); /* the slot is free for the next session */
	q = copy_from(0, 4096);
	(void)quoitd_run_alone(&q);
	cr_expect_eq(counting_now().host_register - before.host_register, 4);
}

/* ---- for profilers ---- */

Test(launcher, without_a_profiler_a_job_is_no_range)
{
	(void)quoitd_warm_up();
	cr_expect_eq(counting_now().range_begin, 0);
	cr_expect_eq(counting_now().range_end, 0);
}

/* It is open until its stream has come to its end, and closed before it is answered. */
Test(launcher_profiled, a_job_is_a_range_from_its_stream_to_its_answer)
{
	const uint64_t whose = QUOIT_EXEC_JOB(3, 1, 77);
	struct quoit_exec_request q = quoitd_job(5, 0, 1, -1);
	struct counting_calls now;

	counting_hold();
	quoitd_channel()->job[5] = whose;
	quoitd_put(&q);
	quoitd_publish();
	quoitd_expect_runs(1);
	now = counting_now();
	cr_expect_eq(now.range_begin, 1);
	cr_expect_eq(now.range_opcode, QUOIT_OP_ADD);
	cr_expect_eq(now.range_job, whose);
	cr_expect_eq(now.range_end, 0);
	counting_let_go();
	quoitd_expect_answers(1);
	cr_expect_eq(counting_now().range_end, 1);
}

Test(launcher_profiled, each_job_of_a_chain_is_a_range)
{
	counting_hold();
	for (uint32_t i = 0; i < AT_ONCE; i++) {
		struct quoit_exec_request q = quoitd_job(i, 0, 1, (int)i - 1);

		quoitd_put(&q);
	}
	quoitd_publish();
	quoitd_expect_runs(AT_ONCE);
	counting_let_go();
	quoitd_expect_answers(AT_ONCE);
	cr_expect_eq(counting_now().range_begin, AT_ONCE);
	cr_expect_eq(counting_now().range_end, AT_ONCE);
}

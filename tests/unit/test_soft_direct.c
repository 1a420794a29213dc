/* SPDX-License-Identifier: MIT */
/* test_soft_direct.c - the consumer of a GPU-direct ring on a soft device */
#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <quoit/direct.h>
#include <quoit/ring.h>

#include "soft_case.h"

static const struct quoit_device_driver *const soft = &soft_device_driver;

#define RINGS 2u

/* A device with rings, and two numbers on it, the first of them zero. */
static struct quoit_device *device;
static struct quoit_device_stream *stream;
static struct quoit_direct_requests requests[RINGS];
static struct quoit_direct_words words[RINGS];
static struct quoit_producer producer[RINGS];
static uint64_t number;
static int64_t *here; /* the host's copies of them */

static void open_rings(const char *faults)
{
	(void)setenv("QUOIT_SOFT_FAULTS", faults, 1);
	device = soft_case_open("1M");
	stream = soft_case_stream(device);
	number = soft_case_memory(device, RINGS * sizeof(int64_t));
	cr_assert_eq(soft->clear(stream, number, RINGS * sizeof(int64_t)), 0);
	cr_assert_eq(soft_case_finish(device, stream), 1);
	here = soft_case_host(device, sizeof *here);
	cr_assert_eq(soft->direct_open(device, requests, words, RINGS), 0);
	for (unsigned i = 0; i < RINGS; i++)
		quoit_producer_init(&producer[i], &requests[i].tail, &words[i].head,
				    QUOIT_DIRECT_ENTRIES);
}

static uint32_t word(const uint32_t *w)
{
	return __atomic_load_n(w, __ATOMIC_ACQUIRE);
}

static void start(unsigned ring)
{
	words[ring].leave = words[ring].left = words[ring].need_wake = 0;
	cr_assert_eq(soft->direct_start(device, ring), 0);
}

/*
 * A consumer that was idle for a while has left, which can happen at any time on a busy machine:
 * start it again.
 */
static void keep(unsigned ring)
{
	if (word(&words[ring].left))
		start(ring);
	(void)sched_yield();
}

/* Apply the operation to the ring's number and the operand. */
static void put(unsigned ring, uint8_t opcode, int64_t operand)
{
	const struct quoit_device_tensor t = {.data = number + ring * sizeof(int64_t),
					      .dim = {1, 1, 1, 1},
					      .stride = {1, 1, 1, 1},
					      .dtype = QUOIT_I64};
	uint32_t i;

	while (!quoit_ring_reserve(&producer[ring], &i))
		keep(ring);
	requests[ring].request[i % QUOIT_DIRECT_ENTRIES].call =
		(struct quoit_device_call){.opcode = opcode,
					   .arg = QUOIT_EW_SCALAR,
					   .tensor = {t, t},
					   .scalar = {(uint64_t)operand}};
}

/* The number after n rounds. */
static int64_t rounds(unsigned ring, int64_t n, int64_t value)
{
	for (int64_t i = 0; i < n; i++) {
		put(ring, QUOIT_OP_MUL, 3);
		put(ring, QUOIT_OP_ADD, i);
		quoit_ring_submit(&producer[ring]);
		value = (int64_t)((uint64_t)value * 3 + (uint64_t)i);
	}
	return value;
}

static void await(const uint32_t *w, uint32_t value)
{
	while (word(w) != value)
		(void)sched_yield();
}

static void await_head(unsigned ring, uint32_t head)
{
	while (word(&words[ring].head) != head)
		keep(ring);
}

static void stop(unsigned ring)
{
	__atomic_store_n(&words[ring].leave, 1, __ATOMIC_RELEASE);
	await(&words[ring].left, 1);
}

static int64_t result(unsigned ring)
{
	soft_case_out(stream, here, number + ring * sizeof *here, sizeof *here);
	cr_assert_eq(soft_case_finish(device, stream), 1);
	return *here;
}

TestSuite(soft_direct, .timeout = 60);

Test(soft_direct, runs_what_is_in_a_ring_in_its_order)
{
	int64_t expected[RINGS];

	open_rings("");
	for (unsigned i = 0; i < RINGS; i++)
		start(i);
	for (unsigned i = 0; i < RINGS; i++)
		expected[i] = rounds(i, 500 + i, 0);
	for (unsigned i = 0; i < RINGS; i++) {
		await_head(i, 2 * (500 + i));
		cr_expect_eq(result(i), expected[i]);
	}
	soft->close(device);
}

Test(soft_direct, beats_while_it_is_there)
{
	uint32_t beat;

	open_rings("");
	beat = words[0].beat;
	start(0);
	while (word(&words[0].beat) == beat)
		keep(0);
	stop(0);
	beat = word(&words[0].beat);
	for (int i = 0; i < 1000; i++)
		(void)sched_yield();
	cr_expect_eq(word(&words[0].beat), beat);
	soft->close(device);
}

Test(soft_direct, leaves_what_came_too_late_to_the_next)
{
	int64_t expected;

	open_rings("");
	start(0);
	stop(0);
	cr_expect_eq(word(&words[0].need_wake), 1);
	expected = rounds(0, 10, 0);
	cr_expect_eq(word(&words[0].head), 0);
	start(0);
	await_head(0, 20);
	cr_expect_eq(result(0), expected);
	soft->close(device);
}

/* It leaves at any moment: no request is run twice, and none is lost. */
Test(soft_direct, is_told_to_leave_again_and_again)
{
	int64_t expected = 0;
	uint32_t put_in = 0;

	open_rings("");
	for (int i = 0; i < 200; i++) {
		start(0);
		expected = rounds(0, 5, expected);
		put_in += 10;
		stop(0);
		if (i % 3 == 0) {
			start(0);
			await_head(0, put_in);
			stop(0);
		}
	}
	start(0);
	await_head(0, put_in);
	cr_expect_eq(result(0), expected);
	soft->close(device);
}

Test(soft_direct, leaves_by_itself_when_it_has_nothing_to_do)
{
	open_rings("");
	start(0);
	await(&words[0].left, 1);
	cr_expect_eq(word(&words[0].need_wake), 1);
	soft->close(device);
}

Test(soft_direct, breaks_the_device_by_an_address_that_is_none)
{
	const struct quoit_device_verdict *culprit;

	open_rings("");
	number += UINT64_C(1) << 20;
	(void)rounds(0, 1, 0);
	start(0);
	cr_expect_eq(soft_case_break(device, &culprit), -QUOIT_EGPUFAULT);
	cr_expect_eq(word(&words[0].head), 0, "nothing of it counts as done");
	soft->close(device);
}

/* ---- faults by order ---- */

Test(soft_direct, does_not_start)
{
	open_rings("direct_start:1:ENOMEM");
	cr_expect_eq(soft->direct_start(device, 0), -ENOMEM);
	start(0);
	soft->close(device);
}

Test(soft_direct, cannot_be_had)
{
	(void)setenv("QUOIT_SOFT_FAULTS", "direct_open:1-:ENOTSUP", 1);
	device = soft_case_open("1M");
	cr_expect_eq(soft->direct_open(device, requests, words, RINGS), -ENOTSUP);
	cr_expect_eq(soft->direct_start(device, 0), -EINVAL);
	soft->close(device);
}

Test(soft_direct, stalls_until_it_is_told_to_leave)
{
	int64_t expected;

	open_rings("stall:1");
	expected = rounds(0, 3, 0);
	start(0);
	for (int i = 0; i < 1000; i++)
		(void)sched_yield();
	cr_expect_eq(word(&words[0].head), 0);
	stop(0);
	cr_expect_eq(word(&words[0].head), 0);
	start(0);
	await_head(0, 6);
	cr_expect_eq(result(0), expected);
	soft->close(device);
}

Test(soft_direct, says_that_it_did_what_there_never_was)
{
	open_rings("lie:1");
	(void)rounds(0, 1, 0);
	start(0);
	while (!word(&words[0].head))
		(void)sched_yield();
	cr_expect(!quoit_ring_refresh(&producer[0]), "and its producer sees it");
	/* It never leaves, so the device is not closed. */
}

/* ---- calls that are not allowed beside a consumer ---- */

static void call_memory_new(void)
{
	uint64_t address;

	(void)soft->memory_new(device, 8, &address);
}

static void call_memory_free(void)
{
	(void)soft->memory_free(device, number);
}

static void call_host_register(void)
{
	static int64_t memory;

	(void)soft->host_register(device, &memory, sizeof memory);
}

static void call_host_unregister(void)
{
	soft->host_unregister(device, here);
}

static void call_stream_new(void)
{
	struct quoit_device_stream *s;

	(void)soft->stream_new(device, QUOIT_DEVICE_NORMAL, &s);
}

static void call_module_new(void)
{
	struct quoit_device_module *m;
	char text[128];

	(void)soft->module_new(device, "soft", 4, &m, text, sizeof text);
}

static void call_large_product(void)
{
	const struct quoit_device_tensor t = {
		.data = number, .dim = {1, 1, 65, 65}, .stride = {0, 0, 0, 0}, .dtype = QUOIT_F64};

	(void)soft->run(stream,
			&(struct quoit_device_call){.opcode = QUOIT_OP_GEMM, .tensor = {t, t, t}});
}

static void call_small_product(void)
{
	const struct quoit_device_tensor t = {
		.data = number, .dim = {1, 1, 1, 1}, .stride = {1, 1, 1, 1}, .dtype = QUOIT_F64};

	(void)soft->run(stream,
			&(struct quoit_device_call){.opcode = QUOIT_OP_GEMM, .tensor = {t, t, t}});
}

Test(soft_direct, what_may_wait_for_the_device_breaks_it_while_a_consumer_is_there)
{
	static const struct {
		void (*call)(void);
		int err;
	} rows[] = {
		{call_memory_new, -QUOIT_EGPUFAULT},    {call_memory_free, -QUOIT_EGPUFAULT},
		{call_host_register, -QUOIT_EGPUFAULT}, {call_host_unregister, -QUOIT_EGPUFAULT},
		{call_stream_new, -QUOIT_EGPUFAULT},    {call_module_new, -QUOIT_EGPUFAULT},
		{call_large_product, -QUOIT_EGPUFAULT}, {call_small_product, 0},
	};
	const struct quoit_device_verdict *culprit;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		open_rings("stall:1-"); /* it does not leave by itself */
		start(0);
		put(0, QUOIT_OP_ADD, 1);
		quoit_ring_submit(&producer[0]);
		rows[i].call();
		cr_expect_eq(soft->health(device, &culprit), rows[i].err, "row %zu", i);
		soft->close(device);
	}
}

/* SPDX-License-Identifier: MIT */
/* test_soft_stream.c - work in a stream is ordered; between streams only events give an order. */
#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>

#include "soft_case.h"

static const struct quoit_device_driver *const soft = &soft_device_driver;

TestSuite(soft_stream, .timeout = 60);

/* ns: so long that any thread that does not wait overtakes. */
#define A_WHILE 20000000

/* Words in host memory, and one on the device. */
struct scene {
	struct quoit_device *d;
	struct quoit_device_stream *a, *b, *c;
	uint32_t *word;
	uint64_t cell;
};

#define WORDS 2048u

static struct scene make(void)
{
	struct quoit_device *d = soft_case_open("1M");

	return (struct scene){.d = d,
			      .a = soft_case_stream(d),
			      .b = soft_case_stream(d),
			      .c = soft_case_stream(d),
			      .word = soft_case_host(d, WORDS * sizeof(uint32_t)),
			      .cell = soft_case_memory(d, 4)};
}

static void drop(struct scene *n)
{
	soft->stream_free(n->a);
	soft->stream_free(n->b);
	soft->stream_free(n->c);
	soft->host_free(n->d, n->word);
	soft->close(n->d);
}

static uint32_t look(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void wait_for(const uint32_t *word, uint32_t value)
{
	while (look(word) != value)
		(void)sched_yield();
}

Test(soft_stream, work_is_done_in_order)
{
	struct scene n = make();
	const uint32_t half = WORDS / 2;

	for (uint32_t i = 0; i < half; i++)
		n.word[i] = i + 1;
	for (uint32_t i = 0; i < half; i++) {
		soft_case_in(n.a, n.cell, &n.word[i], 4);
		soft_case_out(n.a, &n.word[half + i], n.cell, 4);
	}
	cr_assert_eq(soft_case_finish(n.d, n.a), 1);
	for (uint32_t i = 0; i < half; i++)
		cr_assert_eq(n.word[half + i], i + 1);
	drop(&n);
}

Test(soft_stream, a_signal_comes_after_all_before_it)
{
	struct scene n = make();

	for (uint32_t i = 1; i <= 500; i++) {
		n.word[0] = i;
		soft_case_in(n.a, n.cell, &n.word[0], 4);
		soft_case_out(n.a, &n.word[1], n.cell, 4);
		cr_assert_eq(soft->signal(n.a, &n.word[2], i), 0);
		wait_for(&n.word[2], i);
		cr_assert_eq(n.word[1], i);
	}
	drop(&n);
}

Test(soft_stream, a_stream_that_hangs_holds_up_no_other)
{
	struct scene n = make();
	struct quoit_device_event *e;

	soft_case_spin(n.d, n.a, UINT64_MAX);
	e = soft_case_mark(n.d, n.a);
	cr_assert_eq(soft->signal(n.a, &n.word[0], 1), 0);
	cr_assert_eq(soft->stream_wait(n.b, e), 0);
	cr_assert_eq(soft->signal(n.b, &n.word[1], 1), 0);
	for (uint32_t i = 1; i <= 100; i++) {
		cr_assert_eq(soft->signal(n.c, &n.word[2], i), 0);
		wait_for(&n.word[2], i);
	}
	cr_expect_eq(soft->event_done(e), 0);
	cr_expect_eq(look(&n.word[0]), 0);
	cr_expect_eq(look(&n.word[1]), 0, "it did not wait");
	soft->event_free(e);
}

Test(soft_stream, who_waits_sees_what_was_before_the_event)
{
	struct scene n = make();
	struct quoit_device_event *e;

	n.word[0] = 42;
	soft_case_spin(n.d, n.a, A_WHILE);
	soft_case_in(n.a, n.cell, &n.word[0], 4);
	e = soft_case_mark(n.d, n.a);
	cr_assert_eq(soft->stream_wait(n.b, e), 0);
	soft_case_out(n.b, &n.word[1], n.cell, 4);
	cr_assert_eq(soft_case_finish(n.d, n.b), 1);
	cr_expect_eq(n.word[1], 42);
	cr_expect_eq(soft->event_done(e), 1);
	soft->event_free(e);
	drop(&n);
}

Test(soft_stream, an_event_that_was_never_recorded_is_done)
{
	struct scene n = make();
	struct quoit_device_event *e = NULL;

	cr_assert_eq(soft->event_new(n.d, &e), 0);
	cr_expect_eq(soft->event_done(e), 1);
	cr_assert_eq(soft->stream_wait(n.a, e), 0);
	cr_assert_eq(soft_case_finish(n.d, n.a), 1);
	soft->event_free(e);
	soft->event_free(NULL);
	drop(&n);
}

Test(soft_stream, an_event_is_what_it_was_recorded_as_last)
{
	struct scene n = make();
	struct quoit_device_event *e = soft_case_mark(n.d, n.a);

	cr_assert_eq(soft_case_finish(n.d, n.a), 1);
	cr_expect_eq(soft->event_done(e), 1);
	soft_case_spin(n.d, n.b, UINT64_MAX);
	cr_assert_eq(soft->event_record(e, n.b), 0);
	cr_expect_eq(soft->event_done(e), 0);
	cr_assert_eq(soft->event_record(e, n.a), 0);
	cr_assert_eq(soft_case_finish(n.d, n.a), 1);
	cr_expect_eq(soft->event_done(e), 1);
	soft->event_free(e);
}

Test(soft_stream, who_waits_for_an_event_waits_for_what_it_was_then)
{
	struct scene n = make();
	struct quoit_device_event *e;

	soft_case_spin(n.d, n.a, A_WHILE);
	e = soft_case_mark(n.d, n.a);
	cr_assert_eq(soft->stream_wait(n.c, e), 0);
	soft_case_spin(n.d, n.b, UINT64_MAX);
	cr_assert_eq(soft->event_record(e, n.b), 0);
	cr_expect_eq(soft_case_finish(n.d, n.c), 1);
	soft->event_free(e); /* b still has to record it */
}

Test(soft_stream, what_comes_after_an_event_does_not_count)
{
	struct scene n = make();
	struct quoit_device_event *e = soft_case_mark(n.d, n.a);

	soft_case_spin(n.d, n.a, UINT64_MAX);
	while (!soft->event_done(e))
		(void)sched_yield();
	cr_assert_eq(soft->stream_wait(n.b, e), 0);
	cr_expect_eq(soft_case_finish(n.d, n.b), 1);
	soft->event_free(e);
}

Test(soft_stream, events_are_for_one_device)
{
	struct scene n = make();
	struct quoit_device *other = soft_case_open("1M");
	struct quoit_device_event *e = NULL;

	cr_assert_eq(soft->event_new(other, &e), 0);
	cr_expect_eq(soft->event_record(e, n.a), -EINVAL);
	cr_expect_eq(soft->stream_wait(n.a, e), -EINVAL);
	soft->event_free(e);
	soft->close(other);
	drop(&n);
}

Test(soft_stream, a_full_stream_takes_nothing_until_it_has_done_something)
{
	struct scene n = make();
	uint32_t count = 1;
	int err;

	soft_case_spin(n.d, n.a, A_WHILE);
	while (!(err = soft->signal(n.a, &n.word[0], count)))
		count++;
	cr_expect_eq(err, -EAGAIN);
	/* If a stream gets so far in this time, the next loop asks it again. */
	cr_expect_geq(count, SOFT_ENTRIES);
	while ((err = soft->signal(n.a, &n.word[0], count)) == -EAGAIN)
		(void)sched_yield();
	cr_assert_eq(err, 0);
	wait_for(&n.word[0], count);
	drop(&n);
}

Test(soft_stream, a_stream_that_hangs_takes_so_many_entries)
{
	struct scene n = make();
	uint32_t count = 1; /* the kernel itself */

	soft_case_spin(n.d, n.a, UINT64_MAX);
	while (!soft->signal(n.a, &n.word[0], 1))
		count++;
	cr_expect_eq(count, SOFT_ENTRIES);
	cr_expect_eq(soft->stamp(n.a, (uint64_t *)&n.word[0]), -EAGAIN);
	cr_expect_eq(soft->clear(n.a, n.cell, 4), -EAGAIN);
}

Test(soft_stream, close_waits_for_all_that_was_put_into_streams)
{
	static uint32_t word[2];
	struct scene n = make();

	cr_assert_eq(soft->host_register(n.d, word, sizeof word), 0);
	for (int i = 0; i < 2; i++) {
		struct quoit_device_stream *s = i ? n.a : n.b;

		soft_case_spin(n.d, s, A_WHILE);
		cr_assert_eq(soft->signal(s, &word[i], 7), 0);
	}
	soft->stream_free(n.a); /* goes on by itself */
	soft->stream_free(NULL);
	soft->host_free(n.d, n.word);
	soft->close(n.d);
	cr_expect_eq(word[0], 7);
	cr_expect_eq(word[1], 7);
}

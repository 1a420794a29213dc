/* SPDX-License-Identifier: MIT */
/* test_ring_events.c - jobs of one ring wait for jobs of another, without the program */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "acquire.h"

static struct quoit_event event_of(struct quoit_ring *q)
{
	struct quoit_event e;

	cr_assert_eq(quoit_record_event(q, &e), 0, "%s", quoit_error_text(q));
	return e;
}

/* Hold a tensor of ring q, so that jobs which write it wait until release(). */
static quoit_tensor held(struct fixture *f)
{
	quoit_tensor t = shared(f);

	(void)acquire(f->q, t, QUOIT_ACCESS_WRITE);
	return t;
}

Test(ring_events, job_waits_for_all_jobs_before_the_event)
{
	struct fixture f = begin();
	quoit_tensor gate = held(&f);
	quoit_job other;
	struct quoit_event e;

	cr_assert_eq(quoit_push(f.q, quoit_fill_int(gate, 1)), 0);
	cr_assert_eq(quoit_push(f.q, quoit_nop(0)), 0);
	e = event_of(f.q);
	other = start(f.p, quoit_with_event(quoit_nop(0), e));
	cr_expect(is_open(f.p, other));
	release(f.q, gate);
	cr_expect_eq(quoit_wait(f.p, other, QUOIT_FOREVER), 0);
	end(&f);
}

Test(ring_events, job_waits_for_one_job_and_not_for_those_behind)
{
	struct fixture f = begin();
	quoit_tensor gate = held(&f), second = held(&f);
	quoit_job first, other;
	struct quoit_event e;

	first = start(f.q, quoit_fill_int(gate, 1));
	(void)start(f.q, quoit_fill_int(second, 1));
	cr_assert_eq(quoit_get_event(f.q, first, &e), 0);
	other = start(f.p, quoit_with_event(quoit_nop(0), e));
	cr_expect(is_open(f.p, other));
	release(f.q, gate);
	cr_expect_eq(quoit_wait(f.p, other, QUOIT_FOREVER), 0);
	release(f.q, second);
	end(&f);
}

Test(ring_events, tensor_of_one_ring_is_used_on_another_behind_the_event)
{
	struct fixture f = begin();
	int32_t got[N];

	for (int i = 0; i < 500; i++) {
		quoit_tensor a = create(f.q, N, 0);

		cr_assert_eq(quoit_push(f.q, quoit_fill_int(a, i)), 0);
		cr_assert_eq(
			quoit_push(f.p, quoit_with_event(quoit_add_int(a, a, 1), event_of(f.q))),
			0);
		cr_assert_eq(
			quoit_push(f.q, quoit_with_event(quoit_add_int(a, a, 1), event_of(f.p))),
			0);
		cr_assert_eq(quoit_read(f.q, a, got, sizeof got), 0, "%s", quoit_error_text(f.q));
		for (unsigned k = 0; k < N; k++)
			cr_assert_eq(got[k], i + 2);
		quoit_free(f.q, a);
	}
	end(&f);
}

/* The other ring's SQE cannot be fetched: all jobs of the session wait for the program. */
Test(ring_events, event_that_was_not_fetched_yet_is_waited_for)
{
	struct fixture f = {0};
	struct quoit_ring_params small = {.entries = 8};
	quoit_tensor gate;
	quoit_job other;
	struct quoit_event e;

	f = begin_with(SHARED, &small);
	gate = held(&f);
	for (int i = 0; i < 16; i++) /* as many as the CQ has credits for */
		cr_assert_eq(quoit_push(f.q, quoit_fill_int(gate, i)), 0);
	for (int i = 0; i < 4; i++)
		cr_assert_eq(quoit_push(f.q, quoit_nop(0)), 0);
	e = event_of(f.q);
	other = start(f.p, quoit_with_event(quoit_nop(0), e));
	usleep(20000);
	cr_expect_eq(quoit_get_result(f.p, other), -EINPROGRESS);
	release(f.q, gate);
	cr_assert_eq(quoit_wait_all(f.q, QUOIT_FOREVER), 0);
	cr_expect_eq(quoit_wait(f.p, other, QUOIT_FOREVER), 0);
	end(&f);
}

/* The same, and the job that waits to be fetched is cancelled. */
Test(ring_events, job_that_waits_for_an_event_can_be_cancelled)
{
	struct quoit_ring_params small = {.entries = 8};
	struct fixture f = begin_with(SHARED, &small);
	quoit_tensor gate = held(&f);
	quoit_job other;

	for (int i = 0; i < 16; i++)
		cr_assert_eq(quoit_push(f.q, quoit_fill_int(gate, i)), 0);
	other = start(f.p, quoit_with_event(quoit_nop(0), event_of(f.q)));
	cr_expect_eq(quoit_cancel(f.p, other), 0);
	cr_expect_eq(quoit_wait(f.p, other, QUOIT_FOREVER), -ECANCELED);
	release(f.q, gate);
	end(&f);
}

Test(ring_events, failed_job_has_ended)
{
	struct fixture f = begin();
	quoit_tensor a = create(f.q, N, 0);

	cr_assert_eq(quoit_push(f.q, quoit_fill(a, 1.5)), 0); /* a double for integers */
	cr_expect_eq(quoit_wait(f.p, start(f.p, quoit_with_event(quoit_nop(0), event_of(f.q))),
				QUOIT_FOREVER),
		     0);
	end(&f);
}

Test(ring_events, ring_that_was_closed_has_nothing_to_wait_for)
{
	struct fixture f = begin();
	struct quoit_ring *q;
	struct quoit_event e;

	cr_assert_eq(quoit_open_ring(f.s, NULL, &q), 0);
	e = event_of(q);
	cr_assert_eq(quoit_close_ring(q), 0);
	cr_expect_eq(quoit_wait(f.p, start(f.p, quoit_with_event(quoit_nop(0), e)), QUOIT_FOREVER),
		     0);
	end(&f);
}

Test(ring_events, event_that_cannot_come_is_refused)
{
	struct fixture f = begin();
	const struct quoit_event now = event_of(f.p);
	static const char part[] = "no such entry was put in, or it comes after this job";
	const struct quoit_event bad[] = {
		{.ring = 64, .index = 0},
		{.ring = 1, .index = 100000},
		{.ring = now.ring, .index = now.index + 50},
	};

	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[256];
		int err = quoit_wait(f.p, start(f.p, quoit_with_event(quoit_nop(0), bad[i])),
				     QUOIT_FOREVER);

		cr_expect_eq(err, -EINVAL);
		quoit_strerror_wait(f.p, err, text, sizeof text);
		cr_expect(strstr(text, part), "%s", text);
	}
	for (uint32_t ring = 0; ring < 1000; ring += 65) { /* 0: none was recorded */
		const struct quoit_event none = {.ring = ring, .index = 0};
		quoit_job job;

		cr_expect_eq(quoit_start(f.p, quoit_with_event(quoit_nop(0), none), &job), -EINVAL);
		cr_expect(strstr(quoit_error_text(f.p), "the event was not recorded"), "%s",
			  quoit_error_text(f.p));
	}
	end(&f);
}

Test(ring_events, event_beside_a_link_is_refused_in_words)
{
	struct fixture f = begin();
	const struct quoit_event e = event_of(f.p);
	char text[256];

	settle(f.p); /* entry 1, which the link makes of the event, is there */
	settle(f.p);
	cr_expect_eq(quoit_wait(f.p,
				start(f.p, quoit_with_link(quoit_with_event(quoit_nop(0), e), 1)),
				QUOIT_FOREVER),
		     -EINVAL);
	quoit_strerror_wait(f.p, -EINVAL, text, sizeof text);
	cr_expect(strstr(text, "it has an event and a link"), "%s", text);
	end(&f);
}

Test(ring_events, event_of_the_ring_itself_is_as_good)
{
	struct fixture f = begin();
	quoit_tensor gate = held(&f);
	quoit_job other;

	cr_assert_eq(quoit_push(f.q, quoit_fill_int(gate, 1)), 0);
	other = start(f.q, quoit_with_event(quoit_nop(0), event_of(f.q)));
	cr_expect(is_open(f.q, other));
	release(f.q, gate);
	cr_expect_eq(quoit_wait(f.q, other, QUOIT_FOREVER), 0);
	end(&f);
}

/* SPDX-License-Identifier: MIT */
/* test_client_jobs.c - submitting and waiting on managed and raw rings, against a fake quoitd */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <quoit.h>
#include <quoit/ring.h>
#include <quoit/sample.h>

#include "fake_daemon.h"
#include "library.h"
#include "queue.h"

#define SOON 5000 /* milliseconds: longer than anything here takes */

static struct fake_daemon *f;
static struct quoit_session *s;
static struct quoit_ring *q;

static void open_ring(uint32_t flags)
{
	struct quoit_ring_params ring = {.entries = 8, .flags = flags, .jobs = 4};
	struct quoit_open_params p;

	f = fake_start(NULL);
	p = (struct quoit_open_params){.socket = fake_path(f)};
	cr_assert_eq(quoit_open(&p, &s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(s, &ring, &q), 0);
}

static void open_managed(void)
{
	open_ring(0);
}

static void open_raw(void)
{
	open_ring(QUOIT_RING_RAW);
}

static void close_all(void)
{
	quoit_close(s, 0);
	fake_stop(f);
}

TestSuite(managed, .init = open_managed, .fini = close_all);
TestSuite(raw, .init = open_raw, .fini = close_all);

/* ---- managed rings ---- */

Test(managed, a_wait_returns_the_result_and_frees_the_slot)
{
	quoit_job job;

	cr_assert_eq(quoit_start(q, quoit_fill(1, 0), &job), 0);
	cr_assert_neq(job, 0);
	cr_assert_eq(quoit_wait(q, job, SOON), 0);
	cr_assert_eq(quoit_wait(q, job, SOON), -EINVAL);
	cr_assert_eq(quoit_get_result(q, job), -EINVAL);
}

Test(managed, a_stale_name_does_not_reach_the_next_job_in_its_slot)
{
	quoit_job old, new;

	quoit_start(q, quoit_nop(0), &old);
	cr_assert_eq(quoit_wait(q, old, SOON), 0);
	quoit_start(q, quoit_nop(0), &new);
	cr_assert_eq((uint32_t)old, (uint32_t) new, "the slot is used again");
	cr_assert_eq(quoit_wait(q, old, SOON), -EINVAL);
	cr_assert_eq(quoit_wait(q, new, SOON), 0);
}

Test(managed, another_ring_s_job_is_refused)
{
	struct quoit_ring *other;
	quoit_job job, its;

	cr_assert_eq(quoit_open_ring(s, NULL, &other), 0);
	quoit_start(q, quoit_nop(0), &job);
	quoit_start(other, quoit_nop(0), &its); /* in the same slot of its table */
	cr_assert_eq(quoit_wait(other, job, SOON), -EINVAL);
	cr_assert_eq(quoit_wait(q, its, SOON), -EINVAL);
	cr_assert_eq(quoit_wait(q, job, SOON), 0);
}

Test(managed, a_wait_that_times_out_leaves_the_job_valid)
{
	quoit_job job;
	char text[200];

	fake_hold_jobs(f, true);
	quoit_start(q, quoit_nop(0), &job);
	cr_assert_eq(quoit_wait(q, job, 0), -ETIME);
	cr_assert_eq(quoit_wait(q, job, 20), -ETIME);
	cr_expect_str_eq(quoit_strerror_wait(q, -ETIME, text, sizeof text),
			 "ETIME: the timeout has passed; what the call waits for goes on");
	cr_assert_eq(quoit_get_result(q, job), -EINPROGRESS);
	fake_hold_jobs(f, false);
	cr_assert_eq(quoit_wait(q, job, SOON), 0);
}

Test(managed, the_table_full_is_a_return_value)
{
	quoit_job job[5];

	fake_hold_jobs(f, true);
	for (int i = 0; i < 4; i++)
		cr_assert_eq(quoit_start(q, quoit_nop(0), &job[i]), 0);
	cr_assert_eq(quoit_start(q, quoit_nop(0), &job[4]), -EAGAIN);
	fake_hold_jobs(f, false);
	cr_assert_eq(quoit_wait_all_of(q, job, 4, SOON), 4);
	cr_assert_eq(quoit_start(q, quoit_nop(0), &job[4]), -EAGAIN, "ended but not asked for");
	quoit_detach(q, job[0]);
	cr_assert_eq(quoit_start(q, quoit_nop(0), &job[4]), 0);
}

Test(managed, a_full_table_does_not_keep_a_wait_from_working)
{
	quoit_job job;

	for (int i = 0; i < 4; i++)
		quoit_start(q, quoit_nop(0), &job);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	cr_assert_eq(quoit_wait_tensor(q, 1, SOON), 0);
	cr_assert_eq(quoit_window(q, 0, SOON), 0);
}

Test(managed, wait_n_counts_what_has_ended_and_keeps_the_slots)
{
	quoit_job job[3];

	quoit_start(q, quoit_nop(0), &job[0]);
	cr_assert_eq(quoit_wait_any(q, job, 1, SOON), 1);
	fake_hold_jobs(f, true);
	quoit_start(q, quoit_nop(0), &job[1]);
	quoit_start(q, quoit_nop(0), &job[2]);
	cr_assert_eq(quoit_wait_any(q, job, 3, SOON), 1);
	cr_assert_eq(quoit_wait_n(q, job, 3, 2, 10), -ETIME);
	cr_assert_eq(quoit_wait_n(q, job, 3, 4, 10), -EINVAL);
	fake_hold_jobs(f, false);
	cr_assert_eq(quoit_wait_all_of(q, job, 3, SOON), 3);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(quoit_get_result(q, job[i]), 0);
}

Test(managed, a_full_SQ_waits_for_room)
{
	for (int i = 0; i < 1000; i++)
		cr_assert_eq(quoit_push(q, quoit_fill(1, i)), 0);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	cr_assert_eq(fake_fetched(f), 1001);
	for (uint32_t i = 0; i < 1000; i++) {
		cr_assert_eq(fake_sqe(f, i).scalar[0], quoit_bits(i));
		cr_assert_eq(fake_sqe(f, i).user_data, i, "an error record can name the push");
		cr_assert_eq(fake_sqe(f, i).flags, QUOIT_SQE_QUIET);
	}
}

Test(managed, a_quarter_of_the_ring_publishes_itself)
{
	quoit_push(q, quoit_nop(0));
	quoit_push(q, quoit_nop(0)); /* of eight entries */
	while (fake_fetched(f) < 2)
		;
	quoit_push(q, quoit_nop(0));
	quoit_flush(q);
	while (fake_fetched(f) < 3)
		;
}

Test(managed, the_doorbell_rings_only_when_quoitd_sleeps)
{
	quoit_push(q, quoit_nop(0));
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	cr_assert_eq(fake_kicks(f), 0);
	fake_say_asleep(f);
	quoit_push(q, quoit_nop(0));
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	cr_assert_geq(fake_kicks(f), 1);
}

Test(managed, the_doorbell_rings_once_however_much_is_published_until_quoitd_comes)
{
	fake_hold_fetch(f, true);
	fake_say_asleep(f);
	for (int i = 0; i < 3; i++) {
		quoit_push(q, quoit_nop(0));
		cr_assert_eq(quoit_flush(q), 0);
	}
	fake_hold_fetch(f, false);
	while (fake_fetched(f) < 3)
		;
	cr_assert_eq(fake_kicks(f), 1);
	quoit_push(q, quoit_nop(0));
	cr_assert_eq(quoit_flush(q), 0);
	while (fake_fetched(f) < 4 || fake_kicks(f) < 2)
		;
}

Test(managed, a_failed_job_has_its_record)
{
	struct quoit_error error;
	quoit_job job;

	fake_fail(f, QUOIT_OP_EXP, EDOM);
	quoit_start(q, quoit_exp(1, 2), &job);
	cr_assert_eq(quoit_wait_all_of(q, &job, 1, SOON), 1);
	cr_assert(quoit_get_job_error(q, job, &error));
	cr_assert_eq(error.code, -EDOM);
	cr_assert_eq(error.opcode, QUOIT_OP_EXP);
	cr_assert_eq(error.user_data, job);
	cr_assert_eq(quoit_wait(q, job, SOON), -EDOM);
	cr_assert_eq(quoit_count_failures(q, NULL), 0, "it was told to who asked");
}

Test(managed, the_record_of_a_failed_wait_stays_until_the_next_one)
{
	struct quoit_error error;
	char text[200], name[64];
	quoit_job job;

	fake_fail(f, QUOIT_OP_EXP, EDOM);
	quoit_start(q, quoit_exp(1, 2), &job);
	cr_assert_eq(quoit_wait(q, job, SOON), -EDOM);
	cr_assert(quoit_get_wait_error(q, &error));
	cr_assert_eq(error.user_data, job);
	snprintf(name, sizeof name, "exp (job %#llx) failed with EDOM", (unsigned long long)job);
	cr_assert_str_eq(quoit_strerror_wait(q, -EDOM, text, sizeof text), name);
	cr_assert_eq(quoit_wait(q, job, SOON), -EINVAL);
	cr_assert_not(quoit_get_wait_error(q, &error), "that failed by itself");
	cr_assert_str_eq(quoit_strerror_wait(q, -EINVAL, text, sizeof text),
			 "EINVAL: this ring has no such job: it was waited for or detached, "
			 "or belongs to another ring");
	cr_assert_str_eq(quoit_strerror_wait(q, -ENOENT, text, sizeof text), "ENOENT",
			 "that was something else");
	cr_assert_str_eq(quoit_strerror_wait(NULL, -ENODEV, text, sizeof text), "ENODEV");
}

Test(managed, failures_of_pushed_and_detached_jobs_are_counted)
{
	struct quoit_error error;
	quoit_job job;

	fake_fail(f, QUOIT_OP_EXP, EDOM);
	quoit_push(q, quoit_exp(1, 2));
	quoit_push(q, quoit_log(1, 2));
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	cr_assert_eq(quoit_count_failures(q, &error), 1);
	cr_assert_eq(error.user_data, 0, "the first SQE of the ring");
	quoit_start(q, quoit_exp(1, 2), &job);
	quoit_detach(q, job);
	cr_assert_eq(quoit_wait(q, job, SOON), -EINVAL);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	cr_assert_eq(quoit_count_failures(q, NULL), 2);
	quoit_start(q, quoit_exp(1, 2), &job);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	quoit_detach(q, job);
	cr_assert_eq(quoit_count_failures(q, &error), 3);
	cr_assert_eq(error.user_data, job);
}

Test(managed, cancel_ends_what_has_not_started)
{
	quoit_job job;

	fake_hold_jobs(f, true);
	quoit_start(q, quoit_nop(0), &job);
	quoit_flush(q);
	while (!fake_fetched(f))
		;
	cr_assert_eq(quoit_cancel(q, job), 0);
	cr_assert_eq(quoit_wait(q, job, SOON), -ECANCELED);
	cr_assert_eq(quoit_cancel(q, job), -EINVAL);
	fake_hold_jobs(f, false);
	quoit_start(q, quoit_nop(0), &job);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	cr_assert_eq(quoit_cancel(q, job), -EALREADY);
}

Test(managed, a_window_lets_so_many_batches_be_open)
{
	fake_hold_jobs(f, true);
	cr_assert_eq(quoit_window(q, 2, 10), 0);
	cr_assert_eq(quoit_window(q, 2, 10), 0);
	cr_assert_eq(quoit_window(q, 2, 10), -ETIME);
	cr_assert_eq(quoit_window(q, QUOIT_MAX_WINDOW + 1, 10), -EINVAL);
	fake_hold_jobs(f, false);
	cr_assert_eq(quoit_window(q, 0, SOON), 0);
	cr_assert_eq(fake_sqe(f, 0).flags, QUOIT_SQE_AFTER_ALL);
}

Test(managed, windows_that_time_out_do_not_pile_up)
{
	struct quoit_ring_params params = {.entries = 128};
	struct quoit_ring *r;

	cr_assert_eq(quoit_open_ring(s, &params, &r), 0);
	fake_hold_jobs(f, true);
	for (unsigned i = 0; i < 3 * QUOIT_MAX_WINDOW; i++)
		cr_assert_eq(quoit_window(r, QUOIT_MAX_WINDOW, 0),
			     i < QUOIT_MAX_WINDOW ? 0 : -ETIME);
	fake_hold_jobs(f, false);
	cr_assert_eq(quoit_window(r, 0, SOON), 0);
}

Test(managed, waits_that_time_out_give_their_slots_back)
{
	for (int round = 0; round < 50; round++) {
		fake_hold_jobs(f, true);
		for (int i = 0; i < 4; i++)
			cr_assert_eq(quoit_wait_all(q, 0), -ETIME);
		fake_hold_jobs(f, false);
		cr_assert_eq(quoit_wait_all(q, SOON), 0);
	}
}

/* More waits than the table has slots, of which they take none of the user's. */
Test(managed, waits_that_time_out_for_ever_keep_nobody_from_starting)
{
	quoit_job job;

	fake_hold_jobs(f, true);
	for (int i = 0; i < 500; i++)
		cr_assert_eq(quoit_wait_all(q, 0), -ETIME, "wait %d", i);
	fake_hold_jobs(f, false);
	cr_assert_eq(quoit_start(q, quoit_nop(0), &job), 0);
	cr_expect_eq(quoit_wait(q, job, SOON), 0);
	cr_expect_eq(quoit_wait_all(q, SOON), 0);
}

Test(managed, a_wait_for_no_tensor_is_an_error)
{
	cr_expect_eq(quoit_wait_tensor(q, QUOIT_NO_TENSOR, SOON), -EBADF);
}

/* A program that only polls hears of it, too. */
Test(managed, a_full_table_of_a_dead_daemon_is_no_reason_to_try_again)
{
	quoit_job job;
	int err = 0;

	fake_hold_jobs(f, true);
	while (!err)
		err = quoit_start(q, quoit_nop(0), &job);
	cr_assert_eq(err, -EAGAIN);
	fake_kill(f);
	for (int ms = 0; ms < SOON && err == -EAGAIN; ms++) {
		usleep(1000);
		err = quoit_start(q, quoit_nop(0), &job);
	}
	cr_expect_eq(err, -ECONNRESET);
}

Test(managed, a_job_that_ended_with_EINVAL_is_cancelled_too_late)
{
	quoit_job job;

	fake_fail(f, QUOIT_OP_NOP, EINVAL);
	cr_assert_eq(quoit_start(q, quoit_nop(0), &job), 0);
	cr_assert_eq(quoit_wait_n(q, &job, 1, 1, SOON), 1);
	cr_expect_eq(quoit_cancel(q, job), -EALREADY);
	quoit_detach(q, job);
}

Test(managed, a_wait_that_finds_the_SQ_full_keeps_its_time)
{
	fake_hold_fetch(f, true);
	for (int i = 0; i < 8; i++)
		cr_assert_eq(quoit_push(q, quoit_nop(0)), 0);
	cr_assert_eq(quoit_wait_all(q, 10), -ETIME);
	cr_assert_eq(quoit_window(q, 0, 10), -ETIME);
	fake_hold_fetch(f, false);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
}

Test(managed, what_was_posted_before_the_end_is_delivered_then_the_end)
{
	struct quoit_error error;
	quoit_job done, lost;

	quoit_start(q, quoit_nop(0), &done);
	quoit_flush(q);
	while (!fake_fetched(f))
		;
	fake_hold_jobs(f, true);
	quoit_start(q, quoit_nop(0), &lost);
	quoit_flush(q);
	fake_kill(f);
	cr_assert_eq(quoit_wait(q, lost, QUOIT_FOREVER), -ECONNRESET);
	cr_assert_eq(quoit_wait(q, done, QUOIT_FOREVER), 0);
	cr_assert_not(quoit_get_job_error(q, lost, &error));
	cr_assert_eq(quoit_get_result(q, lost), -ECONNRESET);
	cr_assert_eq(quoit_wait_all(q, QUOIT_FOREVER), -ECONNRESET);
}

Test(managed, a_full_SQ_does_not_outlive_the_daemon)
{
	int err = 0;

	fake_kill(f);
	for (int i = 0; i < 9 && !err; i++)
		err = quoit_push(q, quoit_nop(0));
	cr_assert_eq(err, -ECONNRESET);
	cr_assert_eq(quoit_create_vector(q, QUOIT_F32, 1), QUOIT_NO_TENSOR);
}

Test(managed, a_CQ_tail_that_lies_ends_the_ring)
{
	quoit_job job;

	fake_hold_jobs(f, true);
	quoit_start(q, quoit_nop(0), &job);
	fake_lie_cq_tail(f);
	cr_assert_eq(quoit_wait(q, job, SOON), -EPROTO);
}

Test(managed, an_SQ_head_that_lies_ends_the_ring)
{
	int err = 0;

	fake_hold_fetch(f, true);
	fake_lie_sq_head(f);
	for (int i = 0; i < 9 && !err; i++)
		err = quoit_push(q, quoit_nop(0));
	cr_assert_eq(err, -EPROTO);
	fake_kill(f);
}

Test(managed, slots_are_claimed_ahead_also_after_a_wait_for_room)
{
	for (int i = 0; i < 50; i++)
		cr_assert_eq(quoit_push(q, quoit_nop(0)), 0);
	cr_expect_leq(q->claimed - q->sq.next, q->sq.entries, "%u, next %u", q->claimed,
		      q->sq.next);
}

Test(managed, waits_are_counted_under_their_place)
{
	const struct quoit_site *site = fake_sites(f);

	fake_hold_jobs(f, true);
	cr_assert_eq(quoit_wait_all_at(q, 5, "some/where/far.c:12"), -ETIME);
	cr_assert_eq(quoit_wait_all_at(q, 5, "some/where/far.c:12"), -ETIME);
	cr_assert_eq(quoit_wait_all_at(q, 5, NULL), -ETIME);
	cr_assert_str_eq(site[1].name, "far.c:12");
	cr_assert_eq(site[1].waits, 2);
	cr_assert_gt(site[1].longest, 0);
	cr_assert_geq(site[1].ticks, site[1].longest);
	cr_assert_eq(site[0].waits, 1);
	fake_hold_jobs(f, false);
}

/* ---- recorded ---- */

static unsigned count_events(unsigned kind)
{
	const struct quoit_ring_events *e = fake_events(f);
	unsigned n = 0;

	for (uint32_t i = 0; i < e->head && i < QUOIT_EVENTS; i++)
		n += e->event[i].kind == kind;
	return n;
}

/* The first event of that kind, from number `from` on. */
static const struct quoit_trace_event *find_event(unsigned kind, uint32_t from)
{
	const struct quoit_ring_events *e = fake_events(f);

	while (from < e->head && e->event[from].kind != kind)
		from++;
	cr_assert_lt(from, e->head);
	return &e->event[from];
}

/* The client learns of it when it publishes something. */
static void record(uint32_t allowance)
{
	fake_record(f, allowance);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
}

Test(managed, nothing_is_noted_while_nobody_records)
{
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	cr_expect_eq(fake_events(f)->head, 0);
	cr_expect_eq(fake_events(f)->dropped, 0);
}

Test(managed, submits_reaps_and_waits_are_noted_with_their_place)
{
	const struct quoit_trace_event *event;
	uint32_t begun;

	record(1);
	begun = fake_events(f)->head;
	fake_hold_jobs(f, true);
	cr_assert_eq(quoit_wait_all_at(q, 5, "some/where/far.c:12"), -ETIME);
	fake_hold_jobs(f, false);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	cr_expect_geq(count_events(QUOIT_EVENT_SUBMIT), 2);
	cr_expect_geq(count_events(QUOIT_EVENT_REAP), 1);
	cr_expect_geq(count_events(QUOIT_EVENT_WAIT), 1);
	cr_expect_eq(count_events(QUOIT_EVENT_WAIT), count_events(QUOIT_EVENT_GO));
	event = find_event(QUOIT_EVENT_WAIT, begun);
	cr_expect_str_eq(fake_sites(f)[event->site].name, "far.c:12");
	event = find_event(QUOIT_EVENT_SUBMIT, begun);
	cr_expect_eq(event->index, 2, "the second SQE of all");
	cr_expect_leq(event->tsc, find_event(QUOIT_EVENT_WAIT, begun)->tsc);
}

Test(managed, no_more_is_noted_than_is_allowed)
{
	const struct quoit_ring_events *e = fake_events(f);

	record(1);
	for (unsigned i = 0; i < QUOIT_EVENTS_ALLOWED; i++)
		cr_assert_eq(quoit_wait_all(q, SOON), 0);
	cr_expect_eq(e->head, QUOIT_EVENTS_ALLOWED);
	cr_expect_geq(e->dropped, QUOIT_EVENTS_ALLOWED);
	fake_record(f, 2);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	cr_expect_gt(e->head, QUOIT_EVENTS_ALLOWED);
}

static void *allow_later(void *arg)
{
	(void)arg;
	usleep(50000);
	fake_record(f, 2);
	return NULL;
}

Test(managed, what_may_not_be_noted_is_counted_and_notes_go_on_after_a_sleep)
{
	const struct quoit_ring_events *e = fake_events(f);
	uint32_t before, all;
	pthread_t thread;

	record(1);
	while (e->head < QUOIT_EVENTS_ALLOWED)
		cr_assert_eq(quoit_wait_all(q, SOON), 0);
	before = e->dropped;
	for (unsigned i = 0; i < 10; i++)
		cr_assert_eq(quoit_wait_all(q, SOON), 0);
	all = e->dropped - before;
	cr_expect_geq(all, 20, "a submit and a reap of each: %u", all);
	cr_expect_eq(e->head, QUOIT_EVENTS_ALLOWED);
	/* While the client sleeps it publishes nothing. */
	fake_hold_jobs(f, true);
	cr_assert_eq(pthread_create(&thread, NULL, allow_later, NULL), 0);
	cr_assert_eq(quoit_wait_all(q, 500), -ETIME);
	pthread_join(thread, NULL);
	cr_expect_eq(e->head, QUOIT_EVENTS_ALLOWED + 1);
	cr_expect_eq(e->event[QUOIT_EVENTS_ALLOWED].kind, QUOIT_EVENT_GO);
	fake_hold_jobs(f, false);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
}

/* ---- timed ---- */

/* How many words with notes of submits have changed since then. */
static unsigned count_notes(uint64_t since[QUOIT_NOTED])
{
	const uint64_t *now = fake_submitted(f);
	unsigned n = 0;

	for (unsigned i = 0; i < QUOIT_NOTED; i++) {
		n += now[i] != since[i];
		since[i] = now[i];
	}
	return n;
}

static void push_nops(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		cr_assert_eq(quoit_push(q, quoit_nop(0)), 0);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
}

Test(managed, samples_are_noted_as_rarely_as_the_daemon_says)
{
	uint64_t notes[QUOIT_NOTED] = {0};

	push_nops(2 * QUOIT_SAMPLE_EVERY);
	cr_expect_geq(count_notes(notes), 2, "one of each 64");
	fake_sample(f, quoit_sampling(5, 5));
	push_nops(1);
	(void)count_notes(notes);
	push_nops(16 * QUOIT_SAMPLE_EVERY);
	cr_expect_leq(count_notes(notes), 1, "one of each 2048");
	fake_sample(f, 0);
	push_nops(1);
	(void)count_notes(notes);
	push_nops(4 * QUOIT_SAMPLE_EVERY);
	cr_expect_geq(count_notes(notes), 3, "one of each 64 again");
}

Test(managed, stamps_are_kept_when_asked_for)
{
	struct quoit_ring_params params = {.flags = QUOIT_RING_STAMPS};
	struct quoit_stamps stamps;
	struct quoit_ring *r;
	quoit_job job;

	cr_assert_eq(quoit_open_ring(s, &params, &r), 0);
	fake_hold_jobs(f, true);
	quoit_start(r, quoit_nop(0), &job);
	cr_assert_not(quoit_get_job_stamps(r, job, &stamps), "it has not ended");
	fake_hold_jobs(f, false);
	cr_assert_eq(quoit_wait_all(r, SOON), 0);
	cr_assert(quoit_get_job_stamps(r, job, &stamps));
	cr_assert_eq(stamps.end, 4);
	quoit_start(q, quoit_nop(0), &job);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
	cr_assert_not(quoit_get_job_stamps(q, job, &stamps));
	cr_expect(strstr(quoit_error_text(q), "QUOIT_RING_STAMPS"));
}

/* ---- two threads on one ring ---- */

static void *wait_for_ever(void *arg)
{
	(void)!quoit_wait_all(arg, QUOIT_FOREVER);
	return NULL;
}

static bool sleeps(const struct quoit_ring *ring)
{
	return __atomic_load_n(&ring->mark, __ATOMIC_RELAXED);
}

Test(managed, a_ring_in_which_another_thread_sleeps_is_refused)
{
	struct quoit_sqe nop = quoit_nop(0);
	pthread_t thread;
	quoit_job job;

	fake_hold_jobs(f, true);
	cr_assert_eq(pthread_create(&thread, NULL, wait_for_ever, q), 0);
	while (!sleeps(q))
		usleep(1000);
	cr_assert_eq(quoit_push(q, nop), -EBUSY);
	cr_assert(strstr(quoit_error_text(q), "another thread"));
	cr_assert_eq(quoit_start(q, nop, &job), -EBUSY);
	cr_assert_eq(quoit_wait_all(q, SOON), -EBUSY);
	cr_assert_eq(quoit_wait(q, 1, SOON), -EBUSY);
	cr_assert_eq(quoit_flush(q), -EBUSY);
	cr_assert_eq(quoit_create_matrix(q, QUOIT_F32, 1, 1), QUOIT_NO_TENSOR);
	fake_hold_jobs(f, false);
	cr_assert_eq(pthread_join(thread, NULL), 0);
	cr_assert_eq(quoit_push(q, nop), 0, "it has come back");
	cr_assert_eq(quoit_wait_all(q, QUOIT_FOREVER), 0);
}

Test(managed, a_push_finds_another_that_has_not_ended)
{
	uint32_t index;

	cr_assert_eq(libquoit_queue_take(q, &index), 0);   /* one thread takes a slot, */
	cr_assert_eq(quoit_push(q, quoit_nop(0)), -EBUSY); /* and another one pushes */
}

Test(managed, a_thread_that_ended_in_its_sleep_holds_no_ring)
{
	pthread_t thread;

	fake_hold_jobs(f, true);
	cr_assert_eq(pthread_create(&thread, NULL, wait_for_ever, q), 0);
	while (!sleeps(q))
		usleep(1000);
	q->mark = 1u << 30; /* the id of a thread that never existed */
	cr_assert_eq(quoit_push(q, quoit_nop(0)), 0);
	fake_hold_jobs(f, false);
	cr_assert_eq(pthread_join(thread, NULL), 0);
}

Test(managed, raw_calls_are_refused)
{
	const struct quoit_cqe *cqe;

	cr_assert_null(quoit_get_sqe(q));
	cr_assert_eq(quoit_peek(q, &cqe), -EINVAL);
	cr_assert_eq(quoit_wait_cqe(q, 0), -EINVAL);
}

/* ---- raw rings ---- */

Test(raw, user_data_comes_back_in_order)
{
	const struct quoit_cqe *cqe;
	unsigned got = 0;

	for (uint64_t i = 0; i < 8; i++) {
		struct quoit_sqe *sqe = quoit_get_sqe(q);

		cr_assert_not_null(sqe);
		*sqe = quoit_nop(0);
		sqe->user_data = 100 + i;
	}
	while (got < 8) {
		int n;

		cr_assert_eq(quoit_wait_cqe(q, SOON), 0);
		n = quoit_peek(q, &cqe);
		cr_assert_gt(n, 0);
		for (int i = 0; i < n; i++)
			cr_assert_eq(quoit_get_cqe(q, (unsigned)i)->user_data, 100 + got++);
		quoit_release(q, (unsigned)n);
	}
	cr_assert_eq(quoit_peek(q, &cqe), 0);
}

Test(raw, a_full_ring_is_a_return_value)
{
	struct quoit_sqe *sqe;

	fake_hold_fetch(f, true);
	for (int i = 0; i < 8; i++) {
		sqe = quoit_get_sqe(q);
		cr_assert_not_null(sqe);
		*sqe = quoit_nop(0);
	}
	cr_assert_null(quoit_get_sqe(q));
	cr_assert_eq(quoit_push(q, quoit_nop(0)), -EAGAIN);
	fake_hold_fetch(f, false);
}

static struct quoit_sqe *put_nop(void)
{
	struct quoit_sqe *sqe = quoit_get_sqe(q);

	cr_assert_not_null(sqe);
	*sqe = quoit_nop(0);
	return sqe;
}

Test(raw, an_SQE_alone_is_carried_by_the_tail)
{
	struct quoit_sqe *sqe = put_nop(), carried = {0};
	struct quoit_consumer c = {.line = q->client->sq};

	sqe->user_data = 77;
	sqe->priority = QUOIT_PRIO_LOW;
	quoit_flush(q);
	cr_assert(quoit_ring_carried(&c, (uint64_t *)&carried, QUOIT_SQ_CARRIES));
	cr_expect_eq(memcmp(&carried, sqe, sizeof carried), 0);
	cr_expect_eq(q->client->sq_tail, 1);
	(void)put_nop();
	(void)put_nop(); /* of eight slots, two are published without being asked */
	quoit_flush(q);
	c.next = 2;
	cr_expect_eq(q->client->sq_tail, 3);
	cr_expect_not(quoit_ring_carried(&c, (uint64_t *)&carried, QUOIT_SQ_CARRIES));
}

/* The number of a kernel has 8 bits, which an error code must not be cut to. */
Test(managed, a_launch_of_what_is_no_kernel_is_refused)
{
	static const struct {
		int kernel;
		const char *text;
	} wrong[] = {{-ENOENT, "there is no kernel -2: registering it has failed"},
		     {INT_MIN, "there is no kernel -2147483648"},
		     {-256, "there is no kernel -256"},
		     {256, "there is no kernel 256: allowed are 0 to 255"},
		     {INT_MAX, "there is no kernel 2147483647: allowed are"}};
	struct quoit_sqe odd = quoit_nop(0);
	quoit_job job;

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		cr_expect_eq(quoit_push(q, quoit_launch(wrong[i].kernel, 1, 0, 0, 0)), -EINVAL);
		cr_expect(strstr(quoit_error_text(q), wrong[i].text), "%s", quoit_error_text(q));
		cr_expect_eq(quoit_start(q, quoit_launch(wrong[i].kernel, 1, 0, 0, 0), &job),
			     -EINVAL);
	}
	odd.reserved0 = 7;
	cr_expect_eq(quoit_push(q, odd), -EINVAL);
	cr_expect(strstr(quoit_error_text(q), "reserved0 of the SQE is 0x7"));
	for (int kernel = 0; kernel < 256; kernel++) {
		const struct quoit_sqe sqe = quoit_launch(kernel, 1, 0, 0, 0);

		cr_expect(sqe.arg == kernel && !sqe.reserved0);
	}
	cr_expect_eq(quoit_push(q, quoit_launch(255, 1, 0, 0, 0)), 0);
	cr_expect_eq(quoit_wait_all(q, QUOIT_FOREVER), 0);
	cr_expect_eq(fake_fetched(f), 2, "quoitd has seen no other job but the NOP of the wait");
	cr_expect(fake_sqe(f, 0).opcode == QUOIT_OP_LAUNCH && fake_sqe(f, 0).arg == 255);
}

/* So has the number of an operation, and an argument: cut to them, -1 would be QUOIT_AXIS_ALL. */
Test(managed, what_is_no_operation_or_no_argument_is_refused)
{
	const struct quoit_sqe sum = quoit_op4(QUOIT_OP_SUM, 1, 2, 0, 0);
	const struct {
		struct quoit_sqe sqe;
		const char *text;
	} wrong[] = {
		{quoit_op4(-ENOENT, 1, 0, 0, 0), "there is no operation -2: finding it has failed"},
		{quoit_op4(-256, 1, 0, 0, 0), "there is no operation -256"},
		{quoit_op4(INT_MIN, 1, 0, 0, 0), "there is no operation -2147483648"},
		{quoit_op4(QUOIT_OP_LAUNCH - 256, 1, 0, 0, 0), "there is no operation -192"},
		{quoit_op4(256, 1, 0, 0, 0), "there is no operation 256: allowed are 0 to 255"},
		{quoit_op_arg(quoit_op4(-ENOENT, 1, 0, 0, 0), 3, 0, 0), "there is no operation -2"},
		{quoit_op_arg(quoit_op4(-ENOENT, 1, 0, 0, 0), -1, 0, 0),
		 "there is no operation -2"},
		{quoit_op_arg(sum, -1, 0, 0), "the argument is -1: allowed are 0 to 255"},
		{quoit_op_int(sum, 256, 0, 0), "the argument is 256: allowed are 0 to 255"},
		{quoit_op_arg(quoit_op4(QUOIT_OP_LAUNCH, 1, 0, 0, 0), -ENOENT, 0, 0),
		 "there is no kernel -2: registering it has failed"},
	};
	quoit_job job;

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		cr_expect_eq(quoit_push(q, wrong[i].sqe), -EINVAL);
		cr_expect(strstr(quoit_error_text(q), wrong[i].text), "%zu: %s", i,
			  quoit_error_text(q));
		cr_expect_eq(quoit_start(q, wrong[i].sqe, &job), -EINVAL);
	}
	for (int n = 0; n < 256; n++) {
		const struct quoit_sqe sqe = quoit_op_arg(quoit_op4(n, 1, 0, 0, 0), n, 0, 0);

		cr_expect(sqe.opcode == n && sqe.arg == n && !sqe.reserved0);
	}
	cr_expect_eq(fake_fetched(f), 0, "quoitd has seen no job");
}

Test(raw, a_launch_of_what_is_no_kernel_keeps_its_mark)
{
	struct quoit_sqe *sqe = quoit_get_sqe(q);

	*sqe = quoit_launch(-ENOENT, 1, 0, 0, 0);
	cr_expect_eq(sqe->reserved0, (uint32_t)-ENOENT, "quoitd refuses it");
	cr_expect_eq(quoit_push(q, quoit_launch(-ENOENT, 1, 0, 0, 0)), -EINVAL);
}

Test(raw, an_SQE_with_a_reserved_word_is_not_carried)
{
	struct quoit_sqe carried;
	struct quoit_consumer c = {.line = q->client->sq};

	put_nop()->reserved0 = 1; /* quoitd must find that in the slot, and refuse it */
	quoit_flush(q);
	cr_expect_eq(q->client->sq_tail, 1);
	cr_expect_not(quoit_ring_carried(&c, (uint64_t *)&carried, QUOIT_SQ_CARRIES));
}

/* The slot's line stays with quoitd, and has nothing valid here. */
Test(raw, a_CQE_alone_is_taken_from_the_tail)
{
	const struct quoit_cqe *cqe;

	fake_spoil_cqes(f);
	for (uint64_t i = 0; i < 20; i++) {
		struct quoit_sqe *sqe = put_nop();

		sqe->user_data = i;
		quoit_flush(q);
		while (!quoit_peek(q, &cqe))
			;
		cr_assert_eq(quoit_peek(q, &cqe), 1, "again, as long as it is not released");
		cr_expect_eq(cqe->user_data, i);
		cr_expect_eq(cqe->res, 0);
		cr_expect_eq(cqe->flags, 0);
		cr_expect_eq(cqe, quoit_get_cqe(q, 0));
		quoit_release(q, 1);
	}
}

Test(raw, a_full_ring_of_a_dead_daemon_is_no_reason_to_try_again)
{
	int err = 0;

	fake_hold_fetch(f, true);
	while (!err)
		err = quoit_push(q, quoit_nop(0));
	cr_assert_eq(err, -EAGAIN);
	fake_kill(f);
	for (int ms = 0; ms < SOON && err == -EAGAIN; ms++) {
		usleep(1000);
		err = quoit_push(q, quoit_nop(0));
	}
	cr_expect_eq(err, -ECONNRESET);
}

Test(raw, none_of_its_slots_are_none)
{
	struct quoit_sqe *sqe;

	cr_expect_eq(quoit_get_sqes(q, 0, &sqe), 0);
	cr_expect_null(sqe);
	cr_expect(strstr(quoit_error_text(q), "0 slots"));
}

Test(raw, a_push_keeps_its_user_data)
{
	struct quoit_sqe sqe = quoit_exp(1, 2);
	const struct quoit_cqe *cqe;
	char text[200];

	sqe.user_data = 77;
	fake_fail(f, QUOIT_OP_EXP, EDOM);
	cr_assert_eq(quoit_push(q, sqe), 0);
	cr_assert_eq(quoit_wait_cqe(q, SOON), 0);
	cr_assert_eq(quoit_peek(q, &cqe), 1);
	cr_assert_eq(cqe->user_data, 77);
	quoit_strerror_cqe(cqe, quoit_get_error(q, 0), text, sizeof text);
	cr_assert_str_eq(text, "exp (job 0x4d) failed with EDOM");
	cr_assert_null(quoit_get_stamps(q, 0));
}

Test(raw, waiting_ends_with_the_time_or_the_daemon)
{
	const struct quoit_cqe *cqe;

	cr_assert_eq(quoit_wait_cqe(q, 0), -ETIME);
	cr_assert_eq(quoit_wait_cqe(q, 60), -ETIME);
	fake_kill(f);
	cr_assert_eq(quoit_wait_cqe(q, QUOIT_FOREVER), -ECONNRESET);
	cr_assert_eq(quoit_peek(q, &cqe), -ECONNRESET);
}

Test(raw, asking_for_ever_notices_the_end)
{
	const struct quoit_cqe *cqe;
	int n;

	fake_kill(f);
	do
		n = quoit_peek(q, &cqe);
	while (n == 0);
	cr_assert_eq(n, -ECONNRESET);
}

Test(raw, managed_calls_are_refused)
{
	quoit_job job = 0;

	cr_assert_eq(quoit_start(q, quoit_nop(0), &job), -EINVAL);
	cr_assert_eq(quoit_wait(q, job, 0), -EINVAL);
	cr_assert_eq(quoit_wait_all(q, 0), -EINVAL);
	cr_assert_eq(quoit_window(q, 0, 0), -EINVAL);
	cr_assert_eq(quoit_get_result(q, job), -EINVAL);
	cr_assert_eq(quoit_cancel(q, job), -EINVAL);
}

/* ---- words ---- */

struct sentence {
	struct quoit_cqe cqe;
	struct quoit_error error;
	char text[200];
};

#define FAILED(code, OP, FIELD, found, allowed, text)                                              \
	{                                                                                          \
		{9, code, QUOIT_CQE_ERROR}, {9, 9, {found, allowed}, code,                         \
					     0, 0, QUOIT_OP_##OP,    QUOIT_FIELD_##FIELD,          \
					     0},                                                   \
			text                                                                       \
	}

ParameterizedTestParameters(strerror, a_failure_says_what_was_wrong_and_with_what)
{
	static struct sentence cases[] = {
		{{1, 0, 0}, {0}, "success"},
		{{1, -EIO, 0}, {0}, "job 0x1 failed with EIO"},
		{{1, -EINVAL, QUOIT_CQE_ERROR},
		 {1,
		  1,
		  {3, 4 | UINT64_C(5) << 32},
		  -EINVAL,
		  0,
		  0,
		  QUOIT_OP_GEMM,
		  QUOIT_FIELD_TENSOR1,
		  0},
		 "gemm (job 0x1) failed with EINVAL: dim 3 of tensor 1 is 4, allowed is 5"},
		{{2, -ENOMEM, QUOIT_CQE_ERROR},
		 {2, 2, {4096, 1024}, -ENOMEM, 0, 0, QUOIT_OP_FILL, QUOIT_FIELD_MEMORY, 0},
		 "fill (job 0x2) failed with ENOMEM: needs 4096 bytes, 1024 of the lease are left"},
		{{3, -QUOIT_EPOISON, QUOIT_CQE_ERROR},
		 {3, 2, {0, 0}, -ENOMEM, 0, 0, QUOIT_OP_FILL, QUOIT_FIELD_NONE, 5},
		 "job 0x3 reads the output of fill (job 0x2 of ring 5), which failed with "
		 "ENOMEM"},
		{{4, -EINVAL, QUOIT_CQE_ERROR},
		 {4, 4, {0, 0}, -EINVAL, 0, 0, 200, 99, 0},
		 "module operation (job 0x4) failed with EINVAL"},
		FAILED(-EINVAL, TRANSPOSE, ARG, 7, 3,
		       "transpose (job 0x9) failed with EINVAL: arg is 7, allowed is 3"),
		/* tensors that do not fit */
		FAILED(-EINVAL, ADD, TENSOR1, QUOIT_MISFIT_TYPE + QUOIT_I32,
		       QUOIT_MISFIT_TYPE + QUOIT_F64,
		       "add (job 0x9) failed with EINVAL: tensor 1 is int32, allowed is float64"),
		FAILED(-ENOTSUP, EXP, TENSOR0, QUOIT_MISFIT_TYPE + QUOIT_F16, 3,
		       "exp (job 0x9) failed with EOPNOTSUPP: tensor 0 is float16, which this "
		       "operation does not support"),
		FAILED(-EINVAL, ADD, TENSOR2, QUOIT_MISFIT_OVERLAP + 0, 0,
		       "add (job 0x9) failed with EINVAL: tensor 2 overlaps tensor 0, which is "
		       "written"),
		FAILED(-EINVAL, EXP, TENSOR3, QUOIT_MISFIT_UNUSED, 0,
		       "exp (job 0x9) failed with EINVAL: this operation takes no tensor 3"),
		FAILED(-EINVAL, ADD, TENSOR2, QUOIT_MISFIT_ABSENT, 0,
		       "add (job 0x9) failed with EINVAL: tensor 2 is missing"),
		FAILED(-ENOTSUP, FILE_READ, TENSOR0, QUOIT_MISFIT_PLACE + 2, 0,
		       "file_read (job 0x9) failed with EOPNOTSUPP: tensor 0 is on device 2, but "
		       "this operation runs on the host only"),
		FAILED(-ENOTSUP, COPY, TENSOR1, QUOIT_MISFIT_SIZE, 8,
		       "copy (job 0x9) failed with EOPNOTSUPP: tensor 1 has 8 elements, but a copy "
		       "between host and device needs equal counts"),
		FAILED(-EBADF, EXP, TENSOR1, 0, 16384,
		       "exp (job 0x9) failed with EBADF: tensor 1 is missing"),
		FAILED(-EBADF, EXP, TENSOR1, 0x100007, 16384,
		       "exp (job 0x9) failed with EBADF: tensor 1 has handle 0x100007, which names "
		       "no tensor, or one of another ring that quoitd does not know yet "
		       "(quoit_with_event)"),
		FAILED(-EINVAL, ADD, TENSOR2, QUOIT_MISFIT_DIM_OR_1 + 2, 7 | UINT64_C(5) << 32,
		       "add (job 0x9) failed with EINVAL: dim 2 of tensor 2 is 7, allowed is 5 or "
		       "1"),
		FAILED(-EINVAL, ADD, TENSOR1, QUOIT_MISFIT_DIM_OR_1 + 3, 7 | UINT64_C(1) << 32,
		       "add (job 0x9) failed with EINVAL: dim 3 of tensor 1 is 7, allowed is 1"),
		FAILED(-EINVAL, FILL, SCALAR_KIND, 0, QUOIT_I32,
		       "fill (job 0x9) failed with EINVAL: its scalar is a double, but its tensors "
		       "are int32: use a builder that ends in _int"),
		FAILED(-EINVAL, ADD, SCALAR_KIND, 1, QUOIT_BF16,
		       "add (job 0x9) failed with EINVAL: its scalar is an integer, but its tensors "
		       "are bfloat16: use a builder for doubles"),
		FAILED(-ENOTSUP, COPY, STRIDE, 1, 0,
		       "copy (job 0x9) failed with EOPNOTSUPP: tensor 1 is not dense"),
		FAILED(-EINVAL, FILE_READ, STRIDE, 0, 0,
		       "file_read (job 0x9) failed with EINVAL: tensor 0 is not dense"),
		FAILED(-EINVAL, EXP, STRIDE, 0, 0,
		       "exp (job 0x9) failed with EINVAL: elements of tensor 0, which is written, "
		       "overlap"),
		FAILED(-EINVAL, CREATE, STRIDE, 5, 3,
		       "create (job 0x9) failed with EINVAL: stride is 5, allowed is 3"),
		FAILED(-ERANGE, GATHER, NONE, (uint64_t)-3, 10,
		       "gather (job 0x9) failed with ERANGE: an index is -3, but the axis has "
		       "only 10 elements"),
		FAILED(-E2BIG, GEMM, DIM, UINT64_C(9000000000), UINT64_C(7500000000),
		       "gemm (job 0x9) failed with E2BIG: it may take 9 s on its device, allowed is 7.5 s"),
		FAILED(-E2BIG, FILE_READ, DIM, 3000000000, 2147479551,
		       "file_read (job 0x9) failed with E2BIG: it moves 3000000000 bytes, at most "
		       "2147479551 are allowed at once"),
		/* failures on devices */
		FAILED(-QUOIT_EGPUFAULT, EXP, DEVICE, 2, QUOIT_FAULT_OWN,
		       "exp (job 0x9) failed with QUOIT_EGPUFAULT: device 2 has faulted or its "
		       "process ended, caused by this job"),
		FAILED(-QUOIT_EGPUFAULT, EXP, DEVICE, 1, QUOIT_FAULT_OTHER,
		       "exp (job 0x9) failed with QUOIT_EGPUFAULT: device 1 has faulted or its "
		       "process ended, caused by another job"),
		FAILED(-QUOIT_EGPUFAULT, EXP, DEVICE, 1, QUOIT_FAULT_UNKNOWN,
		       "exp (job 0x9) failed with QUOIT_EGPUFAULT: device 1 has faulted or its "
		       "process ended, and the cause is not known"),
		FAILED(-QUOIT_EDEVLOST, EXP, DEVICE, 1, QUOIT_FAULT_UNKNOWN,
		       "exp (job 0x9) failed with QUOIT_EDEVLOST: device 1 has gone"),
		FAILED(-ENODEV, EXP, EXECUTOR, 0, 3,
		       "exp (job 0x9) failed with ENODEV: device 3 is lost (quoit_query_device says why)"),
		FAILED(-ENODEV, NOP, EXECUTOR, 0, 0,
		       "nop (job 0x9) failed with ENODEV: its module is lost (quoit topo says why)"),
		FAILED(-ENODEV, CREATE, DEVICE, 3, 1,
		       "create (job 0x9) failed with ENODEV: device is 3, allowed is 1"),
		FAILED(-EXDEV, EXP, TENSOR1, 0, 2,
		       "exp (job 0x9) failed with EXDEV: tensor 1 is on the host, not on device 2"),
		FAILED(-ENOMEM, EXP, MEMORY, 4096, 0,
		       "exp (job 0x9) failed with ENOMEM: 4096 bytes could not be allocated"),
		FAILED(-ENOTSUP, GEMM, OPCODE, QUOIT_OP_GEMM, 0,
		       "gemm (job 0x9) failed with EOPNOTSUPP: it is switched off, or not "
		       "available for these tensors where they are"),
		FAILED(-EINVAL, SUM, ARG, 4, 3,
		       "sum (job 0x9) failed with EINVAL: axis 4 does not exist: allowed are 0 to "
		       "3, or -4 to -1 from the last"),
		FAILED(-EINVAL, ROLL, ARG, QUOIT_AXIS_NONE, 3,
		       "roll (job 0x9) failed with EINVAL: the axis does not exist: allowed are 0 "
		       "to 3, or -4 to -1 from the last"),
		FAILED(-EINVAL, LAUNCH, ARG, 77, 0,
		       "launch (job 0x9) failed with EINVAL: there is no kernel 77"),
		FAILED(-EINVAL, LAUNCH, RESERVED, (uint32_t)-2, 0,
		       "launch (job 0x9) failed with EINVAL: there is no kernel -2"),
		FAILED(-EINVAL, FREE, RESERVED, (uint32_t)(QUOIT_OP_FREE - 256), 0,
		       "free (job 0x9) failed with EINVAL: there is no operation -253"),
		FAILED(-ENOENT, LAUNCH, ARG, 3, 0,
		       "launch (job 0x9) failed with ENOENT: kernel 3 is not available on its "
		       "device"),
		FAILED(-ETIME, EXP, DEADLINE, 30000, 0,
		       "exp (job 0x9) failed with ETIME: it had run for 30000 ms and was ended"),
		FAILED(-ETIME, EXP, DEADLINE, 0, QUOIT_MISSED(20000, 0),
		       "exp (job 0x9) failed with ETIME: its deadline of 20 ms passed before it "
		       "began"),
		FAILED(-ETIME, LAUNCH, DEADLINE, 0, QUOIT_MISSED(999, 1500000),
		       "launch (job 0x9) failed with ETIME: its deadline of 999 us passed; its "
		       "module or device had had it for 1.5 s by then"),
		FAILED(-EINVAL, ADD, FLAGS, QUOIT_SQE_LINK | QUOIT_SQE_EVENT,
		       QUOIT_SQE_FLAGS & ~QUOIT_SQE_EVENT,
		       "add (job 0x9) failed with EINVAL: it has an event and a link "
		       "(QUOIT_SQE_EVENT, QUOIT_SQE_LINK): a job waits for one of the two"),
		FAILED(-EINVAL, ADD, FLAGS, QUOIT_SQE_AFTER_ALL,
		       QUOIT_SQE_FLAGS & ~QUOIT_SQE_AFTER_ALL,
		       "add (job 0x9) failed with EINVAL: it cannot have the flag "
		       "QUOIT_SQE_AFTER_ALL"),
		FAILED(-EINVAL, ADD, FLAGS, 0x41, QUOIT_SQE_FLAGS,
		       "add (job 0x9) failed with EINVAL: flags is 0x41, and 0x40 is unknown"),
		FAILED(-EDOM, CALL, SCALAR0, 41, 42,
		       "function 0 of team 0 (job 0x9) failed with EDOM: scalar 0 is 41, allowed is "
		       "42"),
		FAILED(-EIO, EXP, NONE, 0, 0, "exp (job 0x9) failed with EIO"),
		{{9, -QUOIT_EPOISON, QUOIT_CQE_ERROR},
		 {9, 0, {1, 0}, -QUOIT_EDEVLOST, 0, 0, QUOIT_OP_NOP, QUOIT_FIELD_DEVICE, 0},
		 "job 0x9 reads a tensor that was lost on device 1: QUOIT_EDEVLOST"},
		{{9, -QUOIT_EPOISON, QUOIT_CQE_ERROR},
		 {9, 2, {1, 1}, -QUOIT_EGPUFAULT, 0, 0, QUOIT_OP_FILL, QUOIT_FIELD_DEVICE, 1},
		 "job 0x9 reads the output of fill (job 0x2 of ring 1), which failed with "
		 "QUOIT_EGPUFAULT: device 1 has faulted or its process ended, caused by this job"},
	};

	return cr_make_param_array(struct sentence, cases, sizeof cases / sizeof *cases);
}

ParameterizedTest(struct sentence *c, strerror, a_failure_says_what_was_wrong_and_with_what)
{
	char text[240];

	quoit_strerror_cqe(&c->cqe, &c->error, text, sizeof text);
	cr_assert_str_eq(text, c->text);
	quoit_strerror_cqe(&c->cqe, &c->error, text, 5);
	cr_assert_eq(strlen(text), 4, "cut to the buffer");
	if (c->cqe.flags & QUOIT_CQE_ERROR)
		cr_assert_str_eq(quoit_strerror_record(&c->error, text, sizeof text), c->text);
}

Test(strerror, errors_have_names_with_and_without_sign)
{
	cr_assert_str_eq(quoit_strerror(-ENOENT), "ENOENT");
	cr_assert_str_eq(quoit_strerror(ENOENT), "ENOENT");
	cr_assert_str_eq(quoit_strerror(-QUOIT_EPOISON), "QUOIT_EPOISON");
	cr_assert_str_eq(quoit_strerror(QUOIT_EEXEC), "QUOIT_EEXEC");
	cr_assert_str_eq(quoit_strerror(99999), "unknown error");
}

/* ---- symbols for programs in other languages ---- */

#undef quoit_wait
#undef quoit_wait_n
#undef quoit_wait_any
#undef quoit_wait_all_of
#undef quoit_wait_tensor
#undef quoit_wait_all
#undef quoit_window

Test(managed, the_functions_behind_the_macros_wait_as_well)
{
	quoit_tensor t = quoit_create_vector(q, QUOIT_F32, 4);
	quoit_job job[2];

	cr_assert_eq(quoit_start(q, quoit_fill(t, 1), &job[0]), 0);
	cr_assert_eq(quoit_start(q, quoit_exp(t, t), &job[1]), 0);
	cr_assert_geq(quoit_wait_any(q, job, 2, SOON), 1);
	cr_assert_geq(quoit_wait_any_at(q, job, 2, SOON, NULL), 1);
	cr_assert_eq(quoit_wait_all_of_at(q, job, 2, SOON, NULL), 2);
	cr_assert_eq(quoit_wait_n(q, job, 2, 2, SOON), 2);
	cr_assert_eq(quoit_wait_all_of(q, job, 2, SOON), 2);
	cr_assert_eq(quoit_wait(q, job[0], SOON), 0);
	cr_assert_eq(quoit_wait(q, job[0], SOON), -EINVAL);
	cr_assert_eq(quoit_wait_tensor(q, t, SOON), 0);
	cr_assert_eq(quoit_window(q, 0, SOON), 0);
	cr_assert_eq(quoit_wait_all(q, SOON), 0);
}

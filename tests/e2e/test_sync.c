/* SPDX-License-Identifier: MIT */
/* test_sync.c - locks, flags, semaphores and barriers between sessions and processes */
#include <errno.h>
#include <string.h>

#include "parties.h"

/* ---- locks ---- */

Test(sync, lock_is_one_session_s_at_a_time_in_the_order_of_asking)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);
	quoit_job first, second;

	cr_expect_eq(quoit_run(t.a.q, quoit_lock(t.a.number, 0), SOON_MS), 0);
	first = party_start(&t.b, quoit_lock(t.b.number, 0));
	party_waits(&t.b, first);
	second = party_start(&t.a, quoit_lock(t.a.number, 0));
	party_waits(&t.a, second);
	cr_expect_eq(quoit_run(t.a.q, quoit_unlock(t.a.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_wait(t.b.q, first, SOON_MS), 0);
	party_waits(&t.a, second);
	cr_expect_eq(quoit_run(t.b.q, quoit_unlock(t.b.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_wait(t.a.q, second, SOON_MS), 0);
	parties_end(&t);
}

Test(sync, recursive_lock_is_given_back_when_it_was_unlocked_as_often)
{
	const struct quoit_sync_params p = {.flags = QUOIT_SYNC_RECURSIVE};
	struct parties t = parties_begin_with(quoit_open_lock, &p);
	quoit_job other;

	cr_expect_eq(quoit_run(t.a.q, quoit_lock(t.a.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.a.q, quoit_lock(t.a.number, 0), SOON_MS), 0);
	other = party_start(&t.b, quoit_lock(t.b.number, 0));
	cr_expect_eq(quoit_run(t.a.q, quoit_unlock(t.a.number, 0), SOON_MS), 0);
	party_waits(&t.b, other);
	cr_expect_eq(quoit_run(t.a.q, quoit_unlock(t.a.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_wait(t.b.q, other, SOON_MS), 0);
	parties_end(&t);
}

Test(sync, lock_is_unlocked_by_who_has_it)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);

	cr_expect_eq(quoit_run(t.a.q, quoit_unlock(t.a.number, 0), SOON_MS), -EPERM);
	cr_expect_eq(quoit_run(t.a.q, quoit_lock(t.a.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_unlock(t.b.number, 0), SOON_MS), -EPERM);
	parties_end(&t);
}

Test(sync, who_gives_up_waiting_does_not_get_the_lock)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);

	cr_expect_eq(quoit_run(t.a.q, quoit_lock(t.a.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_lock(t.b.number, 0), SHORT_MS), -ETIME);
	cr_expect_eq(
		quoit_run(t.b.q, quoit_with_deadline(quoit_lock(t.b.number, 0), 20000), SOON_MS),
		-ETIME);
	cr_expect_eq(quoit_run(t.a.q, quoit_unlock(t.a.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.a.q, quoit_lock(t.a.number, 0), SOON_MS), 0);
	parties_end(&t);
}

Test(sync, jobs_between_lock_and_unlock_run_under_it)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);
	quoit_tensor x = quoit_create_vector(t.b.q, QUOIT_F32, 1);
	float value = 0;

	cr_expect_eq(quoit_run(t.a.q, quoit_lock(t.a.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_push(t.b.q, quoit_fill(x, 1)), 0);
	cr_expect_eq(quoit_push(t.b.q, quoit_lock(t.b.number, x)), 0);
	cr_expect_eq(quoit_push(t.b.q, quoit_add_scalar(x, x, 1)), 0);
	cr_expect_eq(quoit_push(t.b.q, quoit_unlock(t.b.number, x)), 0);
	cr_expect_eq(quoit_wait_tensor(t.b.q, x, SHORT_MS), -ETIME);
	cr_expect_eq(quoit_run(t.a.q, quoit_unlock(t.a.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_read(t.b.q, x, &value, sizeof value), 0);
	cr_expect_eq(value, 2);
	parties_end(&t);
}

Test(sync, unlock_is_done_though_a_job_under_the_lock_has_failed)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);
	quoit_tensor x = quoit_create_vector(t.a.q, QUOIT_F32, 1);
	quoit_job work, unlock;

	cr_expect_eq(quoit_run(t.a.q, quoit_lock(t.a.number, x), SOON_MS), 0);
	party_poison(&t.a, x);
	work = party_start(&t.a, quoit_add_scalar(x, x, 1));
	unlock = party_start(&t.a, quoit_unlock(t.a.number, x));
	cr_expect_eq(quoit_wait(t.a.q, work, SOON_MS), -QUOIT_EPOISON);
	cr_expect_eq(quoit_wait(t.a.q, unlock, SOON_MS), 0);
	cr_expect_eq(quoit_wait_tensor(t.a.q, x, SOON_MS), -QUOIT_EPOISON);
	cr_expect_eq(quoit_run(t.b.q, quoit_lock(t.b.number, 0), SOON_MS), 0);
	parties_end(&t);
}

Test(sync, unlock_of_a_lock_that_failed_unlocks_nothing_else)
{
	const struct quoit_sync_params recursive = {.flags = QUOIT_SYNC_RECURSIVE};
	struct parties t = parties_begin_with(quoit_open_lock, &recursive);
	quoit_tensor x = quoit_create_vector(t.a.q, QUOIT_F32, 1);
	quoit_job lock, unlock;

	cr_expect_eq(quoit_run(t.a.q, quoit_lock(t.a.number, 0), SOON_MS), 0);
	party_poison(&t.a, x);
	lock = party_start(&t.a, quoit_lock(t.a.number, x));
	unlock = party_start(&t.a, quoit_unlock(t.a.number, x));
	cr_expect_eq(quoit_wait(t.a.q, lock, SOON_MS), -QUOIT_EPOISON);
	cr_expect_eq(quoit_wait(t.a.q, unlock, SOON_MS), -QUOIT_EPOISON);
	cr_expect_eq(quoit_run(t.b.q, quoit_lock(t.b.number, 0), SHORT_MS), -ETIME);
	cr_expect_eq(quoit_push(t.a.q, quoit_fill(x, 0)), 0);
	cr_expect_eq(quoit_run(t.a.q, quoit_unlock(t.a.number, x), SOON_MS), -EPERM);
	cr_expect_eq(quoit_run(t.a.q, quoit_unlock(t.a.number, 0), SOON_MS), 0);
	parties_end(&t);
}

Test(sync, lock_that_is_late_poisons_what_was_to_run_under_it)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);
	quoit_tensor x = quoit_create_vector(t.a.q, QUOIT_F32, 1);
	quoit_job work;

	cr_expect_eq(quoit_run(t.b.q, quoit_lock(t.b.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_push(t.a.q, quoit_fill(x, 0)), 0);
	cr_expect_eq(quoit_push(t.a.q, quoit_with_deadline(quoit_lock(t.a.number, x), 20000)), 0);
	work = party_start(&t.a, quoit_add_scalar(x, x, 1));
	cr_expect_eq(quoit_wait(t.a.q, work, SOON_MS), -QUOIT_EPOISON);
	cr_expect_eq(quoit_run(t.a.q, quoit_unlock(t.a.number, x), SOON_MS), -QUOIT_EPOISON);
	parties_end(&t);
}

Test(sync, what_waits_can_be_cancelled_and_what_has_happened_cannot)
{
	struct parties t = parties_begin();
	int a = party_number(quoit_open_flag(t.a.s, "f", NULL));
	quoit_job waits = party_start(&t.a, quoit_wait_flag(a, 0)), set;

	party_waits(&t.a, waits);
	cr_expect_eq(quoit_cancel(t.a.q, waits), 0);
	cr_expect_eq(quoit_wait(t.a.q, waits, SOON_MS), -ECANCELED);
	set = party_start(&t.a, quoit_set_flag(a, 0));
	cr_expect_eq(quoit_wait_any(t.a.q, &set, 1, SOON_MS), 1);
	cr_expect_eq(quoit_cancel(t.a.q, set), -EALREADY);
	parties_end(&t);
}

/* Each would be done within the one before, if the home answered its own reactor at once. */
Test(sync, thousands_of_jobs_that_wait_behind_others_go_on_at_once)
{
	enum { JOBS = 30000 };

	const struct quoit_ring_params large = {.entries = 32768};
	struct parties t = parties_begin_with(quoit_open_flag, NULL);
	struct quoit_ring *q = NULL;

	cr_assert_eq(quoit_open_ring(t.a.s, &large, &q), 0, "%s", quoit_open_text());
	for (int i = 0; i < JOBS; i++)
		cr_assert_eq(quoit_push(q, quoit_wait_flag(t.a.number, 0)), 0);
	cr_expect_eq(quoit_flush(q), 0);
	cr_expect_eq(quoit_wait_all(q, SHORT_MS), -ETIME);
	cr_expect_eq(quoit_run(t.b.q, quoit_set_flag(t.b.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_wait_all(q, SOON_MS), 0);
	parties_end(&t);
}

/* ---- processes that die ---- */

static int lock_it(struct party *p, int none)
{
	(void)none;
	return quoit_run(p->q, quoit_lock(quoit_open_lock(p->s, PARTIES_NAME, NULL), 0), SOON_MS);
}

Test(sync, next_holder_is_told_that_the_one_before_died)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);
	pid_t pid = party_fork(&t.f.d, 0, lock_it, 0);
	quoit_job next = party_start(&t.a, quoit_lock(t.a.number, 0));

	party_waits(&t.a, next);
	party_kill(pid);
	cr_expect_eq(quoit_wait(t.a.q, next, SOON_MS), QUOIT_OWNER_DIED);
	cr_expect_eq(quoit_run(t.a.q, quoit_unlock(t.a.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_lock(t.b.number, 0), SOON_MS), 0);
	parties_end(&t);
}

static int open_semaphore(struct quoit_session *s)
{
	const struct quoit_sync_params p = {.value = 3, .flags = QUOIT_SYNC_UNDO};

	return quoit_open_semaphore(s, PARTIES_NAME, &p);
}

static int take_two(struct party *p, int none)
{
	(void)none;
	return quoit_run(p->q, quoit_take(open_semaphore(p->s), 2, 0), SOON_MS);
}

Test(sync, what_a_dead_session_had_taken_goes_back_where_it_is_undone)
{
	struct parties t = parties_begin();
	int a = party_number(open_semaphore(t.a.s));
	pid_t pid = party_fork(&t.f.d, 0, take_two, 0);
	quoit_job all = party_start(&t.a, quoit_take(a, 3, 0));

	party_waits(&t.a, all);
	party_kill(pid);
	cr_expect_eq(quoit_wait(t.a.q, all, SOON_MS), 0);
	parties_end(&t);
}

static int open_barrier(struct quoit_session *s)
{
	const struct quoit_sync_params p = {.value = 3};

	return quoit_open_barrier(s, PARTIES_NAME, &p);
}

static int come_and_not_arrive(struct party *p, int none)
{
	(void)none;
	return open_barrier(p->s);
}

Test(sync, those_at_a_barrier_are_told_that_a_party_died)
{
	struct parties t = parties_begin();
	int a = party_number(open_barrier(t.a.s));
	pid_t pid = party_fork(&t.f.d, 0, come_and_not_arrive, 0);
	quoit_job waits = party_start(&t.a, quoit_arrive(a, 0));

	party_waits(&t.a, waits);
	party_kill(pid);
	cr_expect_eq(quoit_wait(t.a.q, waits, SOON_MS), -EOWNERDEAD);
	parties_end(&t);
}

/* ---- conditions ---- */

Test(sync, condition_gives_the_lock_up_and_gets_it_again)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);
	quoit_job waits;

	cr_expect_eq(quoit_run(t.a.q, quoit_wait_condition(t.a.number, 3, 0), SOON_MS), -EPERM);
	cr_expect_eq(quoit_run(t.a.q, quoit_lock(t.a.number, 0), SOON_MS), 0);
	waits = party_start(&t.a, quoit_wait_condition(t.a.number, 3, 0));
	cr_expect_eq(quoit_run(t.b.q, quoit_lock(t.b.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_notify(t.b.number, 2, 1, 0), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_notify(t.b.number, 3, 1, 0), SOON_MS), 0);
	party_waits(&t.a, waits);
	cr_expect_eq(quoit_run(t.b.q, quoit_unlock(t.b.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_wait(t.a.q, waits, SOON_MS), 0);
	cr_expect_eq(quoit_run(t.a.q, quoit_unlock(t.a.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.a.q, quoit_lock(t.a.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.a.q, quoit_wait_condition(t.a.number, 8, 0), SOON_MS), -EINVAL);
	parties_end(&t);
}

/* ---- flags ---- */

Test(sync, all_who_wait_for_a_flag_go_on_when_it_is_set)
{
	struct parties t = parties_begin_with(quoit_open_flag, NULL);
	quoit_job one = party_start(&t.a, quoit_wait_flag(t.a.number, 0)),
		  two = party_start(&t.a, quoit_wait_flag(t.a.number, 0));

	party_waits(&t.a, one);
	cr_expect_eq(quoit_run(t.b.q, quoit_set_flag(t.b.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_wait(t.a.q, one, SOON_MS), 0);
	cr_expect_eq(quoit_wait(t.a.q, two, SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_wait_flag(t.b.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_clear_flag(t.b.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.a.q, quoit_wait_flag(t.a.number, 0), SHORT_MS), -ETIME);
	parties_end(&t);
}

/* ---- semaphores ---- */

Test(sync, semaphore_gives_in_the_order_of_asking)
{
	const struct quoit_sync_params p = {.value = 2, .most = 4};
	struct parties t = parties_begin_with(quoit_open_semaphore, &p);
	quoit_job large, small;

	cr_expect_eq(quoit_run(t.a.q, quoit_take(t.a.number, 1, 0), SOON_MS), 0);
	large = party_start(&t.a, quoit_take(t.a.number, 2, 0));
	party_waits(&t.a, large);
	small = party_start(&t.b, quoit_take(t.b.number, 1, 0));
	party_waits(&t.b, small);
	cr_expect_eq(quoit_run(t.b.q, quoit_give(t.b.number, 1, 0), SOON_MS), 0);
	cr_expect_eq(quoit_wait(t.a.q, large, SOON_MS), 0);
	party_waits(&t.b, small);
	cr_expect_eq(quoit_run(t.b.q, quoit_give(t.b.number, 4, 0), SOON_MS), 0);
	cr_expect_eq(quoit_wait(t.b.q, small, SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_give(t.b.number, 2, 0), SOON_MS), -EOVERFLOW);
	cr_expect_eq(quoit_run(t.b.q, quoit_take(t.b.number, 5, 0), SOON_MS), -EINVAL);
	parties_end(&t);
}

/* ---- barriers ---- */

Test(sync, barrier_opens_when_all_have_come_and_says_in_which_order)
{
	const struct quoit_sync_params p = {.value = 2};
	struct parties t = parties_begin_with(quoit_open_barrier, &p);

	for (int round = 0; round < 3; round++) {
		quoit_job first = party_start(&t.a, quoit_arrive(t.a.number, 0));

		party_waits(&t.a, first);
		cr_expect_eq(quoit_run(t.b.q, quoit_arrive(t.b.number, 0), SOON_MS), 1);
		cr_expect_eq(quoit_wait(t.a.q, first, SOON_MS), 0);
	}
	parties_end(&t);
}

Test(sync, barrier_breaks_when_a_party_gives_up)
{
	const struct quoit_sync_params p = {.value = 3};
	struct parties t = parties_begin_with(quoit_open_barrier, &p);
	quoit_job first = party_start(&t.a, quoit_arrive(t.a.number, 0));

	party_waits(&t.a, first);
	cr_expect_eq(quoit_run(t.b.q, quoit_arrive(t.b.number, 0), SHORT_MS), -ETIME);
	cr_expect_eq(quoit_wait(t.a.q, first, SOON_MS), -EPIPE);
	parties_end(&t);
}

/* ---- names ---- */

Test(sync, what_another_kind_does_is_refused)
{
	struct parties t = parties_begin();
	int lock = party_number(quoit_open_lock(t.a.s, "l", NULL));
	char text[256];

	cr_expect_eq(quoit_run(t.a.q, quoit_set_flag(lock, 0), SOON_MS), -EINVAL);
	quoit_strerror_wait(t.a.q, -EINVAL, text, sizeof text);
	cr_expect(strstr(text, "it is a lock"), "%s", text);
	cr_expect_eq(quoit_run(t.a.q, quoit_lock(lock, 0), SOON_MS), 0);
	parties_end(&t);
}

Test(sync, name_is_of_one_kind_and_goes_with_its_last_session)
{
	const struct quoit_sync_params must_exist = {.flags = QUOIT_SYNC_MUST_EXIST};
	const struct quoit_sync_params must_be_new = {.flags = QUOIT_SYNC_MUST_BE_NEW};
	const struct quoit_sync_params three = {.value = 3}, four = {.value = 4};
	struct parties t = parties_begin();
	int a;

	cr_expect_eq(quoit_open_lock(t.a.s, "x", &must_exist), -ENOENT);
	a = party_number(quoit_open_lock(t.a.s, "x", &must_be_new));
	cr_expect_eq(quoit_open_lock(t.b.s, "x", &must_be_new), -EEXIST);
	cr_expect_eq(quoit_open_flag(t.b.s, "x", NULL), -EINVAL);
	cr_expect(strstr(quoit_open_text(), "'x' is a lock"), "%s", quoit_open_text());
	party_number(quoit_open_lock(t.b.s, "x", &must_exist));
	party_number(quoit_open_barrier(t.a.s, "b", &three));
	cr_expect_eq(quoit_open_barrier(t.b.s, "b", &four), -EINVAL);
	cr_expect_eq(quoit_close_sync(t.a.s, a), 0);
	party_number(quoit_open_lock(t.a.s, "x", &must_exist));
	cr_expect_eq(quoit_open_barrier(t.a.s, "c", NULL), -EINVAL);
	cr_expect_eq(quoit_open_lock(t.a.s, "a b", NULL), -EINVAL);
	cr_expect_eq(quoit_close_sync(t.a.s, 5), -EINVAL);
	parties_end(&t);
}

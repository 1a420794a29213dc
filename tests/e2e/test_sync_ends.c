/* SPDX-License-Identifier: MIT */
/*
 * test_sync_ends.c - locks and their kin where jobs are late, cancelled or fail, sessions die, and
 * memory is short
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "parties.h"

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- plain calls ---- */

Test(sync_ends, plain_call_that_is_late_does_not_leave_the_lock_locked)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);
	unsigned late = 0;

	for (unsigned i = 0; i < 20000; i++) {
		int err = quoit_run(t.a.q, quoit_lock(t.a.number, 0), 0);

		if (err == 0) {
			cr_assert_eq(quoit_run(t.a.q, quoit_unlock(t.a.number, 0), SOON_MS), 0);
			continue;
		}
		cr_assert_eq(err, -ETIME);
		late++;
		cr_assert_eq(quoit_run(t.b.q, quoit_lock(t.b.number, 0), SOON_MS), 0, "%u late",
			     late);
		cr_assert_eq(quoit_run(t.b.q, quoit_unlock(t.b.number, 0), SOON_MS), 0);
	}
	parties_end(&t);
}

Test(sync_ends, number_that_is_none_closes_nothing)
{
	struct parties t = parties_begin();
	int a = party_number(quoit_open_lock(t.a.s, "l", NULL));

	cr_expect_eq(quoit_close_sync(t.a.s, a + (int)(QUOIT_MAX_SERVICES << 8)), -EINVAL);
	cr_expect_eq(quoit_close_sync(t.a.s, a + 1), -EINVAL);
	cr_expect_eq(quoit_run(t.a.q, quoit_lock(a, 0), SOON_MS), 0);
	parties_end(&t);
}

/* ---- memory ---- */

#define LARGE (50 * MIB) /* numbers whose bytes take a while to clear */

/* A tensor whose bytes another one has used: a job that reads them clears them before. */
static quoit_tensor used(struct party *p)
{
	quoit_tensor t = quoit_create_vector(p->q, QUOIT_I32, LARGE);

	cr_assert_eq(quoit_run(p->q, quoit_fill_int(t, 1), SOON_MS), 0);
	quoit_free(p->q, t);
	return quoit_create_vector(p->q, QUOIT_I32, LARGE);
}

Test(sync_ends, lock_does_not_wait_until_its_tensor_is_cleared)
{
	struct parties t = parties_begin();
	struct party c = party_open_with(&t.f.d, 1024 * MIB);
	int l = party_number(quoit_open_lock(c.s, "l", NULL));
	int b = party_number(quoit_open_lock(t.b.s, "l", NULL));
	quoit_job late, cancelled;
	quoit_tensor x = used(&c);
	double began;

	cr_assert_eq(quoit_run(t.b.q, quoit_lock(b, 0), SOON_MS), 0);
	began = now_s();
	late = party_start(&c, quoit_with_deadline(quoit_lock(l, x), 500000));
	(void)!quoit_run(c.q, quoit_with_deadline(quoit_nop(0), 3000), SOON_MS);
	cr_expect_eq(quoit_wait(c.q, late, SOON_MS), -ETIME);
	cr_expect_lt(now_s() - began, 5, "its deadline was forgotten");
	cr_assert_eq(quoit_push(c.q, quoit_fill_int(x, 1)), 0);
	cancelled = party_start(&c, quoit_lock(l, used(&c)));
	usleep(3000);
	cr_expect_eq(quoit_cancel(c.q, cancelled), 0);
	cr_expect_eq(quoit_wait(c.q, cancelled, SOON_MS), -ECANCELED);
	quoit_close(c.s, QUOIT_CLOSE_CANCEL);
	parties_end(&t);
}

Test(sync_ends, unlock_is_not_behind_a_job_that_lacks_memory)
{
	struct parties t = parties_begin();
	struct party c = party_open_with(&t.f.d, 6 * MIB);
	struct quoit_ring *q = NULL;
	int l = party_number(quoit_open_lock(c.s, "l", NULL));
	quoit_tensor x = quoit_create_vector(c.q, QUOIT_I32, 750000);
	quoit_tensor y = quoit_create_vector(c.q, QUOIT_I32, 750000);
	quoit_job waits, lacks, unlock;

	cr_assert_eq(quoit_open_ring(c.s, NULL, &q), 0);
	cr_assert_eq(quoit_run(c.q, quoit_fill_int(x, 1), SOON_MS), 0, "%s", quoit_error_text(c.q));
	cr_assert_eq(quoit_run(c.q, quoit_lock(l, 0), SOON_MS), 0);
	waits = party_start(&(struct party){c.s, q}, quoit_lock(l, 0));
	party_waits(&(struct party){c.s, q}, waits);
	lacks = party_start(&c, quoit_fill_int(y, 1));
	unlock = party_start(&c, quoit_unlock(l, 0));
	cr_expect_eq(quoit_wait(c.q, unlock, SOON_MS), 0);
	cr_expect_eq(quoit_wait(c.q, lacks, SOON_MS), -ENOMEM);
	cr_expect_eq(quoit_wait(q, waits, SOON_MS), 0);
	quoit_close(c.s, QUOIT_CLOSE_CANCEL);
	parties_end(&t);
}

/* ---- the order of the data ---- */

Test(sync_ends, unlock_waits_for_the_program_that_reads_under_the_lock)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);
	struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, N}};
	quoit_tensor x = quoit_create(t.a.q, &shape, QUOIT_CREATE_SHARED);
	quoit_job acquire, unlock;

	cr_assert_eq(quoit_run(t.b.q, quoit_lock(t.b.number, 0), SOON_MS), 0);
	cr_assert_eq(quoit_push(t.a.q, quoit_fill(x, 1)), 0);
	cr_assert_eq(quoit_push(t.a.q, quoit_lock(t.a.number, x)), 0);
	cr_assert_eq(quoit_start_acquire(t.a.q, x, QUOIT_ACCESS_READ, &acquire), 0);
	unlock = party_start(&t.a, quoit_unlock(t.a.number, x));
	usleep(20000);
	cr_assert_eq(quoit_run(t.b.q, quoit_unlock(t.b.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_wait(t.a.q, acquire, SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_lock(t.b.number, 0), SHORT_MS), -ETIME);
	cr_expect_eq(quoit_release_tensor(t.a.q, x), 0);
	cr_expect_eq(quoit_wait(t.a.q, unlock, SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_lock(t.b.number, 0), SOON_MS), 0);
	parties_end(&t);
}

Test(sync_ends, what_was_taken_is_given_though_a_job_in_between_has_failed)
{
	const struct quoit_sync_params one = {.value = 1};
	struct parties t = parties_begin_with(quoit_open_semaphore, &one);
	quoit_tensor x = quoit_create_vector(t.a.q, QUOIT_F32, 1);

	cr_expect_eq(quoit_run(t.a.q, quoit_take(t.a.number, 1, x), SOON_MS), 0);
	party_poison(&t.a, x);
	cr_expect_eq(quoit_run(t.a.q, quoit_give(t.a.number, 1, x), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.a.q, quoit_give(t.a.number, 1, x), SOON_MS), -QUOIT_EPOISON,
		     "what was not taken is not given");
	cr_expect_eq(quoit_run(t.b.q, quoit_take(t.b.number, 1, 0), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_take(t.b.number, 1, 0), SHORT_MS), -ETIME);
	parties_end(&t);
}

/* ---- locks ---- */

Test(sync_ends, recursive_lock_that_was_asked_for_twice_is_granted_twice)
{
	const struct quoit_sync_params recursive = {.flags = QUOIT_SYNC_RECURSIVE};
	struct parties t = parties_begin_with(quoit_open_lock, &recursive);
	quoit_job one, two;

	cr_assert_eq(quoit_run(t.b.q, quoit_lock(t.b.number, 0), SOON_MS), 0);
	one = party_start(&t.a, quoit_lock(t.a.number, 0));
	two = party_start(&t.a, quoit_lock(t.a.number, 0));
	party_waits(&t.a, one);
	cr_assert_eq(quoit_run(t.b.q, quoit_unlock(t.b.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_wait(t.a.q, one, SOON_MS), 0);
	cr_expect_eq(quoit_wait(t.a.q, two, SOON_MS), 0);
	parties_end(&t);
}

Test(sync_ends, notification_of_one_that_is_late_goes_to_the_next)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);
	struct party c = party_open(&t.f.d);
	int l = party_number(quoit_open_lock(c.s, PARTIES_NAME, NULL));
	quoit_job first, second;

	cr_assert_eq(quoit_run(t.a.q, quoit_lock(t.a.number, 0), SOON_MS), 0);
	first = party_start(&t.a, quoit_wait_condition(t.a.number, 0, 0));
	cr_assert_eq(quoit_run(c.q, quoit_lock(l, 0), SOON_MS), 0);
	second = party_start(&c, quoit_wait_condition(l, 0, 0));
	cr_assert_eq(quoit_run(t.b.q, quoit_lock(t.b.number, 0), SOON_MS), 0);
	cr_assert_eq(quoit_run(t.b.q, quoit_notify(t.b.number, 0, 1, 0), SOON_MS), 0);
	cr_expect_eq(quoit_cancel(t.a.q, first), 0);
	cr_expect_eq(quoit_wait(t.a.q, first, SOON_MS), -ENOLCK, "it has given the lock up");
	cr_assert_eq(quoit_run(t.b.q, quoit_unlock(t.b.number, 0), SOON_MS), 0);
	cr_expect_eq(quoit_wait(c.q, second, SOON_MS), 0);
	quoit_close(c.s, QUOIT_CLOSE_CANCEL);
	parties_end(&t);
}

Test(sync_ends, condition_that_fails_before_it_is_waited_for_keeps_the_lock)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);
	int flag = party_number(quoit_open_flag(t.a.s, "f", NULL));
	quoit_tensor x = quoit_create_vector(t.a.q, QUOIT_F32, 1);
	quoit_job wait;

	cr_assert_eq(quoit_run(t.a.q, quoit_lock(t.a.number, x), SOON_MS), 0);
	cr_assert_eq(quoit_push(t.a.q, quoit_wait_flag(flag, x)), 0);
	wait = party_start(&t.a,
			   quoit_with_deadline(quoit_wait_condition(t.a.number, 0, x), 20000));
	cr_expect_eq(quoit_wait(t.a.q, wait, SOON_MS), -ETIME);
	cr_expect_eq(quoit_run(t.b.q, quoit_lock(t.b.number, 0), SHORT_MS), -ETIME);
	parties_end(&t);
}

Test(sync_ends, lock_that_a_condition_gave_up_is_had_again_with_the_same_tensor)
{
	struct parties t = parties_begin();
	int a = party_number(quoit_open_lock(t.a.s, "l", NULL));
	int b = party_number(quoit_open_lock(t.b.s, "l", NULL));
	quoit_tensor x = quoit_create_vector(t.a.q, QUOIT_F32, 1);
	quoit_job wait;

	cr_assert_eq(quoit_run(t.a.q, quoit_lock(a, x), SOON_MS), 0);
	wait = party_start(&t.a, quoit_wait_condition(a, 0, 0));
	cr_assert_eq(quoit_run(t.b.q, quoit_lock(b, 0), SOON_MS), 0);
	cr_assert_eq(quoit_run(t.b.q, quoit_notify(b, 0, 1, 0), SOON_MS), 0);
	cr_assert_eq(quoit_run(t.b.q, quoit_unlock(b, 0), SOON_MS), 0);
	cr_expect_eq(quoit_wait(t.a.q, wait, SOON_MS), 0);
	cr_expect_eq(quoit_run(t.a.q, quoit_unlock(a, x), SOON_MS), 0);
	parties_end(&t);
}

/* ---- deaths ---- */

#define WRITTEN (16 * MIB) /* numbers */

/* It writes a large file under the lock for as long as it lives. */
static int write_under_the_lock(struct party *p, int fd)
{
	int l = quoit_open_lock(p->s, PARTIES_NAME, NULL), file = quoit_add_file(p->s, fd);
	quoit_tensor x = quoit_create_vector(p->q, QUOIT_I32, WRITTEN);
	int err = quoit_run(p->q, quoit_fill_int(x, 7), SOON_MS);

	if (!err)
		err = quoit_run(p->q, quoit_lock(l, x), SOON_MS);
	for (int i = 0; i < 8 && err >= 0; i++)
		(void)!quoit_push(p->q, quoit_write_file(x, file, (uint64_t)i * WRITTEN * 4));
	(void)quoit_flush(p->q);
	return err;
}

Test(sync_ends, jobs_of_a_dead_holder_have_ended_when_the_next_one_has_the_lock)
{
	struct parties t = parties_begin();
	int b = party_number(quoit_open_lock(t.b.s, PARTIES_NAME, NULL));
	char path[] = "/tmp/quoit-sync-XXXXXX";
	int fd = mkstemp(path);
	struct stat then, later;
	quoit_job next;
	pid_t pid;

	cr_assert_geq(fd, 0);
	unlink(path);
	pid = party_fork(&t.f.d, 256 * MIB, write_under_the_lock, fd);
	next = party_start(&t.b, quoit_lock(b, 0));
	party_kill(pid);
	cr_expect_eq(quoit_wait(t.b.q, next, SOON_MS), QUOIT_OWNER_DIED);
	cr_assert_eq(fstat(fd, &then), 0);
	usleep(200000);
	cr_assert_eq(fstat(fd, &later), 0);
	cr_expect_eq(then.st_size, later.st_size);
	close(fd);
	parties_end(&t);
}

Test(sync_ends, who_arrives_after_a_party_has_died_is_told)
{
	const struct quoit_sync_params two = {.value = 2};
	struct parties t = parties_begin();
	int a = party_number(quoit_open_barrier(t.a.s, "b", &two));
	pid_t pid = fork();
	int status;

	cr_assert_geq(pid, 0);
	if (!pid) {
		struct party p = party_open(&t.f.d);

		_exit(quoit_open_barrier(p.s, "b", &two) < 0);
	}
	waitpid(pid, &status, 0);
	cr_assert_eq(status, 0);
	usleep(100000);
	cr_expect_eq(quoit_run(t.a.q, quoit_arrive(a, 0), SOON_MS), -EOWNERDEAD);
	cr_expect_eq(quoit_run(t.a.q, quoit_arrive(a, 0), SHORT_MS), -ETIME, "told once");
	parties_end(&t);
}

Test(sync_ends, so_much_is_undone_as_the_count_can_be)
{
	const uint64_t half = UINT64_C(1) << 63;
	const struct quoit_sync_params p = {.flags = QUOIT_SYNC_UNDO, .value = half};
	struct parties t = parties_begin_with(quoit_open_semaphore, &p);

	cr_expect_eq(quoit_run(t.a.q, quoit_take(t.a.number, half, 0), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_give(t.b.number, half, 0), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.a.q, quoit_take(t.a.number, half, 0), SOON_MS), 0);
	cr_expect_eq(quoit_close_sync(t.a.s, t.a.number), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_take(t.b.number, half, 0), SOON_MS), 0);
	parties_end(&t);
}

/* SPDX-License-Identifier: MIT */
/* test_acquire_ends.c - how the program's accesses end: by release, cancel, or the end of others */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "acquire.h"

#define PATIENCE_MS 60000 /* if it takes longer, it never ends */

/* ---- release ---- */

Test(acquire_ends, release_of_what_is_not_held_is_refused)
{
	struct fixture f = begin();
	quoit_tensor a = shared(&f), v;
	struct quoit_shape shape = {.dtype = QUOIT_I32, .dim = {1, 1, 1, N}};

	v = quoit_view(f.q, a, &shape, 0);
	settle(f.q);
	cr_expect_eq(quoit_release_tensor(f.q, a), -EINVAL, "nothing was acquired");
	(void)acquire(f.q, a, QUOIT_ACCESS_READ);
	cr_expect_eq(quoit_release_tensor(f.p, a), -EINVAL, "on another ring");
	cr_expect_eq(quoit_release_tensor(f.q, v), -EINVAL, "by a view");
	cr_expect_eq(quoit_release_tensor(f.q, QUOIT_NO_TENSOR), -EINVAL);
	release(f.q, a);
	cr_expect_eq(quoit_release_tensor(f.q, a), -EINVAL, "twice");
	cr_expect_not_null(strstr(quoit_error_text(f.q), "released already"));
	cr_expect_eq(quoit_count_failures(f.q, NULL), 0, "quoitd has refused nothing");
	end(&f);
}

Test(acquire_ends, tensor_that_is_freed_meanwhile_keeps_its_bytes_until_the_release)
{
	struct fixture f = begin_with(64 << 10, NULL);
	quoit_tensor a = create(f.q, 12 << 10, QUOIT_CREATE_SHARED), b;
	int32_t *at = acquire(f.q, a, QUOIT_ACCESS_WRITE);
	quoit_job job;

	at[0] = 5;
	quoit_free(f.q, a);
	b = create(f.q, 12 << 10, QUOIT_CREATE_SHARED);
	job = start(f.q, quoit_fill_int(b, 1));
	cr_expect_eq(quoit_wait(f.q, job, QUOIT_FOREVER), -ENOMEM, "the bytes are a's");
	cr_expect_eq(at[0], 5);
	release(f.q, a);
	job = start(f.q, quoit_fill_int(b, 1));
	cr_expect_eq(quoit_wait(f.q, job, QUOIT_FOREVER), 0);
	end(&f);
}

Test(acquire_ends, release_before_the_grant_cancels)
{
	struct fixture f = begin();
	quoit_tensor a = shared(&f);
	quoit_job job;
	void *at;

	(void)acquire(f.q, a, QUOIT_ACCESS_WRITE);
	cr_assert_eq(quoit_start_acquire(f.p, a, QUOIT_ACCESS_WRITE, &job), 0);
	release(f.p, a);
	cr_expect_eq(quoit_wait(f.p, job, QUOIT_FOREVER), -ECANCELED);
	cr_expect_eq(quoit_get_pointer(f.p, a, &at), -EINVAL);
	release(f.q, a);
	(void)acquire(f.p, a, QUOIT_ACCESS_WRITE);
	end(&f);
}

Test(acquire_ends, timeout_leaves_nothing_held)
{
	struct fixture f = begin();
	quoit_tensor a = shared(&f);
	void *at;

	(void)acquire(f.q, a, QUOIT_ACCESS_WRITE);
	cr_expect_eq(quoit_acquire(f.p, a, QUOIT_ACCESS_READ, 0, &at), -ETIME);
	release(f.q, a);
	(void)acquire(f.q, a, QUOIT_ACCESS_WRITE);
	cr_expect_eq(quoit_count_failures(f.p, NULL), 0);
	end(&f);
}

/*
 * The SQ is full, so the acquire that timed out can only be cancelled; and quoitd keeps no more
 * cancels.  It is granted later, and nobody knows of it.
 */
Test(acquire_ends, timeout_leaves_nothing_held_even_if_it_cannot_be_cancelled)
{
	const struct quoit_ring_params small = {.entries = 16, .cq_entries = 16};
	struct fixture f = begin_with(SHARED, &small);
	quoit_tensor a = shared(&f), b = shared(&f);
	quoit_job last;
	void *at;

	settle(f.q);
	(void)acquire(f.p, a, QUOIT_ACCESS_WRITE);
	for (unsigned i = 0; i < 30; i++)
		cr_assert_eq(quoit_push(f.q, quoit_fill_int(a, 1)), 0);
	last = start(f.q, quoit_fill_int(a, 2));
	for (unsigned i = 0; i < 16; i++)
		cr_assert_eq(quoit_cancel(f.q, last), 0);
	cr_assert_eq(quoit_cancel(f.q, last), -EBUSY);
	cr_expect_eq(quoit_acquire(f.q, b, QUOIT_ACCESS_WRITE, 0, &at), -ETIME);
	release(f.p, a);
	cr_expect_eq(quoit_wait(f.q, last, PATIENCE_MS), -ECANCELED);
	cr_expect_eq(quoit_wait_all(f.q, PATIENCE_MS), 0);
	cr_expect_eq(quoit_acquire(f.p, b, QUOIT_ACCESS_WRITE, PATIENCE_MS, &at), 0);
	end(&f);
}

/* More jobs wait for the program than the ring has credits for: the release is behind them. */
Test(acquire_ends, release_behind_a_full_ring_is_found)
{
	const struct quoit_ring_params small = {.entries = 16, .cq_entries = 16};
	struct fixture f = begin_with(SHARED, &small);
	quoit_tensor a = shared(&f);

	for (unsigned waiting = 10; waiting <= 24; waiting++) {
		(void)acquire(f.q, a, QUOIT_ACCESS_WRITE);
		for (unsigned i = 0; i < waiting; i++)
			cr_assert_eq(quoit_push(f.q, quoit_fill_int(a, 1)), 0);
		release(f.q, a);
		cr_assert_eq(quoit_wait_all(f.q, QUOIT_FOREVER), 0, "%u jobs", waiting);
		cr_assert_eq(quoit_count_failures(f.q, NULL), 0);
	}
	end(&f);
}

/* The release is hundreds of SQEs behind the first one that waits for it. */
Test(acquire_ends, release_far_behind_a_full_ring_is_found)
{
	const struct quoit_ring_params large = {.entries = 512, .cq_entries = 512};
	struct fixture f = begin_with(SHARED, &large);
	quoit_tensor a = shared(&f);

	(void)acquire(f.q, a, QUOIT_ACCESS_WRITE);
	for (unsigned i = 0; i < 900; i++)
		cr_assert_eq(quoit_push(f.q, quoit_fill_int(a, 1)), 0);
	release(f.q, a);
	cr_assert_eq(quoit_wait_all(f.q, PATIENCE_MS), 0);
	cr_assert_eq(quoit_count_failures(f.q, NULL), 0);
	end(&f);
}

/* The reactor has looked at the release while there was nothing to release yet. */
Test(acquire_ends, release_behind_a_full_ring_is_found_if_the_grant_comes_later)
{
	const struct quoit_ring_params small = {.entries = 16, .cq_entries = 16};
	struct fixture f = begin_with(SHARED, &small);
	quoit_tensor a = shared(&f);
	quoit_job asked;

	settle(f.q);
	(void)acquire(f.p, a, QUOIT_ACCESS_WRITE);
	cr_assert_eq(quoit_start_acquire(f.q, a, QUOIT_ACCESS_WRITE, &asked), 0);
	for (unsigned i = 0; i < 24; i++)
		cr_assert_eq(quoit_push(f.q, quoit_fill_int(a, 1)), 0);
	release(f.q, a);
	for (unsigned i = 0; i < 3; i++) /* each is a pass that looks at the other ring, too */
		settle(f.p);
	release(f.p, a);
	cr_expect_eq(quoit_wait(f.q, asked, PATIENCE_MS), 0, "it was granted, and is released");
	cr_assert_eq(quoit_wait_all(f.q, PATIENCE_MS), 0);
	cr_assert_eq(quoit_count_failures(f.q, NULL), 0);
	end(&f);
}

/* ---- ends ---- */

Test(acquire_ends, ring_that_is_closed_releases_what_it_holds)
{
	struct fixture f = begin();
	quoit_tensor a = shared(&f);
	quoit_job writer;

	settle(f.q);
	(void)acquire(f.p, a, QUOIT_ACCESS_WRITE);
	writer = start(f.q, quoit_fill_int(a, 1));
	cr_expect(is_open(f.q, writer));
	cr_expect_eq(quoit_close_ring(f.p), 0);
	cr_expect_eq(quoit_wait(f.q, writer, QUOIT_FOREVER), 0);
	end(&f);
}

Test(acquire_ends, session_is_closed_with_jobs_that_wait_for_the_program)
{
	for (unsigned flags = 0; flags <= QUOIT_CLOSE_CANCEL; flags++) {
		struct fixture f = begin();
		quoit_tensor a = shared(&f), b = shared(&f);
		quoit_job pending;

		settle(f.q);
		(void)acquire(f.q, a, QUOIT_ACCESS_WRITE);
		(void)acquire(f.p, b, QUOIT_ACCESS_WRITE);
		cr_assert_eq(quoit_push(f.q, quoit_fill_int(a, 1)), 0);
		cr_assert_eq(quoit_push(f.q, quoit_copy(b, a)), 0);
		cr_assert_eq(quoit_flush(f.q), 0);
		cr_assert_eq(quoit_start_acquire(f.p, a, QUOIT_ACCESS_WRITE, &pending), 0);
		cr_expect_eq(quoit_close(f.s, flags), 0);
		daemon_stop(&f.d);
	}
}

/* Without it quoitd would wait for an hour. */
Test(acquire_ends, quoitd_that_ends_does_not_wait_for_what_an_idle_program_holds)
{
	static const char *const options[] = {"--drain-ms=3600000", NULL};
	struct fixture f = begin_as(options, SHARED, NULL);
	quoit_tensor a = shared(&f);

	(void)acquire(f.q, a, QUOIT_ACCESS_WRITE);
	settle(f.p);
	daemon_stop(&f.d);
	cr_expect_eq(quoit_close(f.s, 0), -ECONNRESET);
}

static void die_with_a_hold(const struct daemon *d)
{
	struct quoit_open_params p = {
		.socket = d->socket, .host_bytes = 16 * MIB, .shared_bytes = MIB};
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor a;
	void *at;

	if (quoit_open(&p, &s) || quoit_open_ring(s, NULL, &q))
		_exit(2);
	a = create(q, N, QUOIT_CREATE_SHARED);
	if (quoit_acquire(q, a, QUOIT_ACCESS_WRITE, QUOIT_FOREVER, &at) ||
	    quoit_push(q, quoit_fill_int(a, 1)) || quoit_flush(q))
		_exit(3);
	_exit(0);
}

Test(acquire_ends, program_that_dies_releases_what_it_holds)
{
	struct fixture f = begin();

	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();
		int status;

		if (!pid)
			die_with_a_hold(&f.d);
		cr_assert_eq(waitpid(pid, &status, 0), pid);
		cr_assert_eq(status, 0);
	}
	end(&f); /* quoitd ends when all sessions have */
}

Test(acquire_ends, child_of_fork_has_none_of_it)
{
	struct fixture f = begin();
	quoit_tensor a = shared(&f);
	int32_t *at = acquire(f.q, a, QUOIT_ACCESS_WRITE);
	int status;
	pid_t pid = fork();

	if (!pid) {
		unsigned char in_core;
		quoit_job job;
		void *to;

		if (quoit_get_pointer(f.q, a, &to) != -EOWNERDEAD ||
		    quoit_release_tensor(f.q, a) != -EOWNERDEAD ||
		    quoit_start_acquire(f.q, a, QUOIT_ACCESS_READ, &job) != -EOWNERDEAD ||
		    quoit_acquire(f.q, a, QUOIT_ACCESS_READ, 0, &to) != -EOWNERDEAD)
			_exit(1);
		_exit(mincore(at, 1, &in_core) == 0 || errno != ENOMEM);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0, "%#x", status);
	at[0] = 9;
	release(f.q, a);
	cr_expect_eq(acquire(f.q, a, QUOIT_ACCESS_READ)[0], 9);
	end(&f);
}

/* SPDX-License-Identifier: MIT */
/* test_acquire.c - the program itself uses tensors, in the order of the data. */
#include <errno.h>
#include <string.h>

#include <criterion/criterion.h>

#include <quoit/stats.h>

#include "acquire.h"
#include "device.h"
#include "tool.h"

/* ---- the data ---- */

Test(acquire, program_sees_what_jobs_wrote_and_jobs_what_the_program_wrote)
{
	struct fixture f = begin();
	quoit_tensor a = shared(&f), sum = create(f.q, 1, 0);
	int32_t *at, got;

	cr_assert_eq(quoit_push(f.q, quoit_fill_int(a, 7)), 0);
	at = acquire(f.q, a, QUOIT_ACCESS_WRITE);
	for (unsigned i = 0; i < N; i++) {
		cr_assert_eq(at[i], 7);
		at[i] = (int32_t)i;
	}
	release(f.q, a);
	cr_assert_eq(quoit_push(f.q, quoit_sum(sum, a, QUOIT_AXIS_ALL)), 0);
	cr_assert_eq(quoit_read(f.q, sum, &got, sizeof got), 0);
	cr_expect_eq(got, N * (N - 1) / 2);
	end(&f);
}

Test(acquire, new_tensor_is_zero_also_where_something_was)
{
	struct fixture f = begin();

	for (int i = 0; i < 3; i++) {
		quoit_tensor a = shared(&f);
		int32_t *at = acquire(f.q, a, QUOIT_ACCESS_WRITE);

		for (unsigned k = 0; k < N; k++)
			cr_assert_eq(at[k], 0);
		memset(at, 0xff, N * sizeof *at);
		release(f.q, a);
		quoit_free(f.q, a);
	}
	end(&f);
}

Test(acquire, pointer_of_a_view_is_its_first_element)
{
	struct fixture f = begin();
	quoit_tensor a = shared(&f), v;
	struct quoit_shape shape = {.dtype = QUOIT_I32, .dim = {1, 1, 1, 5}};
	int32_t *whole, *part;

	v = quoit_view(f.q, a, &shape, 1001 * sizeof(int32_t));
	whole = acquire(f.q, a, QUOIT_ACCESS_READ);
	part = acquire(f.q, v, QUOIT_ACCESS_READ);
	cr_expect_eq(part - whole, 1001);
	end(&f);
}

/* ---- order ---- */

Test(acquire, jobs_wait_for_the_program_by_the_data)
{
	static const struct {
		enum quoit_access access;
		bool reader_waits;
	} row[] = {{QUOIT_ACCESS_READ, false}, {QUOIT_ACCESS_WRITE, true}};

	for (unsigned i = 0; i < 2; i++) {
		struct fixture f = begin();
		quoit_tensor a = shared(&f), b = create(f.q, N, 0);
		quoit_job reader, writer;

		(void)acquire(f.q, a, row[i].access);
		reader = start(f.q, quoit_copy(b, a));
		writer = start(f.q, quoit_fill_int(a, 3));
		if (!row[i].reader_waits)
			cr_expect_eq(quoit_wait(f.q, reader, QUOIT_FOREVER), 0);
		else
			cr_expect(is_open(f.q, reader));
		cr_expect(is_open(f.q, writer));
		release(f.q, a);
		if (row[i].reader_waits)
			cr_expect_eq(quoit_wait(f.q, reader, QUOIT_FOREVER), 0);
		cr_expect_eq(quoit_wait(f.q, writer, QUOIT_FOREVER), 0);
		end(&f);
	}
}

Test(acquire, two_readers_hold_at_once_and_a_writer_waits_for_both)
{
	struct fixture f = begin();
	quoit_tensor a = shared(&f);
	quoit_job writer;
	void *at;

	settle(f.q);
	(void)acquire(f.q, a, QUOIT_ACCESS_READ);
	(void)acquire(f.p, a, QUOIT_ACCESS_READ);
	cr_assert_eq(quoit_start_acquire(f.q,
					 quoit_view(f.q, a,
						    &(struct quoit_shape){.dtype = QUOIT_I32,
									  .dim = {1, 1, 1, 1}},
						    0),
					 QUOIT_ACCESS_WRITE, &writer),
		     0);
	release(f.q, a);
	cr_expect(is_open(f.q, writer));
	release(f.p, a);
	cr_expect_eq(quoit_wait(f.q, writer, QUOIT_FOREVER), 0);
	cr_expect_eq(quoit_get_pointer(f.q, a, &at), -EINVAL);
	end(&f);
}

Test(acquire, asynchronous_one_is_waited_for_among_jobs)
{
	struct fixture f = begin();
	quoit_tensor a = shared(&f), b = shared(&f);
	quoit_job jobs[2];
	void *at = NULL;

	(void)acquire(f.q, a, QUOIT_ACCESS_WRITE);
	settle(f.q);
	cr_assert_eq(quoit_start_acquire(f.p, a, QUOIT_ACCESS_WRITE, &jobs[0]), 0);
	cr_assert_eq(quoit_start_acquire(f.p, b, QUOIT_ACCESS_WRITE, &jobs[1]), 0);
	cr_expect_eq(quoit_wait_any(f.p, jobs, 2, QUOIT_FOREVER), 1);
	cr_expect_eq(quoit_get_pointer(f.p, a, &at), -EINPROGRESS);
	cr_expect_eq(quoit_get_pointer(f.p, b, &at), 0);
	cr_expect_not_null(at);
	release(f.q, a);
	cr_expect_eq(quoit_wait_all_of(f.p, jobs, 2, QUOIT_FOREVER), 2);
	cr_expect_eq(quoit_get_pointer(f.p, a, &at), 0);
	end(&f);
}

Test(acquire, link_to_an_acquire_waits_for_its_grant_alone)
{
	struct fixture f = begin();
	quoit_tensor a = shared(&f);
	struct quoit_sqe after = quoit_nop(0);
	quoit_job asked, linked;

	settle(f.q);
	(void)acquire(f.p, a, QUOIT_ACCESS_WRITE);
	cr_assert_eq(quoit_start_acquire(f.q, a, QUOIT_ACCESS_WRITE, &asked), 0);
	after.flags |= QUOIT_SQE_LINK;
	after.link = 1;
	linked = start(f.q, after);
	cr_expect(is_open(f.q, linked));
	release(f.p, a);
	cr_expect_eq(quoit_wait(f.q, linked, QUOIT_FOREVER), 0);
	end(&f);
}

/* ---- what cannot be acquired ---- */

Test(acquire, poison_gives_the_first_cause)
{
	struct fixture f = begin();
	quoit_tensor a = shared(&f), b = shared(&f), index = create(f.q, 1, 0);
	struct quoit_error error;
	void *at;

	cr_assert_eq(quoit_push(f.q, quoit_fill_int(index, 77)), 0);
	cr_assert_eq(quoit_push(f.q, quoit_fill_int(b, 1)), 0);
	cr_assert_eq(
		quoit_push(f.q, quoit_gather(create(f.q, 1, QUOIT_CREATE_SHARED), b, index, 0)), 0);
	(void)a;
	cr_assert_eq(quoit_push(f.q, quoit_copy(a, create(f.q, 3, 0))), 0);
	cr_expect_eq(quoit_acquire(f.q, a, QUOIT_ACCESS_READ, QUOIT_FOREVER, &at), -QUOIT_EPOISON);
	cr_assert(quoit_get_wait_error(f.q, &error));
	cr_expect_eq(error.opcode, QUOIT_OP_COPY);
	cr_expect_eq(quoit_release_tensor(f.q, a), -EINVAL, "it holds nothing");
	end(&f);
}

Test(acquire, tensor_elsewhere_is_refused_and_stays_as_it_is)
{
	static const unsigned flags[] = {0, QUOIT_CREATE_PINNED};
	struct fixture f = begin();

	for (unsigned i = 0; i < 2; i++) {
		quoit_tensor a = create(f.q, 1, flags[i]);
		char text[256];
		int32_t got = 1;
		void *at;
		int err;

		err = quoit_acquire(f.q, a, QUOIT_ACCESS_WRITE, QUOIT_FOREVER, &at);
		cr_expect_eq(err, -ENOTSUP);
		quoit_strerror_wait(f.q, err, text, sizeof text);
		cr_expect_not_null(strstr(text, "create it with QUOIT_CREATE_SHARED"), "%s", text);
		if (!flags[i])
			cr_expect(quoit_read(f.q, a, &got, sizeof got) == 0 && got == 0,
				  "it is not poisoned");
	}
	end(&f);
}

Test(acquire, too_many_are_refused_with_the_number)
{
	struct fixture f = begin();
	quoit_tensor a[QUOIT_MAX_HOLDS + 1];
	char text[256];
	void *at;
	int err;

	for (unsigned i = 0; i < QUOIT_MAX_HOLDS; i++) {
		a[i] = create(f.q, 1, QUOIT_CREATE_SHARED);
		(void)acquire(f.q, a[i], QUOIT_ACCESS_WRITE);
	}
	a[QUOIT_MAX_HOLDS] = create(f.q, 1, QUOIT_CREATE_SHARED);
	settle(f.q);
	err = quoit_acquire(f.p, a[QUOIT_MAX_HOLDS], QUOIT_ACCESS_READ, QUOIT_FOREVER, &at);
	cr_expect_eq(err, -EMFILE);
	quoit_strerror_wait(f.p, err, text, sizeof text);
	cr_expect_not_null(strstr(text, "at most 128 are allowed"), "%s", text);
	release(f.q, a[5]);
	settle(f.q); /* the rings are fetched in any order */
	cr_expect_eq(quoit_acquire(f.p, a[QUOIT_MAX_HOLDS], QUOIT_ACCESS_READ, QUOIT_FOREVER, &at),
		     0);
	end(&f);
}

/* ---- memory ---- */

/* Eight pages; free ones in no two neighbours; the program holds `held` of the others. */
static void expect_moved(unsigned held)
{
	struct fixture f = begin_with(8 * 4096, NULL);
	quoit_tensor t[8], large;
	int32_t *at[8] = {0};
	quoit_job job;

	for (unsigned i = 0; i < 8; i++) {
		t[i] = create(f.q, N, QUOIT_CREATE_SHARED);
		cr_assert_eq(quoit_push(f.q, quoit_fill_int(t[i], (int32_t)i)), 0);
	}
	for (unsigned i = 0; i < 8; i += 2)
		quoit_free(f.q, t[i]);
	for (unsigned i = 0; i < held; i++)
		at[2 * i + 1] = acquire(f.q, t[2 * i + 1], QUOIT_ACCESS_READ);
	large = create(f.q, 3 * N, QUOIT_CREATE_SHARED);
	job = start(f.q, quoit_fill_int(large, -1));
	cr_expect_eq(quoit_wait(f.q, job, QUOIT_FOREVER), held > 2 ? -ENOMEM : 0, "%u held", held);
	for (unsigned i = 1; i < 8; i += 2) {
		if (at[i]) {
			cr_expect_eq(at[i][0], (int32_t)i, "what is held stays where it is");
			at[i][N - 1] = (int32_t)i;
			release(f.q, t[i]);
		}
		cr_expect_eq(acquire(f.q, t[i], QUOIT_ACCESS_READ)[0], (int32_t)i);
		release(f.q, t[i]);
	}
	job = start(f.q, quoit_fill_int(large, -1));
	cr_expect_eq(quoit_wait(f.q, job, QUOIT_FOREVER), 0);
	end(&f);
}

Test(acquire, free_pages_are_moved_together_around_what_is_held)
{
	for (unsigned held = 0; held <= 4; held++)
		expect_moved(held);
}

/* The queue of memory waits for a job that waits for the program, as a serial run would. */
Test(acquire, job_that_lacks_bytes_waits_for_jobs_behind_the_program)
{
	struct fixture f = begin_with(8 * 4096, NULL);
	quoit_tensor a = create(f.q, N, QUOIT_CREATE_SHARED);
	quoit_tensor b = create(f.q, 6 * N, QUOIT_CREATE_SHARED);
	quoit_tensor c = create(f.q, 6 * N, QUOIT_CREATE_SHARED);
	struct quoit_shape shape = {.dtype = QUOIT_I32, .dim = {1, 1, 1, N}};
	quoit_tensor v = quoit_view(f.q, b, &shape, 0);
	quoit_job first, job;

	cr_assert_eq(quoit_push(f.q, quoit_fill_int(b, 2)), 0);
	(void)acquire(f.q, a, QUOIT_ACCESS_WRITE);
	first = start(f.q, quoit_copy(v, a));
	quoit_free(f.q, v);
	quoit_free(f.q, b);
	job = start(f.q, quoit_fill_int(c, 3));
	cr_expect(is_open(f.q, first));
	cr_expect_eq(quoit_get_result(f.q, job), -EINPROGRESS);
	release(f.q, a);
	cr_expect_eq(quoit_wait(f.q, first, QUOIT_FOREVER), 0);
	cr_expect_eq(quoit_wait(f.q, job, QUOIT_FOREVER), 0);
	end(&f);
}

/* What is acquired later must not stand in the way of a job that waits for its bytes. */
Test(acquire, one_behind_a_job_that_lacks_bytes_is_granted_after_it)
{
	struct fixture f = begin_with(8 * 4096, NULL);
	quoit_tensor t[8], large, busy = quoit_create_vector(f.q, QUOIT_F32, 1u << 20);
	quoit_job job, asked[4];

	for (unsigned i = 0; i < 8; i++) {
		t[i] = create(f.q, N, QUOIT_CREATE_SHARED);
		cr_assert_eq(quoit_push(f.q, quoit_fill_int(t[i], (int32_t)i)), 0);
	}
	large = create(f.q, 4 * N, QUOIT_CREATE_SHARED);
	settle(f.q);
	for (unsigned i = 0; i < 8; i += 2)
		quoit_free(f.q, t[i]);
	for (unsigned i = 0; i < 40; i++) /* so that the next one has to wait */
		cr_assert_eq(quoit_push(f.q, quoit_normal(busy, i, 0)), 0);
	job = start(f.q, quoit_fill_int(large, 1));
	for (unsigned i = 0; i < 4; i++)
		cr_assert_eq(quoit_start_acquire(f.q, t[2 * i + 1], QUOIT_ACCESS_READ, &asked[i]),
			     0);
	cr_expect_eq(quoit_wait(f.q, job, QUOIT_FOREVER), 0);
	cr_expect_eq(quoit_wait_all_of(f.q, asked, 4, QUOIT_FOREVER), 4);
	for (unsigned i = 0; i < 4; i++) {
		void *at;

		cr_assert_eq(quoit_get_pointer(f.q, t[2 * i + 1], &at), 0);
		cr_expect_eq(*(int32_t *)at, (int32_t)(2 * i + 1));
	}
	end(&f);
}

/* ---- other operations ---- */

Test(acquire, device_copies_from_and_to_what_the_program_acquires)
{
	const char *options[] = {"--gpu=soft", NULL};
	struct quoit_open_params p = {
		.host_bytes = 16 * MIB, .shared_bytes = MIB, .device_bytes = MIB};
	struct fixture f = {0};
	quoit_tensor a, there;
	int32_t *at;

	if (!room_is_soft())
		cr_skip_test("it needs no real device");
	cr_assert_eq(daemon_start(&f.d, options), 0);
	p.socket = f.d.socket;
	cr_assert_eq(quoit_open(&p, &f.s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(f.s, NULL, &f.q), 0);
	a = shared(&f);
	there = create(f.q, N, QUOIT_CREATE_ON(1));
	at = acquire(f.q, a, QUOIT_ACCESS_WRITE);
	for (unsigned i = 0; i < N; i++)
		at[i] = (int32_t)i;
	release(f.q, a);
	cr_assert_eq(quoit_push(f.q, quoit_copy(there, a)), 0);
	cr_assert_eq(quoit_push(f.q, quoit_fill_int(a, -1)), 0);
	cr_assert_eq(quoit_push(f.q, quoit_add_int(there, there, 1)), 0);
	cr_assert_eq(quoit_push(f.q, quoit_copy(a, there)), 0);
	at = acquire(f.q, a, QUOIT_ACCESS_READ);
	for (unsigned i = 0; i < N; i++)
		cr_assert_eq(at[i], (int32_t)i + 1);
	end(&f);
}

Test(acquire, arena_grows_behind_the_shared_region)
{
	struct fixture f = {0};
	struct quoit_open_params p = {.shared_bytes = SHARED};
	struct quoit_info info, grown;
	quoit_tensor a;
	int32_t *at;
	uint8_t *memory;

	cr_assert_eq(daemon_start(&f.d, NULL), 0);
	p.socket = f.d.socket;
	cr_assert_eq(quoit_open(&p, &f.s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(f.s, NULL, &f.q), 0);
	a = shared(&f);
	at = acquire(f.q, a, QUOIT_ACCESS_WRITE);
	at[0] = 77;
	quoit_get_info(f.s, &info);
	memory = quoit_alloc(f.s, info.arena_bytes + MIB);
	cr_assert_not_null(memory, "%s", quoit_open_text());
	quoit_get_info(f.s, &grown);
	cr_expect_gt(grown.arena_bytes, info.arena_bytes);
	memset(memory, 0xff, info.arena_bytes + MIB);
	cr_expect_eq(at[0], 77, "they do not overlap");
	release(f.q, a);
	cr_expect_eq(quoit_close(f.s, 0), 0);
	daemon_stop(&f.d);
}

/* ---- instruments ---- */

Test(acquire, what_the_program_holds_is_counted)
{
	struct fixture f = begin();
	struct quoit_info info;
	quoit_tensor a = shared(&f), b = shared(&f);

	quoit_get_info(f.s, &info);
	cr_expect_eq(info.shared_bytes, SHARED);
	(void)acquire(f.q, a, QUOIT_ACCESS_READ);
	(void)acquire(f.q, b, QUOIT_ACCESS_READ);
	while (daemon_session_counter(&f.d, info.session, QUOIT_SESSION_HELD) != 2)
		settle(f.q);
	release(f.q, a);
	while (daemon_session_counter(&f.d, info.session, QUOIT_SESSION_HELD) != 1)
		settle(f.q);
	cr_expect_gt(daemon_session_counter(&f.d, info.session, QUOIT_SESSION_HELD_TICKS), 0);
	cr_expect_eq(daemon_session_counter(&f.d, info.session, QUOIT_SESSION_SHARED), SHARED);
	end(&f);
}

Test(acquire, example_runs)
{
	char said[4096];

	cr_expect_eq(tool_run(said, sizeof said, "run -- %s/examples/acquire", tool_folder()), 0,
		     "%s", said);
	cr_expect_not_null(strstr(said, "1000000 x 0.5 = 500000"), "%s", said);
}

/* SPDX-License-Identifier: MIT */
/* test_named.c - tensors with names: memory that several sessions use */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parties.h"

static const struct quoit_shape vector = {.dtype = QUOIT_F32, .dim = {1, 1, 1, N}};
static const struct quoit_shape element = {.dtype = QUOIT_F64, .dim = {1, 1, 1, 1}};

/* As quoit_open_queue and its kin are called. */
static int open_vector(struct quoit_session *s, const char *name,
		       const struct quoit_sync_params *params)
{
	return quoit_open_tensor(s, name, &vector, params);
}

static quoit_tensor attach(struct party *p)
{
	quoit_tensor t = quoit_attach_tensor(p->q, p->number);

	cr_assert_neq(t, QUOIT_NO_TENSOR, "%s", quoit_error_text(p->q));
	return t;
}

static void fill(struct party *p, quoit_tensor t, double value)
{
	cr_assert_eq(quoit_run(p->q, quoit_fill(t, value), SOON_MS), 0, "%s",
		     quoit_error_text(p->q));
}

static void expect(struct party *p, quoit_tensor t, float value)
{
	float got[N];

	cr_assert_eq(quoit_read(p->q, t, got, sizeof got), 0, "%s", quoit_error_text(p->q));
	for (unsigned i = 0; i < N; i++)
		cr_assert_eq(got[i], value, "element %u is %g", i, got[i]);
}

/* The job fails with this error and these words. */
static void fails(struct party *p, struct quoit_sqe sqe, int error, const char *words)
{
	char text[256];

	cr_expect_eq(quoit_run(p->q, sqe, SOON_MS), error);
	quoit_strerror_wait(p->q, error, text, sizeof text);
	cr_expect(strstr(text, words), "%s", text);
}

static int open_existing(struct party *p)
{
	return quoit_open_tensor(p->s, PARTIES_NAME, NULL, NULL);
}

/* Everybody who had it open is going: soon nobody finds it. */
static void expect_gone(struct party *p)
{
	int number = 0;

	for (int left_ms = SOON_MS; left_ms > 0 && number >= 0; left_ms--) {
		number = open_existing(p);
		if (number >= 0)
			quoit_close_sync(p->s, number);
		usleep(1000);
	}
	cr_expect_eq(number, -ENOENT);
}

/* ---- what it is for ---- */

Test(named, what_one_session_writes_another_one_reads)
{
	struct parties t = parties_begin_with(open_vector, NULL);
	quoit_tensor a = attach(&t.a), b = attach(&t.b);

	expect(&t.b, b, 0);
	fill(&t.a, a, 3);
	expect(&t.b, b, 3);
	cr_expect_eq(quoit_run(t.b.q, quoit_add_scalar(b, b, 1), SOON_MS), 0);
	expect(&t.a, a, 4);
	parties_end(&t);
}

Test(named, its_shape_is_known_to_who_only_opens_it)
{
	const struct quoit_shape matrix = {.dtype = QUOIT_I64, .dim = {1, 2, 3, 5}};
	struct parties t = parties_begin();
	struct quoit_shape got;

	t.a.number = party_number(quoit_open_tensor(t.a.s, PARTIES_NAME, &matrix, NULL));
	t.b.number = party_number(open_existing(&t.b));
	cr_assert(quoit_get_shape(t.b.q, attach(&t.b), &got));
	cr_expect_eq(got.dtype, QUOIT_I64);
	cr_expect_arr_eq(got.dim, matrix.dim, sizeof matrix.dim);
	parties_end(&t);
}

/* Both use all that there is: long vectors are tiles of several workers. */
Test(named, large_ones_are_computed_by_workers)
{
	const struct quoit_shape large = {.dtype = QUOIT_F64, .dim = {1, 1, 1024, 2048}};
	struct parties t = parties_begin();
	double sum = 0;
	quoit_tensor to;

	t.a.number = party_number(quoit_open_tensor(t.a.s, PARTIES_NAME, &large, NULL));
	t.b.number = party_number(open_existing(&t.b));
	fill(&t.a, attach(&t.a), 0.5);
	to = quoit_create_vector(t.b.q, QUOIT_F64, 1);
	cr_assert_eq(quoit_push(t.b.q, quoit_sum(to, attach(&t.b), QUOIT_AXIS_ALL)), 0);
	cr_assert_eq(quoit_read(t.b.q, to, &sum, sizeof sum), 0, "%s", quoit_error_text(t.b.q));
	cr_expect_eq(sum, 1 << 20);
	parties_end(&t);
}

Test(named, parts_are_written_by_several_processes)
{
	enum { ROWS = 4, COLUMNS = 1000 };
	const struct quoit_shape matrix = {.dtype = QUOIT_F64, .dim = {1, 1, ROWS, COLUMNS}};
	const struct quoit_shape row = {.dtype = QUOIT_F64, .dim = {1, 1, 1, COLUMNS}};
	struct parties t = parties_begin();
	double got[ROWS][COLUMNS];
	pid_t pid[ROWS];
	int status;

	t.a.number = party_number(quoit_open_tensor(t.a.s, PARTIES_NAME, &matrix, NULL));
	fflush(NULL);
	for (int i = 0; i < ROWS; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			struct party p = party_open(&t.f.d);
			quoit_tensor part;

			p.number = open_existing(&p);
			part = quoit_view(p.q, quoit_attach_tensor(p.q, p.number), &row,
					  (uint64_t)i * COLUMNS * sizeof(double));
			_exit(quoit_run(p.q, quoit_fill(part, i + 1), SOON_MS) != 0 ||
			      quoit_close(p.s, 0) != 0);
		}
	}
	for (int i = 0; i < ROWS; i++) {
		waitpid(pid[i], &status, 0);
		cr_assert_eq(status, 0);
	}
	cr_assert_eq(quoit_read(t.a.q, attach(&t.a), got, sizeof got), 0);
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < COLUMNS; k++)
			cr_assert_eq(got[i][k], i + 1);
	parties_end(&t);
}

/* ---- order ---- */

Test(named, all_that_a_session_attaches_is_one_tensor)
{
	struct parties t = parties_begin_with(open_vector, NULL);
	quoit_tensor one = attach(&t.a), two = attach(&t.a);
	quoit_job job;

	*(float *)acquire(t.a.q, one, QUOIT_ACCESS_WRITE) = 1;
	job = party_start(&t.a, quoit_fill(two, 5));
	party_waits(&t.a, job);
	release(t.a.q, one);
	cr_expect_eq(quoit_wait(t.a.q, job, SOON_MS), 0);
	expect(&t.a, one, 5);
	parties_end(&t);
}

Test(named, sessions_are_not_ordered_by_the_data)
{
	struct parties t = parties_begin_with(open_vector, NULL);
	quoit_tensor a = attach(&t.a), b = attach(&t.b);

	(void)acquire(t.a.q, a, QUOIT_ACCESS_WRITE);
	fill(&t.b, b, 5); /* though the other one holds it */
	release(t.a.q, a);
	parties_end(&t);
}

#define PROCESSES 4
#define ADDITIONS 250

static int add_to(struct party *p, int lock)
{
	quoit_tensor t = quoit_attach_tensor(p->q, p->number);
	int err = 0;

	for (int i = 0; i < ADDITIONS && !err; i++) {
		err = quoit_push(p->q, quoit_lock(lock, t));
		if (!err)
			err = quoit_push(p->q, quoit_add_scalar(t, t, 1));
		if (!err)
			err = quoit_push(p->q, quoit_unlock(lock, t));
	}
	return err ? err : quoit_wait_all(p->q, QUOIT_FOREVER);
}

Test(named, a_lock_keeps_additions_of_processes_apart)
{
	struct parties t = parties_begin();
	pid_t pid[PROCESSES];
	double sum = 0;
	int status;

	t.a.number = party_number(quoit_open_tensor(t.a.s, PARTIES_NAME, &element, NULL));
	fflush(NULL);
	for (int i = 0; i < PROCESSES; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			struct party p = party_open(&t.f.d);

			p.number = open_existing(&p);
			_exit(add_to(&p, quoit_open_lock(p.s, "lock", NULL)) != 0 ||
			      quoit_close(p.s, 0) != 0);
		}
	}
	for (int i = 0; i < PROCESSES; i++) {
		waitpid(pid[i], &status, 0);
		cr_assert_eq(status, 0);
	}
	cr_assert_eq(quoit_read(t.a.q, attach(&t.a), &sum, sizeof sum), 0);
	cr_expect_eq(sum, PROCESSES * ADDITIONS);
	parties_end(&t);
}

/* ---- pointers ---- */

Test(named, its_maker_writes_and_others_read_the_same_bytes)
{
	struct parties t = parties_begin_with(open_vector, NULL);
	quoit_tensor a = attach(&t.a), b = attach(&t.b);
	float *mine = (float *)acquire(t.a.q, a, QUOIT_ACCESS_WRITE);
	const float *theirs = (const float *)acquire(t.b.q, b, QUOIT_ACCESS_READ);

	cr_assert_neq(mine, theirs);
	for (unsigned i = 0; i < N; i++)
		mine[i] = (float)i;
	for (unsigned i = 0; i < N; i++)
		cr_assert_eq(theirs[i], (float)i);
	release(t.a.q, a);
	release(t.b.q, b);
	parties_end(&t);
}

Test(named, a_pointer_is_to_the_first_element_of_a_view)
{
	const struct quoit_shape part = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 10}};
	struct parties t = parties_begin_with(open_vector, NULL);
	quoit_tensor all = attach(&t.a), view = quoit_view(t.a.q, all, &part, 40 * sizeof(float));
	float *at = (float *)acquire(t.a.q, view, QUOIT_ACCESS_WRITE);
	float got[N];

	at[0] = 7;
	release(t.a.q, view);
	cr_assert_eq(quoit_read(t.a.q, all, got, sizeof got), 0);
	cr_expect_eq(got[39], 0);
	cr_expect_eq(got[40], 7);
	parties_end(&t);
}

Test(named, only_its_maker_acquires_it_for_writing)
{
	struct parties t = parties_begin_with(open_vector, NULL);
	void *at;

	cr_expect_eq(quoit_acquire(t.b.q, attach(&t.b), QUOIT_ACCESS_WRITE, SOON_MS, &at), -EACCES);
	cr_expect(strstr(quoit_error_text(t.b.q), "only the session that made a tensor"), "%s",
		  quoit_error_text(t.b.q));
	parties_end(&t);
}

/* ---- who may do what ---- */

Test(named, who_only_reads_it_writes_nothing_and_goes_on_reading)
{
	const struct quoit_sync_params reads = {.flags = QUOIT_SYNC_READ_ONLY};
	struct parties t = parties_begin();
	quoit_tensor b, x;

	t.a.number = party_number(open_vector(t.a.s, PARTIES_NAME, NULL));
	t.b.number = party_number(open_vector(t.b.s, PARTIES_NAME, &reads));
	fill(&t.a, attach(&t.a), 2);
	b = attach(&t.b);
	/* a short job; one with a view; a large one is tested by the same rule */
	fails(&t.b, quoit_add_scalar(b, b, 1), -EACCES,
	      "tensor 0 has a name, and is open for reading only");
	x = quoit_view(t.b.q, b, &vector, 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_fill(x, 1), SOON_MS), -EACCES);
	x = quoit_create_vector(t.b.q, QUOIT_F32, N);
	cr_expect_eq(quoit_run(t.b.q, quoit_copy(b, x), SOON_MS), -EACCES);
	cr_expect_eq(quoit_run(t.b.q, quoit_add_scalar(x, b, 1), SOON_MS), 0);
	expect(&t.b, x, 3);
	expect(&t.b, b, 2);
	parties_end(&t);
}

Test(named, a_session_that_reads_it_must_close_it_before_it_writes)
{
	const struct quoit_sync_params reads = {.flags = QUOIT_SYNC_READ_ONLY};
	struct parties t = parties_begin();
	int number;

	t.a.number = party_number(open_vector(t.a.s, PARTIES_NAME, NULL));
	number = party_number(open_vector(t.b.s, PARTIES_NAME, &reads));
	cr_expect_eq(open_vector(t.b.s, PARTIES_NAME, NULL), -EACCES);
	cr_expect(strstr(quoit_open_text(), "close it first"), "%s", quoit_open_text());
	cr_expect_eq(quoit_close_sync(t.b.s, number), 0);
	t.b.number = party_number(open_vector(t.b.s, PARTIES_NAME, NULL));
	fill(&t.b, attach(&t.b), 1);
	parties_end(&t);
}

Test(named, a_reader_makes_none)
{
	const struct quoit_sync_params reads = {.flags = QUOIT_SYNC_READ_ONLY};
	struct parties t = parties_begin();

	cr_expect_eq(open_vector(t.a.s, PARTIES_NAME, &reads), -ENOENT);
	parties_end(&t);
}

/* ---- refusals ---- */

static void refused(struct party *p, const struct quoit_shape *shape,
		    const struct quoit_sync_params *params, int error, const char *words)
{
	cr_expect_eq(quoit_open_tensor(p->s, PARTIES_NAME, shape, params), error, "%s", words);
	cr_expect(strstr(quoit_open_text(), words), "%s", quoit_open_text());
}

Test(named, another_shape_is_refused)
{
	const struct quoit_shape shorter = {.dtype = QUOIT_F32, .dim = {1, 1, 1, N - 1}};
	const struct quoit_shape doubles = {.dtype = QUOIT_F64, .dim = {1, 1, 1, N}};
	struct parties t = parties_begin();

	t.a.number = party_number(open_vector(t.a.s, PARTIES_NAME, NULL));
	refused(&t.b, &shorter, NULL, -EINVAL, "dims 1, 1, 1, 1024: another one was asked for");
	refused(&t.b, &doubles, NULL, -EINVAL, "has type 0");
	t.b.number = party_number(open_vector(t.b.s, PARTIES_NAME, NULL));
	parties_end(&t);
}

Test(named, a_shape_that_cannot_be_is_refused)
{
	const struct quoit_shape none = {.dtype = QUOIT_F32, .dim = {1, 1, 0, 4}};
	const struct quoit_shape strided = {
		.dtype = QUOIT_F32, .dim = {1, 1, 1, 4}, .stride = {0, 0, 0, 2}};
	const struct quoit_shape huge = {.dtype = QUOIT_F32, .dim = {1, 1 << 20, 1 << 20, 1 << 20}};
	const struct quoit_shape large = {.dtype = QUOIT_F32, .dim = {1, 1, 1 << 16, 1 << 20}};
	const struct quoit_sync_params both = {.flags = QUOIT_SYNC_MUST_EXIST |
							QUOIT_SYNC_MUST_BE_NEW};
	const struct quoit_sync_params fresh = {.flags = QUOIT_SYNC_MUST_BE_NEW};
	struct parties t = parties_begin();

	refused(&t.a, &none, NULL, -EINVAL, "dim 2 is 0");
	refused(&t.a, &strided, NULL, -EINVAL, "stride 2");
	refused(&t.a, &huge, NULL, -EINVAL, "more bytes than any session has");
	refused(&t.a, &large, NULL, -EDQUOT, "KiB of");
	refused(&t.a, NULL, NULL, -ENOENT, "has no 'it'");
	refused(&t.a, &vector, &both, -EINVAL, "flags");
	refused(&t.a, NULL, &fresh, -EINVAL, "needs a shape");
	t.a.number = party_number(open_vector(t.a.s, PARTIES_NAME, &fresh));
	refused(&t.b, &vector, &fresh, -EEXIST, "there is a tensor 'it' already");
	cr_expect_eq(quoit_open_lock(t.b.s, PARTIES_NAME, NULL), -EINVAL);
	parties_end(&t);
}

Test(named, a_number_of_something_else_attaches_nothing)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);

	cr_expect_eq(quoit_attach_tensor(t.a.q, t.a.number), QUOIT_NO_TENSOR);
	cr_expect(strstr(quoit_error_text(t.a.q), "not a number of quoit_open_tensor"), "%s",
		  quoit_error_text(t.a.q));
	cr_expect_eq(quoit_attach_tensor(t.a.q, -ENOENT), QUOIT_NO_TENSOR);
	cr_expect_eq(quoit_attach_tensor(t.a.q, 0x7fffff00), QUOIT_NO_TENSOR);
	parties_end(&t);
}

Test(named, no_device_reaches_it)
{
	const char *options[] = {"--gpu=soft", NULL};
	struct fixture f = begin_as(options, SHARED, NULL);
	struct party p = party_open(&f.d);
	quoit_tensor t, there;

	p.number = party_number(open_vector(p.s, PARTIES_NAME, NULL));
	t = attach(&p);
	there = quoit_create(p.q, &vector, QUOIT_CREATE_ON(1));
	cr_assert_neq(there, QUOIT_NO_TENSOR);
	fails(&p, quoit_copy(there, t), -ENOTSUP, "no device, module or service reaches it");
	quoit_close(p.s, 0);
	end(&f);
}

/* ---- failures ---- */

Test(named, poison_is_of_the_session_whose_job_has_failed)
{
	struct parties t = parties_begin_with(open_vector, NULL);
	const struct quoit_shape one = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 1}};
	quoit_tensor a = attach(&t.a), b = attach(&t.b);

	fill(&t.b, b, 1);
	party_poison(&t.a, quoit_view(t.a.q, a, &one, 0));
	expect(&t.b, b, 1);
	quoit_free(t.a.q, a);
	parties_end(&t);
}

/* ---- its end ---- */

Test(named, it_ends_with_the_last_that_has_it_open)
{
	struct parties t = parties_begin_with(open_vector, NULL);
	quoit_tensor b = attach(&t.b);

	fill(&t.a, attach(&t.a), 6);
	cr_expect_eq(quoit_close(t.a.s, 0), 0);
	expect(&t.b, b, 6);
	t.a = party_open(&t.f.d);
	t.a.number = party_number(open_existing(&t.a));
	expect(&t.a, attach(&t.a), 6);
	quoit_close(t.a.s, 0);
	quoit_close(t.b.s, 0);
	t.a = party_open(&t.f.d);
	t.b = party_open(&t.f.d);
	expect_gone(&t.a);
	t.a.number = party_number(open_vector(t.a.s, PARTIES_NAME, NULL));
	expect(&t.a, attach(&t.a), 0);
	parties_end(&t);
}

static int make_and_fill(struct party *p, int value)
{
	p->number = open_vector(p->s, PARTIES_NAME, NULL);
	return quoit_run(p->q, quoit_fill(quoit_attach_tensor(p->q, p->number), value), SOON_MS);
}

Test(named, it_survives_its_maker)
{
	struct parties t = parties_begin();
	pid_t pid = party_fork(&t.f.d, 0, make_and_fill, 8);
	quoit_tensor a;

	t.a.number = party_number(open_existing(&t.a));
	party_kill(pid);
	a = attach(&t.a);
	expect(&t.a, a, 8);
	fill(&t.a, a, 9);
	t.b.number = party_number(open_existing(&t.b));
	expect(&t.b, attach(&t.b), 9);
	parties_end(&t);
}

Test(named, its_tensors_can_be_freed_after_it_was_closed)
{
	struct parties t = parties_begin();
	quoit_tensor a, copy;

	t.a.number = party_number(open_vector(t.a.s, PARTIES_NAME, NULL));
	a = attach(&t.a);
	copy = quoit_view(t.a.q, a, &vector, 0);
	fill(&t.a, a, 4);
	cr_expect_eq(quoit_close_sync(t.a.s, t.a.number), 0);
	expect(&t.a, a, 4);
	cr_expect_eq(quoit_attach_tensor(t.a.q, t.a.number), QUOIT_NO_TENSOR);
	quoit_free(t.a.q, a);
	expect(&t.a, copy, 4);
	t.b.number = open_existing(&t.b);
	cr_expect_geq(t.b.number, 0, "it is there as long as somebody uses it");
	quoit_close_sync(t.b.s, t.b.number);
	quoit_free(t.a.q, copy);
	cr_assert_eq(quoit_flush(t.a.q), 0);
	expect_gone(&t.b);
	parties_end(&t);
}

Test(named, a_job_that_uses_it_keeps_it)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);
	quoit_tensor it, mine = quoit_create_vector(t.b.q, QUOIT_F32, N);
	int number = party_number(open_vector(t.b.s, "vector", NULL));

	it = quoit_attach_tensor(t.b.q, number);
	fill(&t.b, it, 3);
	cr_assert_eq(quoit_run(t.a.q, quoit_lock(t.a.number, QUOIT_NO_TENSOR), SOON_MS), 0);
	(void)party_start(&t.b, quoit_lock(t.b.number, mine)); /* it waits, and so does this: */
	cr_assert_eq(quoit_push(t.b.q, quoit_add_scalar(mine, it, 1)), 0);
	quoit_free(t.b.q, it);
	cr_assert_eq(quoit_flush(t.b.q), 0);
	cr_expect_eq(quoit_close_sync(t.b.s, number), 0);
	cr_assert_eq(quoit_run(t.a.q, quoit_unlock(t.a.number, QUOIT_NO_TENSOR), SOON_MS), 0);
	expect(&t.b, mine, 4);
	parties_end(&t);
}

Test(named, its_memory_is_charged_until_it_has_gone)
{
	const char *options[] = {"--memory=512M", NULL};
	const struct quoit_shape large = {.dtype = QUOIT_F32, .dim = {1, 1, 64, 1 << 20}};
	struct fixture f = begin_as(options, SHARED, NULL);
	struct party p = party_open(&f.d);
	int number = party_number(quoit_open_tensor(p.s, "large", &large, NULL)), again;

	cr_expect_eq(quoit_open_tensor(p.s, "other", &large, NULL), -EDQUOT);
	cr_expect_eq(quoit_close_sync(p.s, number), 0);
	for (int left_ms = SOON_MS; left_ms > 0; left_ms--) {
		again = quoit_open_tensor(p.s, "other", &large, NULL);
		if (again != -EDQUOT)
			break;
		usleep(1000);
	}
	cr_expect_geq(again, 0, "%s", quoit_open_text());
	quoit_close(p.s, 0);
	end(&f);
}

/* ---- several at once ---- */

static void *open_it(void *of)
{
	struct party *p = of;

	p->number = open_vector(p->s, PARTIES_NAME, NULL);
	return NULL;
}

Test(named, two_that_make_it_at_once_have_the_same)
{
	struct parties t = parties_begin();

	for (int i = 0; i < 50; i++) {
		pthread_t thread;
		quoit_tensor a, b;

		cr_assert_eq(pthread_create(&thread, NULL, open_it, &t.a), 0);
		open_it(&t.b);
		pthread_join(thread, NULL);
		a = attach(&t.a);
		b = attach(&t.b);
		fill(&t.a, a, i);
		expect(&t.b, b, (float)i);
		quoit_free(t.a.q, a);
		quoit_free(t.b.q, b);
		cr_assert_eq(quoit_close_sync(t.a.s, t.a.number), 0);
		cr_assert_eq(quoit_close_sync(t.b.s, t.b.number), 0);
	}
	parties_end(&t);
}

/* A thread opens and closes all the time what the other one uses. */
static void *open_and_close(void *of)
{
	struct party *p = of;

	for (int i = 0; i < 500; i++) {
		int number = open_existing(p);

		if (number >= 0)
			quoit_close_sync(p->s, number);
	}
	return NULL;
}

Test(named, threads_of_its_maker_open_and_close_it)
{
	struct parties t = parties_begin_with(open_vector, NULL);
	pthread_t thread;
	quoit_tensor a = attach(&t.a);

	cr_assert_eq(pthread_create(&thread, NULL, open_and_close, &t.a), 0);
	for (int i = 0; i < 500; i++) {
		*(float *)acquire(t.a.q, a, QUOIT_ACCESS_WRITE) = (float)i;
		release(t.a.q, a);
		quoit_close_sync(t.a.s, open_existing(&t.a));
	}
	pthread_join(thread, NULL);
	parties_end(&t);
}

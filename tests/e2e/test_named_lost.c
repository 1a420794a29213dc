/* SPDX-License-Identifier: MIT */
/*
 * test_named_lost.c - a page of a tensor with a name cannot be read any more: jobs that use the
 * tensor fail, and nothing else does
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lose.h"
#include "parties.h"

/* Four pages; and so many that workers compute on it. */
static const struct quoit_shape small = {.dtype = QUOIT_F32, .dim = {1, 1, 4, N}};
static const struct quoit_shape large = {.dtype = QUOIT_F32, .dim = {1, 1, 4096, N}};

#define LOST "has a name, and its memory was lost"

struct lost {
	struct daemon d;
	struct party a, b;
	quoit_tensor of_a, of_b; /* the tensor, of each of the two */
};

static quoit_tensor attach(struct party *p)
{
	quoit_tensor t = quoit_attach_tensor(p->q, p->number);

	cr_assert_neq(t, QUOIT_NO_TENSOR, "%s", quoit_error_text(p->q));
	return t;
}

static void fill(struct party *p, quoit_tensor t, double value)
{
	struct quoit_shape shape;

	cr_assert(quoit_get_shape(p->q, t, &shape));
	cr_assert_eq(quoit_run(p->q,
			       shape.dtype == QUOIT_F32 ? quoit_fill(t, value)
							: quoit_fill_int(t, (int64_t)value),
			       SOON_MS),
		     0, "%s", quoit_error_text(p->q));
}

static void prepare(const struct daemon *d)
{
	cr_assert_eq(daemon_log_to_file(d), 0);
}

/* Both have it open and have used it. */
static struct lost begin_whole(const struct quoit_shape *shape)
{
	struct lost l = {0};

	cr_assert_eq(daemon_start_prepared(&l.d, NULL, prepare), 0);
	l.a = party_open(&l.d);
	l.b = party_open(&l.d);
	l.a.number = party_number(quoit_open_tensor(l.a.s, PARTIES_NAME, shape, NULL));
	l.b.number = party_number(quoit_open_tensor(l.b.s, PARTIES_NAME, NULL, NULL));
	l.of_a = attach(&l.a);
	l.of_b = attach(&l.b);
	fill(&l.a, l.of_a, 1);
	fill(&l.b, l.of_b, 2);
	return l;
}

static struct lost begin_lost(const struct quoit_shape *shape, unsigned page)
{
	struct lost l = begin_whole(shape);

	lose_page(&l.d, page);
	return l;
}

static void fails(struct party *p, struct quoit_sqe sqe)
{
	char text[256];

	cr_expect_eq(quoit_run(p->q, sqe, SOON_MS), -EFAULT);
	quoit_strerror_wait(p->q, -EFAULT, text, sizeof text);
	cr_expect(strstr(text, LOST), "%s", text);
}

/* The session goes on, and so does quoitd. */
static void works(struct party *p)
{
	quoit_tensor x = quoit_create_vector(p->q, QUOIT_F32, N);
	float got[N];

	fill(p, x, 5);
	cr_assert_eq(quoit_read(p->q, x, got, sizeof got), 0, "%s", quoit_error_text(p->q));
	cr_expect_eq(got[N - 1], 5);
	cr_expect_eq(quoit_free(p->q, x), 0);
}

static void end_lost(struct lost *l)
{
	works(&l->a);
	works(&l->b);
	quoit_close(l->a.s, QUOIT_CLOSE_CANCEL);
	quoit_close(l->b.s, QUOIT_CLOSE_CANCEL);
	daemon_stop(&l->d);
}

/* ---- jobs that compute ---- */

Test(named_lost, job_that_writes_it_fails)
{
	struct lost l = begin_lost(&small, 1);

	fails(&l.a, quoit_fill(l.of_a, 3));
	end_lost(&l);
}

Test(named_lost, job_that_reads_it_fails_and_so_do_those_that_read_its_output)
{
	struct lost l = begin_lost(&small, 3);
	quoit_tensor x = quoit_create(l.a.q, &small, 0), y = quoit_create(l.a.q, &small, 0);

	fails(&l.a, quoit_add_scalar(x, l.of_a, 1));
	cr_expect_eq(quoit_run(l.a.q, quoit_copy(y, x), SOON_MS), -QUOIT_EPOISON);
	end_lost(&l);
}

/* Such jobs take a short cut. */
Test(named_lost, short_job_without_an_answer_fails)
{
	static const struct quoit_shape few = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 16}};
	struct lost l = begin_lost(&few, 0);
	quoit_tensor x = quoit_create(l.a.q, &few, 0), y = quoit_create(l.b.q, &few, 0);

	fill(&l.a, x, 4);
	fill(&l.b, y, 4);
	cr_assert_eq(quoit_push(l.a.q, quoit_add_scalar(x, l.of_a, 1)), 0);
	cr_expect_eq(quoit_wait_tensor(l.a.q, x, SOON_MS), -QUOIT_EPOISON);
	cr_assert_eq(quoit_push(l.b.q, quoit_add_scalar(l.of_b, y, 1)), 0);
	cr_expect_eq(quoit_wait_tensor(l.b.q, l.of_b, SOON_MS), -QUOIT_EPOISON);
	end_lost(&l);
}

Test(named_lost, job_in_tiles_fails)
{
	struct lost l = begin_lost(&large, 2048);
	quoit_tensor x = quoit_create_vector(l.a.q, QUOIT_F32, 1);

	fails(&l.a, quoit_sum(x, l.of_a, QUOIT_AXIS_ALL));
	fails(&l.a, quoit_fill(l.of_a, 3));
	end_lost(&l);
}

#define ROUNDS 8

/* Workers begin the next one before anybody else hears that the one before it has ended. */
Test(named_lost, jobs_in_a_line_fail)
{
	struct lost l = begin_lost(&large, 100);
	quoit_tensor x = quoit_create(l.a.q, &large, 0), y = quoit_create(l.a.q, &large, 0);

	for (unsigned i = 0; i < ROUNDS; i++) {
		quoit_job first, second;

		fill(&l.a, x, 0);
		fill(&l.a, y, 0);
		cr_assert_eq(quoit_start(l.a.q, quoit_add_scalar(x, l.of_a, 1), &first), 0);
		second = party_start(&l.a, quoit_add_scalar(y, x, 1));
		cr_expect_eq(quoit_wait(l.a.q, first, SOON_MS), -EFAULT);
		cr_expect_eq(quoit_wait(l.a.q, second, SOON_MS), -QUOIT_EPOISON);
	}
	end_lost(&l);
}

/* It sees zeros by then, and no signal. */
Test(named_lost, others_that_use_it_fail_too)
{
	struct lost l = begin_lost(&large, 5);
	quoit_tensor x = quoit_create_vector(l.b.q, QUOIT_F32, 1);

	fails(&l.a, quoit_fill(l.of_a, 3));
	fails(&l.b, quoit_sum(x, l.of_b, QUOIT_AXIS_ALL));
	fails(&l.b, quoit_fill(l.of_b, 3));
	end_lost(&l);
}

/* ---- jobs that copy ---- */

static int open_queue(struct party *p)
{
	return party_number(quoit_open_queue(p->s, "queue", NULL));
}

Test(named_lost, message_of_it_is_not_sent)
{
	struct lost l = begin_lost(&small, 2);
	int from = open_queue(&l.a), to = open_queue(&l.b);
	quoit_tensor got;

	fails(&l.a, quoit_send(from, l.of_a));
	fails(&l.a, quoit_send_rows(from, l.of_a));
	cr_expect_eq(quoit_receive_next(l.b.q, to, SHORT_MS, &got), -ETIME);
	end_lost(&l);
}

Test(named_lost, message_is_not_received_into_it)
{
	struct lost l = begin_lost(&small, 2);
	int from = open_queue(&l.b), to = open_queue(&l.a);
	quoit_tensor x = quoit_create(l.b.q, &small, 0), got;

	fill(&l.b, x, 7);
	cr_assert_eq(quoit_run(l.b.q, quoit_send(from, x), SOON_MS), 0);
	fails(&l.a, quoit_receive(to, l.of_a));
	cr_assert_eq(quoit_run(l.b.q, quoit_send_rows(from, x), SOON_MS), 0);
	cr_expect_eq(quoit_receive_next(l.a.q, to, SOON_MS, &got), 0, "it has stayed");
	fails(&l.a, quoit_receive_rows(to, l.of_a));
	cr_expect_eq(quoit_receive_next(l.a.q, to, SOON_MS, &got), 0, "it has stayed");
	end_lost(&l);
}

Test(named_lost, value_of_it_is_not_put)
{
	static const struct quoit_shape word = {.dtype = QUOIT_I32, .dim = {1, 1, 1, 2}};
	struct lost l = begin_lost(&word, 0);
	int keys = party_number(quoit_open_keyspace(l.a.s, "keys", NULL));
	quoit_tensor key = quoit_create_vector(l.a.q, QUOIT_I32, 1);
	char value[8];

	cr_assert_eq(quoit_push(l.a.q, quoit_fill_int(key, 0x6b6b6b6b)), 0); /* "kkkk" */
	cr_expect_eq(quoit_run(l.a.q, quoit_put_job(keys, key, l.of_a, 8, QUOIT_ANY_REVISION, 0),
			       SOON_MS),
		     -EFAULT);
	cr_expect_eq(quoit_get_value(l.a.q, keys, "kkkk", value, sizeof value, NULL), -ENOENT);
	end_lost(&l);
}

static int add_file(struct party *p)
{
	FILE *file = tmpfile();
	int number;

	cr_assert(file);
	cr_assert_eq(fwrite(&number, sizeof number, 1, file), 1);
	cr_assert_eq(fflush(file), 0);
	number = quoit_add_file(p->s, fileno(file));
	cr_assert_geq(number, 0, "%s", quoit_open_text());
	fclose(file);
	return number;
}

/* Here the kernel meets the page, and says so; later on it meets zeros. */
Test(named_lost, file_is_not_written_from_it_or_read_into_it)
{
	struct lost l = begin_lost(&small, 2);
	int file = add_file(&l.a);

	cr_expect_eq(quoit_run(l.a.q, quoit_write_file(l.of_a, file, 0), SOON_MS), -EFAULT);
	fails(&l.b, quoit_fill(l.of_b, 3));
	fails(&l.a, quoit_write_file(l.of_a, file, 0));
	fails(&l.a, quoit_read_file(l.of_a, file, 0));
	end_lost(&l);
}

/* ---- those who have it open ---- */

Test(named_lost, journal_says_so_once)
{
	struct lost l = begin_lost(&small, 1);

	fails(&l.a, quoit_fill(l.of_a, 3));
	fails(&l.b, quoit_fill(l.of_b, 3));
	fails(&l.a, quoit_fill(l.of_a, 3));
	cr_expect_eq(daemon_log_count(&l.d, "the tensor 'it' of uid", 1), 1);
	end_lost(&l);
}

/* Nobody has used that page; the guard stays for those that are used. */
Test(named_lost, word_of_a_broken_page_ends_nothing)
{
	struct lost l = begin_whole(&small);

	lose_warn(&l.d);
	works(&l.a);
	lose_page(&l.d, 1);
	fails(&l.a, quoit_fill(l.of_a, 3));
	end_lost(&l);
}

/* Jobs of any tensor in this session must not be worse off for the loss. */
Test(named_lost, tensors_that_are_whole_go_on)
{
	struct lost l = begin_lost(&small, 1);
	quoit_tensor other;

	l.a.number = party_number(quoit_open_tensor(l.a.s, "other", &large, NULL));
	other = attach(&l.a);
	fails(&l.b, quoit_fill(l.of_b, 3));
	for (unsigned i = 0; i < 4; i++)
		fill(&l.a, other, i);
	fails(&l.a, quoit_fill(l.of_a, 3));
	fill(&l.a, other, 7);
	end_lost(&l);
}

static int borrow(struct party *p, quoit_tensor t)
{
	void *at;
	int err = quoit_acquire(p->q, t, QUOIT_ACCESS_READ, SOON_MS, &at);

	if (!err)
		cr_expect_eq(quoit_release_tensor(p->q, t), 0);
	return err;
}

/* One has its memory already, the other one would get it now. */
Test(named_lost, nobody_acquires_it)
{
	struct lost l = begin_whole(&small);

	cr_expect_eq(borrow(&l.a, l.of_a), 0);
	lose_page(&l.d, 0);
	fails(&l.b, quoit_fill(l.of_b, 3));
	cr_expect_eq(borrow(&l.a, l.of_a), -EFAULT);
	cr_expect_eq(borrow(&l.b, l.of_b), -EFAULT);
	end_lost(&l);
}

Test(named_lost, its_name_can_be_given_to_a_new_one)
{
	struct lost l = begin_lost(&small, 1);
	float got[N];
	quoit_tensor b;

	fails(&l.a, quoit_fill(l.of_a, 3));
	l.b.number = party_number(
		quoit_open_tensor(l.b.s, PARTIES_NAME, &small,
				  &(struct quoit_sync_params){.flags = QUOIT_SYNC_MUST_BE_NEW}));
	b = attach(&l.b);
	fill(&l.b, b, 6);
	l.a.number = party_number(quoit_open_tensor(l.a.s, PARTIES_NAME, NULL, NULL));
	b = quoit_view(l.a.q, attach(&l.a),
		       &(struct quoit_shape){.dtype = QUOIT_F32, .dim = {1, 1, 1, N}}, 0);
	cr_assert_eq(quoit_read(l.a.q, b, got, sizeof got), 0, "%s", quoit_error_text(l.a.q));
	cr_expect_eq(got[0], 6);
	fails(&l.a, quoit_fill(l.of_a, 3));
	fails(&l.b, quoit_fill(l.of_b, 3));
	end_lost(&l);
}

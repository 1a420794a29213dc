/* SPDX-License-Identifier: MIT */
/* test_queue.c - tensors that go from session to session through a queue */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parties.h"

static quoit_tensor number(struct party *p, double value)
{
	quoit_tensor t = quoit_create_vector(p->q, QUOIT_F32, 1);

	cr_assert_eq(quoit_push(p->q, quoit_fill(t, value)), 0);
	return t;
}

static float value_of(struct party *p, quoit_tensor t)
{
	float value = -1;

	cr_expect_eq(quoit_read(p->q, t, &value, sizeof value), 0, "%s", quoit_error_text(p->q));
	return value;
}

Test(queue, messages_come_in_the_order_in_which_they_were_sent)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	const int a = t.a.number, b = t.b.number;
	quoit_tensor got = quoit_create_vector(t.b.q, QUOIT_F32, 1);

	for (int i = 0; i < 300; i++) {
		quoit_tensor sent = number(&t.a, i);

		cr_assert_eq(quoit_push(t.a.q, quoit_send(a, sent)), 0);
		quoit_free(t.a.q, sent);
		cr_assert_eq(quoit_flush(t.a.q), 0);
		if (i < 10) /* some are there before they are asked for */
			continue;
		cr_assert_eq(quoit_run(t.b.q, quoit_receive(b, got), SOON_MS), 0);
		cr_assert_eq(value_of(&t.b, got), (float)(i - 10));
	}
	parties_end(&t);
}

Test(queue, sender_waits_while_it_is_full_and_receiver_while_it_is_empty)
{
	const struct quoit_sync_params two = {.value = 2};
	struct parties t = parties_begin_with(quoit_open_queue, &two);
	const int a = t.a.number, b = t.b.number;
	quoit_tensor x = number(&t.a, 1), got = quoit_create_vector(t.b.q, QUOIT_F32, 1);
	quoit_job third, none;

	cr_expect_eq(quoit_run(t.a.q, quoit_send(a, x), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.a.q, quoit_send(a, x), SOON_MS), 0);
	third = party_start(&t.a, quoit_send(a, x));
	party_waits(&t.a, third);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive(b, got), SOON_MS), 0);
	cr_expect_eq(quoit_wait(t.a.q, third, SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive(b, got), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive(b, got), SOON_MS), 0);
	none = party_start(&t.b, quoit_receive(b, got));
	party_waits(&t.b, none);
	cr_expect_eq(quoit_cancel(t.b.q, none), 0);
	cr_expect_eq(quoit_wait(t.b.q, none, SOON_MS), -ECANCELED);
	cr_expect_eq(quoit_run(t.a.q, quoit_send(a, x), SOON_MS), 0, "nobody got it instead");
	got = quoit_create_vector(t.b.q, QUOIT_F32, 1);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive(b, got), SOON_MS), 0);
	parties_end(&t);
}

/* ---- order ---- */

/* A tensor of the first session whose jobs wait until release(). */
static quoit_tensor held(struct parties *t)
{
	const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 1}};
	quoit_tensor x = quoit_create(t->a.q, &shape, QUOIT_CREATE_SHARED);

	cr_assert_neq(x, QUOIT_NO_TENSOR, "%s", quoit_error_text(t->a.q));
	*(float *)acquire(t->a.q, x, QUOIT_ACCESS_WRITE) = 1;
	return x;
}

static void expect_next(struct party *p, int queue, float value)
{
	quoit_tensor got = quoit_create_vector(p->q, QUOIT_F32, 1);

	cr_expect_eq(quoit_run(p->q, quoit_receive(queue, got), SOON_MS), 0);
	cr_expect_eq(value_of(p, got), value);
	quoit_free(p->q, got);
}

Test(queue, what_has_its_data_first_does_not_overtake)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor first = held(&t);
	quoit_job second;

	(void)party_start(&t.a, quoit_send(t.a.number, first));
	second = party_start(&t.a, quoit_send(t.a.number, number(&t.a, 2)));
	party_waits(&t.a, second);
	release(t.a.q, first);
	expect_next(&t.b, t.b.number, 1);
	expect_next(&t.b, t.b.number, 2);
	parties_end(&t);
}

Test(queue, what_is_sent_behind_a_tensor_waits_for_it_and_moves_only_the_message)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor large = held(&t), small = number(&t.a, 5);
	quoit_job sent = party_start(&t.a, quoit_send_behind(t.a.number, small, large));

	party_waits(&t.a, sent);
	release(t.a.q, large);
	cr_expect_eq(quoit_wait(t.a.q, sent, SOON_MS), 0);
	expect_next(&t.b, t.b.number, 5);
	parties_end(&t);
}

Test(queue, what_is_sent_behind_a_tensor_waits_for_those_who_read_it)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor large = held(&t), small = number(&t.a, 5);
	quoit_job sent;

	release(t.a.q, large);
	(void)acquire(t.a.q, large, QUOIT_ACCESS_READ);
	sent = party_start(&t.a, quoit_send_behind(t.a.number, small, large));
	party_waits(&t.a, sent);
	release(t.a.q, large);
	cr_expect_eq(quoit_wait(t.a.q, sent, SOON_MS), 0);
	parties_end(&t);
}

Test(queue, a_send_that_fails_poisons_no_tensor)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor large = held(&t), small = number(&t.a, 5);
	quoit_job sent;

	release(t.a.q, large);
	(void)acquire(t.a.q, large, QUOIT_ACCESS_READ);
	sent = party_start(&t.a, quoit_send_behind(t.a.number, small, large));
	cr_expect_eq(quoit_cancel(t.a.q, sent), 0);
	release(t.a.q, large);
	cr_expect_eq(quoit_wait(t.a.q, sent, SOON_MS), -ECANCELED);
	cr_expect_eq(value_of(&t.a, large), 1);
	cr_expect_eq(value_of(&t.a, small), 5);
	parties_end(&t);
}

Test(queue, behind_what_is_poisoned_nothing_is_sent)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor poisoned = quoit_create_vector(t.a.q, QUOIT_F32, 1), small = number(&t.a, 5);

	party_poison(&t.a, poisoned);
	cr_expect_eq(quoit_run(t.a.q, quoit_send_behind(t.a.number, small, poisoned), SOON_MS),
		     -QUOIT_EPOISON);
	cr_expect_eq(quoit_run(t.a.q, quoit_send(t.a.number, number(&t.a, 6)), SOON_MS), 0);
	expect_next(&t.b, t.b.number, 6);
	parties_end(&t);
}

Test(queue, what_fails_before_it_was_sent_keeps_nothing_behind_it)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor first = held(&t), poisoned = quoit_create_vector(t.a.q, QUOIT_F32, 1);
	quoit_job cancelled, late, last;

	party_poison(&t.a, poisoned);
	cancelled = party_start(&t.a, quoit_send(t.a.number, first));
	late = party_start(&t.a, quoit_with_deadline(quoit_send(t.a.number, first), 1000));
	(void)party_start(&t.a, quoit_send(t.a.number, poisoned));
	last = party_start(&t.a, quoit_send(t.a.number, number(&t.a, 4)));
	party_waits(&t.a, last);
	cr_expect_eq(quoit_cancel(t.a.q, cancelled), 0);
	cr_expect_eq(quoit_wait(t.a.q, late, SOON_MS), -ETIME);
	release(t.a.q, first);
	cr_expect_eq(quoit_wait(t.a.q, last, SOON_MS), 0);
	cr_expect_eq(quoit_wait(t.a.q, cancelled, SOON_MS), -ECANCELED);
	expect_next(&t.b, t.b.number, 4);
	parties_end(&t);
}

Test(queue, receivers_of_one_ring_get_messages_in_the_order_in_which_they_asked)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor first = held(&t), second = quoit_create_vector(t.a.q, QUOIT_F32, 1);
	quoit_job jobs[2];

	jobs[0] = party_start(&t.a, quoit_receive(t.a.number, first));
	jobs[1] = party_start(&t.a, quoit_receive(t.a.number, second));
	cr_expect_eq(quoit_run(t.b.q, quoit_send(t.b.number, number(&t.b, 1)), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_send(t.b.number, number(&t.b, 2)), SOON_MS), 0);
	party_waits(&t.a, jobs[1]);
	release(t.a.q, first);
	cr_expect_eq(quoit_wait(t.a.q, jobs[0], SOON_MS), 0);
	cr_expect_eq(quoit_wait(t.a.q, jobs[1], SOON_MS), 0);
	cr_expect_eq(value_of(&t.a, first), 1);
	cr_expect_eq(value_of(&t.a, second), 2);
	parties_end(&t);
}

/* A message of the other ring does not wait for what holds up this one. */
Test(queue, rings_do_not_wait_for_each_other)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor first = held(&t), other;
	struct quoit_ring *p;

	cr_assert_eq(quoit_open_ring(t.a.s, NULL, &p), 0);
	other = quoit_create_vector(p, QUOIT_F32, 1);
	cr_assert_eq(quoit_push(p, quoit_fill(other, 2)), 0);
	(void)party_start(&t.a, quoit_send(t.a.number, first));
	cr_expect_eq(quoit_run(p, quoit_send(t.a.number, other), SOON_MS), 0);
	expect_next(&t.b, t.b.number, 2);
	release(t.a.q, first);
	expect_next(&t.b, t.b.number, 1);
	parties_end(&t);
}

/* More than the calls that a session has there. */
#define MANY 200

Test(queue, a_session_that_waits_to_receive_can_send)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor got[MANY];

	for (unsigned i = 0; i < MANY; i++) {
		got[i] = quoit_create_vector(t.a.q, QUOIT_F32, 1);
		cr_assert_eq(quoit_push(t.a.q, quoit_receive(t.a.number, got[i])), 0);
	}
	for (unsigned i = 0; i < MANY; i++)
		cr_assert_eq(quoit_push(t.a.q, quoit_send(t.a.number, number(&t.a, i))), 0);
	cr_expect_eq(quoit_wait_all(t.a.q, SOON_MS), 0);
	for (unsigned i = 0; i < MANY; i++)
		cr_expect_eq(value_of(&t.a, got[i]), (float)i);
	parties_end(&t);
}

Test(queue, a_session_that_waits_to_send_can_receive)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor got[MANY];

	for (unsigned i = 0; i < MANY; i++)
		cr_assert_eq(quoit_push(t.a.q, quoit_send(t.a.number, number(&t.a, i))), 0);
	for (unsigned i = 0; i < MANY; i++) {
		got[i] = quoit_create_vector(t.a.q, QUOIT_F32, 1);
		cr_assert_eq(quoit_push(t.a.q, quoit_receive(t.a.number, got[i])), 0);
	}
	cr_expect_eq(quoit_wait_all(t.a.q, SOON_MS), 0);
	for (unsigned i = 0; i < MANY; i++)
		cr_expect_eq(value_of(&t.a, got[i]), (float)i);
	parties_end(&t);
}

Test(queue, what_waits_in_order_ends_when_the_queue_is_closed)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor first = held(&t);
	quoit_job jobs[3];

	jobs[0] = party_start(&t.a, quoit_send(t.a.number, first));
	for (unsigned i = 1; i < 3; i++)
		jobs[i] = party_start(&t.a, quoit_send(t.a.number, number(&t.a, i)));
	party_waits(&t.a, jobs[2]);
	cr_expect_eq(quoit_close_sync(t.a.s, t.a.number), 0);
	cr_expect_eq(quoit_wait(t.a.q, jobs[2], SOON_MS), -ECANCELED);
	cr_expect_eq(quoit_wait(t.a.q, jobs[1], SOON_MS), -ECANCELED);
	t.a.number = party_number(quoit_open_queue(t.a.s, PARTIES_NAME, NULL));
	cr_expect_eq(quoit_run(t.a.q, quoit_send(t.a.number, number(&t.a, 5)), SOON_MS), 0);
	release(t.a.q, first);
	cr_expect_eq(quoit_wait(t.a.q, jobs[0], SOON_MS), -ECANCELED);
	expect_next(&t.b, t.b.number, 5);
	parties_end(&t);
}

/* ---- sizes ---- */

#define ROWS    500u
#define COLUMNS 301u

Test(queue, views_and_large_tensors_arrive_whole)
{
	const struct quoit_sync_params large = {.value = 3, .most = 2 * MIB};
	struct parties t = parties_begin_with(quoit_open_queue, &large);
	const int a = t.a.number, b = t.b.number;
	static float all[ROWS][COLUMNS], got[COLUMNS][ROWS];
	quoit_tensor x = quoit_create_matrix(t.a.q, QUOIT_F32, ROWS, COLUMNS);
	quoit_tensor y = quoit_create_matrix(t.b.q, QUOIT_F32, COLUMNS, ROWS);
	const struct quoit_shape turn = {
		.dtype = QUOIT_F32, .dim = {1, 1, COLUMNS, ROWS}, .stride = {1, 1, 1, COLUMNS}};
	quoit_tensor turned = quoit_view(t.a.q, x, &turn, 0);

	for (unsigned round = 0; round < 5; round++) {
		for (unsigned i = 0; i < ROWS; i++)
			for (unsigned k = 0; k < COLUMNS; k++)
				all[i][k] = (float)(i * COLUMNS + k + round);
		cr_assert_eq(quoit_write(t.a.q, x, all, sizeof all), 0);
		cr_assert_eq(quoit_run(t.a.q, quoit_send(a, turned), SOON_MS), 0);
		cr_assert_eq(quoit_run(t.b.q, quoit_receive(b, y), SOON_MS), 0);
		cr_assert_eq(quoit_read(t.b.q, y, got, sizeof got), 0);
		for (unsigned i = 0; i < ROWS; i++)
			for (unsigned k = 0; k < COLUMNS; k++)
				cr_assert_eq(got[k][i], all[i][k]);
	}
	parties_end(&t);
}

Test(queue, message_that_does_not_fit_stays_for_another)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	const int a = t.a.number, b = t.b.number;
	quoit_tensor two = quoit_create_vector(t.b.q, QUOIT_F32, 2);
	quoit_tensor integer = quoit_create_vector(t.b.q, QUOIT_I32, 1);
	quoit_tensor one = quoit_create_vector(t.b.q, QUOIT_F32, 1);
	quoit_tensor huge = quoit_create_vector(t.a.q, QUOIT_F32, 1000000);
	char text[256];

	cr_expect_eq(quoit_run(t.a.q, quoit_send(a, huge), SOON_MS), -EMSGSIZE);
	cr_expect_eq(quoit_run(t.a.q, quoit_send(a, number(&t.a, 5)), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive(b, two), SOON_MS), -EMSGSIZE);
	quoit_strerror_wait(t.b.q, -EMSGSIZE, text, sizeof text);
	cr_expect(strstr(text, "1 1 1 1"), "%s", text);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive(b, integer), SOON_MS), -EMSGSIZE);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive(b, one), SOON_MS), 0);
	cr_expect_eq(value_of(&t.b, one), 5);
	parties_end(&t);
}

Test(queue, what_the_next_message_is_can_be_asked)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor seen = quoit_create_vector(t.b.q, QUOIT_I64, 5);
	quoit_tensor small = quoit_create_vector(t.b.q, QUOIT_I64, 4);
	quoit_job waits = party_start(&t.b, quoit_peek_message(t.b.number, seen));
	struct quoit_message m;

	party_waits(&t.b, waits);
	cr_expect_eq(quoit_run(t.a.q,
			       quoit_send(t.a.number, quoit_create_matrix(t.a.q, QUOIT_F64, 3, 2)),
			       SOON_MS),
		     0);
	cr_expect_eq(quoit_wait(t.b.q, waits, SOON_MS), 0);
	cr_expect_eq(quoit_read(t.b.q, seen, &m, sizeof m), 0);
	cr_expect(m.dtype == QUOIT_F64 && m.dim[0] == 1 && m.dim[1] == 1 && m.dim[2] == 3 &&
		  m.dim[3] == 2);
	cr_expect_eq(quoit_run(t.b.q, quoit_peek_message(t.b.number, small), SOON_MS), -EINVAL);
	cr_expect_eq(quoit_run(t.b.q, quoit_peek_message(t.b.number, seen), SOON_MS), 0,
		     "it stays");
	parties_end(&t);
}

Test(queue, a_message_of_any_shape_can_be_received)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	quoit_tensor x = quoit_create_matrix(t.a.q, QUOIT_F32, 2, 3), got = 0;
	float value[6] = {1, 2, 3, 4, 5, 6}, there[6];

	cr_expect_eq(quoit_receive_next(t.b.q, t.b.number, SHORT_MS, &got), -ETIME);
	cr_expect_eq(got, QUOIT_NO_TENSOR);
	for (unsigned i = 0; i < 3; i++) {
		cr_assert_eq(quoit_write(t.a.q, x, value, sizeof value), 0);
		cr_assert_eq(quoit_run(t.a.q, quoit_send(t.a.number, number(&t.a, 7)), SOON_MS), 0);
		cr_assert_eq(quoit_run(t.a.q, quoit_send(t.a.number, x), SOON_MS), 0);
		cr_assert_eq(quoit_receive_next(t.b.q, t.b.number, SOON_MS, &got), 0);
		cr_expect_eq(value_of(&t.b, got), 7);
		quoit_free(t.b.q, got);
		cr_assert_eq(quoit_receive_next(t.b.q, t.b.number, QUOIT_FOREVER, &got), 0);
		cr_expect_eq(quoit_read(t.b.q, got, there, sizeof there), 0);
		cr_expect_eq(memcmp(there, value, sizeof there), 0);
		quoit_free(t.b.q, got);
	}
	parties_end(&t);
}

Test(queue, what_is_poisoned_is_not_sent)
{
	struct parties t = parties_begin_with(quoit_open_queue, NULL);
	const int a = t.a.number, b = t.b.number;
	quoit_tensor x = quoit_create_vector(t.a.q, QUOIT_F32, 1);
	quoit_tensor got = quoit_create_vector(t.b.q, QUOIT_F32, 1);

	party_poison(&t.a, x);
	cr_expect_eq(quoit_run(t.a.q, quoit_send(a, x), SOON_MS), -QUOIT_EPOISON);
	cr_expect_eq(quoit_run(t.b.q, quoit_receive(b, got), SHORT_MS), -ETIME);
	parties_end(&t);
}

/* ---- many ---- */

#define PRODUCERS 3u
#define EACH      2000

/* Sends EACH numbers that name the producer and its turn, and ends. */
static pid_t start_producer(const struct daemon *d, unsigned who)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (!pid) {
		struct party p = party_open(d);
		int q = quoit_open_queue(p.s, PARTIES_NAME, NULL);
		quoit_tensor t = quoit_create_vector(p.q, QUOIT_F64, 1);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < EACH; i++)
			if (quoit_push(p.q, quoit_fill(t, who * 1e6 + i)) ||
			    quoit_push(p.q, quoit_send(q, t)))
				_exit(1);
		_exit(quoit_wait_all(p.q, SOON_MS) != 0 || quoit_close(p.s, 0) != 0);
	}
	return pid;
}

Test(queue, each_message_of_many_producers_has_one_receiver)
{
	struct parties t = parties_begin();
	int queue[2] = {party_number(quoit_open_queue(t.a.s, PARTIES_NAME, NULL)),
			party_number(quoit_open_queue(t.b.s, PARTIES_NAME, NULL))};
	struct party *p[2] = {&t.a, &t.b};
	quoit_tensor got[2] = {quoit_create_vector(t.a.q, QUOIT_F64, 1),
			       quoit_create_vector(t.b.q, QUOIT_F64, 1)};
	int next[PRODUCERS] = {0};
	pid_t pid[PRODUCERS];
	int status;

	for (unsigned i = 0; i < PRODUCERS; i++)
		pid[i] = start_producer(&t.f.d, i);
	for (unsigned i = 0; i < PRODUCERS * EACH; i++) {
		struct party *one = p[i % 2];
		double value = -1;

		cr_assert_eq(quoit_run(one->q, quoit_receive(queue[i % 2], got[i % 2]), SOON_MS),
			     0);
		cr_assert_eq(quoit_read(one->q, got[i % 2], &value, sizeof value), 0);
		cr_assert_eq(value,
			     (unsigned)(value / 1e6) * 1e6 + next[(unsigned)(value / 1e6)]++);
	}
	for (unsigned i = 0; i < PRODUCERS; i++) {
		waitpid(pid[i], &status, 0);
		cr_expect_eq(status, 0);
	}
	parties_end(&t);
}

/* ---- deaths ---- */

Test(queue, what_a_sender_had_sent_survives_it)
{
	struct parties t = parties_begin();
	int a = party_number(quoit_open_queue(t.a.s, PARTIES_NAME, NULL));
	quoit_tensor got = quoit_create_vector(t.a.q, QUOIT_F64, 1);
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		struct party p = party_open(&t.f.d);
		int q = quoit_open_queue(p.s, PARTIES_NAME, NULL);
		quoit_tensor x = quoit_create_vector(p.q, QUOIT_F64, 1);

		if (quoit_push(p.q, quoit_fill(x, 7)) || quoit_run(p.q, quoit_send(q, x), SOON_MS))
			_exit(1);
		raise(SIGKILL);
	}
	waitpid(pid, &status, 0);
	cr_assert(WIFSIGNALED(status));
	cr_expect_eq(quoit_run(t.a.q, quoit_receive(a, got), SOON_MS), 0);
	parties_end(&t);
}

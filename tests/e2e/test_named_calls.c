/* SPDX-License-Identifier: MIT */
/* test_named_calls.c - a program's functions on tensors with names */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "parties.h"

#define I32S 64u

static const struct quoit_shape vector = {.dtype = QUOIT_I32, .dim = {1, 1, 1, I32S}};
static const struct quoit_shape half = {.dtype = QUOIT_I32, .dim = {1, 1, 1, I32S / 2}};

static struct gate gate;

/* "WR--": waits until it is let go, then copies */
static int copy_late(void *state, struct quoit_exec_call *c)
{
	(void)state;
	gate_pass(&gate);
	c->scalar[0].i = 1;
	c->arg = 0;
	return calls_scale(NULL, c);
}

/* A thoughtless function: what it leaves in its arguments means nothing. */
static int spoil_arguments(void *state, struct quoit_exec_call *c)
{
	(void)state;
	memset(c->tensor, 0, sizeof c->tensor);
	return 0;
}

static const struct quoit_function functions[] = {
	{.name = "add_one", .access = "M---", .run = calls_add_one},
	{.name = "scale", .access = "WR--", .run = calls_scale},
	{.name = "count", .access = "rrrr", .run = calls_count},
	{.name = "copy_late", .access = "WR--", .run = copy_late},
	{.name = "spoil_arguments", .access = "RR--", .run = spoil_arguments},
	{.name = "fill_piece", .access = "W---", .run = calls_fill_piece, .pieces = calls_pieces},
};

static struct quoit_team *open_team(struct party *p)
{
	const struct quoit_team_params one = {.lanes = 1};
	struct quoit_team *team;
	int err =
		quoit_open_team(p->s, functions, sizeof functions / sizeof *functions, &one, &team);

	cr_assert_eq(err, 0, "%s", quoit_open_text());
	return team;
}

static int open_vector(struct quoit_session *s, const char *name,
		       const struct quoit_sync_params *params)
{
	return quoit_open_tensor(s, name, &vector, params);
}

/* Session a has made it. */
static struct parties begin_vector(void)
{
	return parties_begin_with(open_vector, NULL);
}

static quoit_tensor attach(struct party *p)
{
	quoit_tensor t = quoit_attach_tensor(p->q, p->number);

	cr_assert_neq(t, QUOIT_NO_TENSOR, "%s", quoit_error_text(p->q));
	return t;
}

static quoit_tensor make_shared(struct party *p)
{
	quoit_tensor t = quoit_create(p->q, &vector, QUOIT_CREATE_SHARED);

	cr_assert_neq(t, QUOIT_NO_TENSOR, "%s", quoit_error_text(p->q));
	return t;
}

static void runs(struct party *p, struct quoit_sqe sqe)
{
	cr_assert_geq(quoit_run(p->q, sqe, SOON_MS), 0, "%s", quoit_error_text(p->q));
}

static void fails(struct party *p, struct quoit_sqe sqe, int error, const char *words)
{
	char text[256];

	cr_expect_eq(quoit_run(p->q, sqe, SOON_MS), error);
	quoit_strerror_wait(p->q, error, text, sizeof text);
	cr_expect(strstr(text, words), "%s", text);
}

/* The first and the last element of what has so many. */
static void expect(struct party *p, quoit_tensor t, unsigned elements, int32_t first, int32_t last)
{
	int32_t got[I32S];

	cr_assert_eq(quoit_read(p->q, t, got, elements * sizeof *got), 0, "%s",
		     quoit_error_text(p->q));
	cr_expect_eq(got[0], first, "%d", got[0]);
	cr_expect_eq(got[elements - 1], last, "%d", got[elements - 1]);
}

static struct quoit_sqe call(struct quoit_team *team, const char *function, quoit_tensor out,
			     quoit_tensor x)
{
	struct quoit_sqe sqe = quoit_call(quoit_find_function(team, function), out, x, 0, 0);

	sqe.scalar[0] = 3;
	return sqe;
}

/* ---- what it is for ---- */

Test(named_calls, function_of_its_maker_writes_what_others_read)
{
	struct parties t = begin_vector();
	quoit_tensor a = attach(&t.a);

	runs(&t.a, quoit_fill_int(a, 5));
	runs(&t.a, call(open_team(&t.a), "add_one", a, 0));
	expect(&t.b, attach(&t.b), I32S, 6, 6);
	parties_end(&t);
}

Test(named_calls, function_reads_what_another_session_made)
{
	struct parties t = begin_vector();
	quoit_tensor out = make_shared(&t.b), b = attach(&t.b);

	runs(&t.a, quoit_fill_int(attach(&t.a), 7));
	runs(&t.b, call(open_team(&t.b), "scale", out, b));
	expect(&t.b, out, I32S, 21, 21);
	parties_end(&t);
}

Test(named_calls, it_takes_its_turn_by_the_data)
{
	struct parties t = begin_vector();
	quoit_tensor a = attach(&t.a), out = make_shared(&t.a);
	struct quoit_team *team = open_team(&t.a);

	for (int i = 0; i < 100; i++) {
		cr_assert_eq(quoit_push(t.a.q, quoit_fill_int(a, i)), 0);
		cr_assert_eq(quoit_push(t.a.q, call(team, "add_one", a, 0)), 0);
		cr_assert_eq(quoit_push(t.a.q, quoit_add_int(a, a, 1)), 0);
		cr_assert_eq(quoit_push(t.a.q, call(team, "scale", out, a)), 0);
	}
	cr_assert_eq(quoit_wait_all(t.a.q, SOON_MS), 0);
	expect(&t.a, a, I32S, 101, 101);
	expect(&t.a, out, I32S, 303, 303);
	parties_end(&t);
}

Test(named_calls, views_are_parts_of_it)
{
	struct parties t = begin_vector();
	quoit_tensor a = attach(&t.a),
		     end = quoit_view(t.a.q, a, &half, I32S / 2 * sizeof(int32_t));

	runs(&t.a, call(open_team(&t.a), "add_one", end, 0));
	expect(&t.a, a, I32S, 0, 1);
	expect(&t.a, end, I32S / 2, 1, 1);
	expect(&t.a, quoit_view(t.a.q, a, &half, 0), I32S / 2, 0, 0);
	parties_end(&t);
}

Test(named_calls, pieces_share_it)
{
	struct parties t = begin_vector();
	quoit_tensor a = attach(&t.a);
	struct quoit_sqe sqe = call(open_team(&t.a), "fill_piece", a, 0);

	sqe.scalar[0] = 0;
	runs(&t.a, sqe);
	expect(&t.a, a, I32S, 0, 3);
	parties_end(&t);
}

/* ---- calls that are refused ---- */

Test(named_calls, only_its_makers_functions_write_it)
{
	struct parties t = begin_vector();
	quoit_tensor b = attach(&t.b);

	fails(&t.b, call(open_team(&t.b), "add_one", b, 0), -EACCES,
	      "only the session that made a tensor");
	parties_end(&t);
}

Test(named_calls, who_only_reads_it_calls_nothing_that_writes_it)
{
	const struct quoit_sync_params reads = {.flags = QUOIT_SYNC_READ_ONLY};
	struct parties t = parties_begin();
	struct quoit_team *team = open_team(&t.b);
	quoit_tensor b, out = make_shared(&t.b);

	t.a.number = party_number(open_vector(t.a.s, PARTIES_NAME, NULL));
	t.b.number = party_number(open_vector(t.b.s, PARTIES_NAME, &reads));
	b = attach(&t.b);
	fails(&t.b, call(team, "add_one", b, 0), -EACCES, "is open for reading only");
	runs(&t.b, call(team, "scale", out, b));
	parties_end(&t);
}

Test(named_calls, no_service_reaches_it)
{
	struct parties t = begin_vector();
	struct quoit_service *service;
	struct quoit_team *team;
	int function;

	cr_assert_eq(quoit_serve(t.b.s, "counts", functions + 2, 1, NULL, &team), 0, "%s",
		     quoit_open_text());
	cr_assert_eq(quoit_open_service(t.a.s, "counts", SOON_MS, &service), 0, "%s",
		     quoit_open_text());
	function = quoit_find_service_function(service, "count");
	cr_assert_geq(function, 0, "%s", quoit_open_text());
	fails(&t.a, quoit_call(function, attach(&t.a), 0, 0, 0), -ENOTSUP,
	      "no device, module or service reaches it");
	parties_end(&t);
}

/* ---- what ends meanwhile ---- */

Test(named_calls, it_stays_mapped_while_a_function_runs)
{
	struct parties t = begin_vector();
	struct quoit_team *team = open_team(&t.b);
	quoit_tensor b = attach(&t.b), out = make_shared(&t.b);
	quoit_job job;

	runs(&t.a, quoit_fill_int(attach(&t.a), 4));
	job = party_start(&t.b, call(team, "copy_late", out, b));
	cr_assert_eq(quoit_flush(t.b.q), 0);
	gate_await(&gate, 1);
	cr_assert_eq(quoit_close_sync(t.b.s, t.b.number), 0);
	gate_open(&gate);
	cr_assert_eq(quoit_wait(t.b.q, job, SOON_MS), 0);
	expect(&t.b, out, I32S, 4, 4);
	parties_end(&t);
}

Test(named_calls, one_that_was_opened_again_meanwhile_is_the_same)
{
	struct parties t = begin_vector();
	struct quoit_team *team = open_team(&t.b);
	quoit_tensor b = attach(&t.b), out = make_shared(&t.b), again;
	quoit_job job;

	job = party_start(&t.b, call(team, "copy_late", out, b));
	cr_assert_eq(quoit_flush(t.b.q), 0);
	gate_await(&gate, 1);
	cr_assert_eq(quoit_close_sync(t.b.s, t.b.number), 0);
	t.b.number = party_number(open_vector(t.b.s, PARTIES_NAME, NULL));
	again = attach(&t.b);
	runs(&t.a, quoit_fill_int(attach(&t.a), 9));
	gate_open(&gate);
	cr_assert_eq(quoit_wait(t.b.q, job, SOON_MS), 0);
	expect(&t.b, out, I32S, 9, 9);
	runs(&t.b, call(team, "scale", out, again));
	expect(&t.b, out, I32S, 27, 27);
	parties_end(&t);
}

Test(named_calls, call_that_comes_after_it_was_closed_fails)
{
	struct parties t = begin_vector();
	struct quoit_team *team = open_team(&t.b);
	quoit_tensor b = attach(&t.b), out = make_shared(&t.b);

	cr_assert_eq(quoit_run(t.b.q, quoit_nop(b), SOON_MS), 0);
	cr_assert_eq(quoit_close_sync(t.b.s, t.b.number), 0);
	fails(&t.b, call(team, "scale", out, b), -EBADF, "was closed");
	parties_end(&t);
}

/* How often this process has such memory mapped. */
static unsigned count_mapped(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	unsigned n = 0;

	cr_assert(f);
	while (fgets(line, sizeof line, f))
		n += strstr(line, "quoit-tensor") != NULL;
	fclose(f);
	return n;
}

Test(named_calls, function_that_spoils_its_arguments_keeps_nothing)
{
	struct parties t = begin_vector();
	struct quoit_team *team = open_team(&t.a);
	quoit_tensor a = attach(&t.a);

	for (int i = 0; i < 3; i++)
		runs(&t.a, call(team, "spoil_arguments", a, a));
	cr_assert_gt(count_mapped(), 0);
	quoit_free(t.a.q, a);
	cr_assert_eq(quoit_flush(t.a.q), 0);
	cr_assert_eq(quoit_close_sync(t.a.s, t.a.number), 0);
	cr_assert_eq(quoit_close_sync(t.b.s, t.b.number), 0);
	cr_expect_eq(count_mapped(), 0);
	parties_end(&t);
}

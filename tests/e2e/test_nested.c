/* SPDX-License-Identifier: MIT */
/* test_nested.c - functions that call services and wait for them, one within another */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "acquire.h"
#include "calls.h"
#include "tool.h"

#define SOON_MS  20000 /* for what comes in milliseconds, on a busy machine */
#define SHORT_MS 50    /* for what must not come */
#define BOTTOM   7     /* what the innermost call returns */

/* ---- a process that serves, as far as quoitd can tell ---- */

struct host {
	struct quoit_session *s;
	struct quoit_team *team;
	struct quoit_service *other; /* what its functions call */
	int call, lock;
	struct gate *gate;     /* of "pass" */
	uint32_t ring_flags;   /* of the rings of its functions */
	uint32_t deadline_us;  /* of the calls that they make; 0: none */
	uint32_t deepest, met; /* how deep a call came; how many functions met a lock there */
	struct gate *bottom;   /* where the innermost calls wait; NULL: nowhere */
	uint32_t refused;      /* calls that could not be put in */
};

static _Thread_local struct quoit_ring *own;

static int open_own(struct host *h)
{
	const struct quoit_ring_params p = {.flags = h->ring_flags};

	return own ? 0 : quoit_open_ring(h->s, &p, &own);
}

/* A lock that is asked here is no call of a function, however deep. */
static int end_deep(struct host *h, struct quoit_exec_call *c, int err)
{
	char text[300];

	snprintf(c->text, sizeof c->text, "%.100s",
		 quoit_strerror_wait(own, err, text, sizeof text));
	if (!h->lock)
		return err;
	if (!quoit_run(own, quoit_lock(h->lock, 0), SOON_MS) &&
	    !quoit_run(own, quoit_unlock(h->lock, 0), SOON_MS))
		__atomic_add_fetch(&h->met, 1, __ATOMIC_RELAXED);
	h->lock = 0;
	return err;
}

/* Calls itself, or its like of the other service, until scalar[0] is 0; scalar[1] counts up. */
static int deep(void *state, struct quoit_exec_call *c)
{
	struct host *h = state;
	struct quoit_sqe call = quoit_call(h->call, 0, 0, 0, 0);
	uint32_t seen = __atomic_load_n(&h->deepest, __ATOMIC_RELAXED);
	quoit_job job;
	int err;

	while (c->scalar[1].u > seen &&
	       !__atomic_compare_exchange_n(&h->deepest, &seen, (uint32_t)c->scalar[1].u, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	if (!c->scalar[0].u && h->bottom)
		gate_pass(h->bottom);
	if (!c->scalar[0].u)
		return BOTTOM;
	err = open_own(h);
	if (err)
		return err;
	call = quoit_with_scalars(call, c->scalar[0].u - 1, c->scalar[1].u + 1);
	if (h->deadline_us)
		call = quoit_with_deadline(call, h->deadline_us);
	err = quoit_start(own, call, &job);
	if (err == -EDEADLK)
		__atomic_add_fetch(&h->refused, 1, __ATOMIC_SEQ_CST);
	if (!err)
		err = quoit_wait(own, job, QUOIT_FOREVER);
	return err < 0 ? end_deep(h, c, err) : err;
}

/* When it is let go, it does the same. */
static int pass_and_go_deep(void *state, struct quoit_exec_call *c)
{
	const struct host *h = state;

	gate_pass(h->gate);
	return deep(state, c);
}

#define FUNCTIONS 2u

static void fill(struct quoit_function f[FUNCTIONS], struct host *h)
{
	f[0] = (struct quoit_function){.name = "deep", .access = "----", .run = deep, .state = h};
	f[1] = (struct quoit_function){
		.name = "pass", .access = "----", .run = pass_and_go_deep, .state = h};
}

/* Serve `name`, with functions that call "deep" of the other one, which is served by now or soon. */
static void serve(struct host *h, const struct daemon *d, const char *name, unsigned lanes)
{
	const struct quoit_open_params open = {.socket = d->socket};
	const struct quoit_serve_params params = {.lanes = lanes, .flags = QUOIT_TEAM_UNPINNED};
	struct quoit_function f[FUNCTIONS];

	fill(f, h);
	cr_assert_eq(quoit_open(&open, &h->s), 0);
	cr_assert_eq(quoit_serve(h->s, name, f, FUNCTIONS, &params, &h->team), 0, "%s",
		     quoit_open_text());
}

static void let_call(struct host *h, const char *other)
{
	cr_assert_eq(quoit_open_service(h->s, other, SOON_MS, &h->other), 0);
	h->call = quoit_find_service_function(h->other, "deep");
	cr_assert_gt(h->call, 0);
}

static int find(struct fixture *f, const char *service, const char *function)
{
	struct quoit_service *opened;

	cr_assert_eq(quoit_open_service(f->s, service, SOON_MS, &opened), 0);
	return quoit_find_service_function(opened, function);
}

static struct quoit_sqe deep_of(int function, unsigned n)
{
	return quoit_with_scalars(quoit_call(function, 0, 0, 0, 0), n, 1);
}

/* ---- calls that their own service answers ---- */

Test(nested, one_thread_runs_the_calls_that_its_functions_wait_for)
{
	struct fixture f = begin();
	struct host h = {.s = NULL};
	int call;

	serve(&h, &f.d, "self", 1);
	let_call(&h, "self");
	call = find(&f, "self", "deep");
	for (unsigned n = 0; n < 32; n++)
		cr_expect_eq(quoit_run(f.q, deep_of(call, n), SOON_MS), BOTTOM, "%u deep", n);
	cr_expect_eq(quoit_close(h.s, 0), 0);
	end(&f);
}

/* Each of two processes has one thread, and both are in functions that call the service. */
Test(nested, threads_that_are_all_busy_run_what_they_wait_for)
{
	struct fixture f = begin();
	struct gate gate = {0};
	struct host h[2] = {{.gate = &gate}, {.gate = &gate}};
	quoit_job job[2];
	int call;

	for (unsigned i = 0; i < 2; i++)
		serve(&h[i], &f.d, "self", 1);
	for (unsigned i = 0; i < 2; i++)
		let_call(&h[i], "self");
	call = find(&f, "self", "pass");
	for (unsigned i = 0; i < 2; i++)
		job[i] = start(f.q, deep_of(call, 10));
	gate_await(&gate, 2);
	gate_open(&gate);
	for (unsigned i = 0; i < 2; i++)
		cr_expect_eq(quoit_wait(f.q, job[i], SOON_MS), BOTTOM);
	for (unsigned i = 0; i < 2; i++)
		cr_expect_eq(quoit_close(h[i].s, 0), 0);
	end(&f);
}

Test(nested, two_services_call_each_other)
{
	struct fixture f = begin();
	struct host a = {.s = NULL}, b = {.s = NULL};

	serve(&a, &f.d, "a", 1);
	serve(&b, &f.d, "b", 1);
	let_call(&a, "b");
	let_call(&b, "a");
	cr_expect_eq(quoit_run(f.q, deep_of(find(&f, "a", "deep"), 40), SOON_MS), BOTTOM);
	cr_expect_eq(quoit_close(a.s, 0), 0);
	cr_expect_eq(quoit_close(b.s, 0), 0);
	end(&f);
}

/* ---- what cannot end well is told ---- */

/* Nothing waits or runs at any service any more; each has a line. */
static void expect_rest(const struct fixture *f)
{
	char said[512] = "";

	for (unsigned i = 0; i < 400; i++) {
		cr_assert_eq(tool_run(said, sizeof said,
				      "ls --socket=%s -o waiting,running --no-headers | "
				      "tr -d -- '- 0\\n'",
				      f->d.socket),
			     0, "%s", said);
		if (!*said)
			return;
		usleep(20000);
	}
	cr_expect(false, "%s", said);
}

static void expect_deadlock(struct fixture *f, int call)
{
	char text[400];
	int err = quoit_run(f->q, deep_of(call, 10000), SOON_MS);

	cr_expect_eq(err, -EDEADLK, "%d", err);
	quoit_strerror_wait(f->q, err, text, sizeof text);
	cr_expect(strstr(text, "EDEADLK"), "%s", text);
}

Test(nested, ten_thousand_calls_deep_is_told)
{
	struct fixture f = begin();
	struct host h = {.s = NULL};
	int call;

	serve(&h, &f.d, "self", 1);
	let_call(&h, "self");
	h.lock = quoit_open_lock(h.s, "bottom", NULL);
	cr_assert_gt(h.lock, 0);
	call = find(&f, "self", "deep");
	for (unsigned i = 0; i < 3; i++)
		expect_deadlock(&f, call);
	cr_expect_eq(h.deepest, 32u);
	cr_expect_eq(h.met, 1u, "locks are no calls of functions");
	cr_expect_eq(quoit_run(f.q, deep_of(call, 10), SOON_MS), BOTTOM, "it serves still");
	expect_rest(&f);
	cr_expect_eq(quoit_close(h.s, 0), 0);
	end(&f);
}

/* Together more threads than a session has calls of one service. */
Test(nested, many_threads_are_told_as_well)
{
	struct fixture f = begin();
	struct host h[2] = {{.s = NULL}, {.s = NULL}};
	int call;

	for (unsigned i = 0; i < 2; i++)
		serve(&h[i], &f.d, "self", 4);
	for (unsigned i = 0; i < 2; i++)
		let_call(&h[i], "self");
	call = find(&f, "self", "deep");
	for (unsigned i = 0; i < 3; i++)
		expect_deadlock(&f, call);
	cr_expect(h[0].deepest <= 98 && h[1].deepest <= 98);
	expect_rest(&f);
	for (unsigned i = 0; i < 2; i++)
		cr_expect_eq(quoit_close(h[i].s, 0), 0);
	end(&f);
}

Test(nested, two_services_ten_thousand_calls_deep_are_told)
{
	struct fixture f = begin();
	struct host a = {.s = NULL}, b = {.s = NULL};

	serve(&a, &f.d, "a", 2);
	serve(&b, &f.d, "b", 2);
	let_call(&a, "b");
	let_call(&b, "a");
	expect_deadlock(&f, find(&f, "a", "deep"));
	expect_rest(&f);
	cr_expect_eq(quoit_close(a.s, 0), 0);
	cr_expect_eq(quoit_close(b.s, 0), 0);
	end(&f);
}

/*
 * Eight calls at once, each seven deep, of which the innermost ones wait: 56 functions, of which 48
 * may be there.  So a session always has a call left.
 */
Test(nested, functions_that_wait_in_one_process_are_counted)
{
	struct fixture f = begin();
	struct gate bottom = {0};
	struct host h = {.bottom = &bottom};
	quoit_job job[8];
	unsigned refused = 0;
	int call;

	serve(&h, &f.d, "self", 8);
	let_call(&h, "self");
	call = find(&f, "self", "deep");
	for (unsigned i = 0; i < 8; i++)
		job[i] = start(f.q, deep_of(call, 7));
	while (__atomic_load_n(&bottom.inside, __ATOMIC_SEQ_CST) +
		       __atomic_load_n(&h.refused, __ATOMIC_SEQ_CST) <
	       8)
		usleep(1000);
	gate_open(&bottom);
	for (unsigned i = 0; i < 8; i++) {
		int res = quoit_wait(f.q, job[i], SOON_MS);

		cr_expect(res == BOTTOM || res == -EDEADLK, "%d", res);
		refused += res == -EDEADLK;
	}
	cr_expect_gt(refused, 0u);
	expect_rest(&f);
	cr_expect_eq(quoit_close(h.s, 0), 0);
	end(&f);
}

/* A team's own functions, by threads that wait. */
Test(nested, calls_of_a_team_are_told_as_well)
{
	struct fixture f = begin();
	struct host h = {.s = f.s};
	struct quoit_function functions[FUNCTIONS];

	fill(functions, &h);
	cr_assert_eq(quoit_open_team(f.s, functions, FUNCTIONS,
				     &(struct quoit_team_params){.lanes = 2}, &h.team),
		     0);
	h.call = quoit_find_function(h.team, "deep");
	cr_expect_eq(quoit_run(f.q, deep_of(h.call, 20), SOON_MS), BOTTOM);
	expect_deadlock(&f, h.call);
	cr_expect_eq(quoit_run(f.q, deep_of(h.call, 20), SOON_MS), BOTTOM);
	end(&f);
}

/* ---- what quoitd cannot know ---- */

/* Their threads run nothing meanwhile, so the call waits for ever: its deadline ends it. */
Test(nested, deadline_ends_what_nobody_can_run)
{
	struct fixture f = begin();
	struct host h = {.ring_flags = QUOIT_RING_NO_CALLS, .deadline_us = 50000};
	int call;

	serve(&h, &f.d, "self", 1);
	let_call(&h, "self");
	call = find(&f, "self", "deep");
	cr_expect_eq(quoit_run(f.q, deep_of(call, 5), SOON_MS), -ETIME);
	cr_expect_eq(quoit_run(f.q, deep_of(call, 0), SOON_MS), BOTTOM, "it serves still");
	expect_rest(&f);
	cr_expect_eq(quoit_close(h.s, 0), 0);
	end(&f);
}

/* ---- calls that wait at their service ---- */

/* Two are with the process, whose thread does not answer; the third waits. */
Test(nested, call_that_waits_at_its_service_can_be_cancelled)
{
	struct fixture f = begin();
	struct gate gate = {0};
	struct host h = {.gate = &gate};
	quoit_job job[2], waits;
	int pass;

	serve(&h, &f.d, "self", 1);
	pass = find(&f, "self", "pass");
	for (unsigned i = 0; i < 2; i++)
		job[i] = start(f.q, deep_of(pass, 0));
	gate_await(&gate, 1);
	cr_expect_eq(quoit_run(f.q, deep_of(pass, 0), SHORT_MS), -ETIME);
	waits = start(f.q, deep_of(pass, 0));
	cr_assert(is_open(f.p, waits) || quoit_get_result(f.q, waits) == -EINPROGRESS);
	cr_expect_eq(quoit_cancel(f.q, waits), 0);
	cr_expect_eq(quoit_wait(f.q, waits, SOON_MS), -ECANCELED);
	/* One that its thread is in ends with its result, and the wait is over only then. */
	cr_expect_eq(quoit_cancel(f.q, job[0]), 0);
	cr_expect_eq(quoit_wait(f.q, job[0], SHORT_MS), -ETIME);
	gate_open(&gate);
	cr_expect_eq(quoit_wait(f.q, job[0], SOON_MS), BOTTOM);
	cr_expect_eq(quoit_wait(f.q, job[1], SOON_MS), BOTTOM);
	cr_expect_eq(quoit_close(h.s, 0), 0);
	end(&f);
}

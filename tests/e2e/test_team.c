/* SPDX-License-Identifier: MIT */
/* test_team.c - functions of the program's own run as jobs, in the order of the data */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit/stats.h>

#include "acquire.h"
#include "calls.h"
#include "tool.h"

/* ---- the functions ---- */

static int fail(void *state, struct quoit_exec_call *c)
{
	(void)state;
	c->field = QUOIT_FIELD_SCALAR0;
	c->value[0] = 41;
	c->value[1] = 42;
	strcpy(c->text, "row 41 of the matrix is empty");
	return -EDOM;
}

static int pass(void *state, struct quoit_exec_call *c)
{
	(void)c;
	gate_pass(state);
	return 0;
}

static struct gate gate;

/* A function with a ring of its own: calls add_one on a tensor of its own, and waits for it. */
struct nest {
	struct quoit_session *s;
	struct quoit_team *team;
	int depth;
};

static int nested(void *state, struct quoit_exec_call *c)
{
	struct nest *nest = state;
	struct quoit_ring *q;
	quoit_job job;
	int err;

	(void)c;
	if (nest->depth < 0)
		return quoit_close_team(nest->team);
	err = quoit_open_ring(nest->s, NULL, &q);
	if (err)
		return err;
	__atomic_sub_fetch(&nest->depth, 1, __ATOMIC_SEQ_CST);
	err = quoit_start(
		q,
		quoit_call(quoit_find_function(nest->team, nest->depth > 0 ? "nested" : "count"), 0,
			   0, 0, 0),
		&job);
	if (!err)
		err = quoit_wait(q, job, QUOIT_FOREVER);
	quoit_close_ring(q);
	return err;
}

static struct nest nest;

/*
 * Lets a job go for which the thread below waits on this ring, and waits on it, too: first for what
 * comes behind that job, then for one that fails.
 */
struct on_top {
	struct quoit_ring *q, *p;
	quoit_tensor held, behind, failed;
};

static int wait_on_top(void *state, struct quoit_exec_call *c)
{
	const struct on_top *o = state;
	quoit_job job;
	int err = quoit_release_tensor(o->p, o->held);

	(void)c;
	if (!err)
		err = quoit_start(o->q, quoit_nop(o->behind), &job);
	if (!err)
		err = quoit_wait(o->q, job, QUOIT_FOREVER);
	if (!err)
		err = quoit_start(o->q, quoit_copy(o->failed, o->behind), &job);
	if (!err)
		err = quoit_wait(o->q, job, QUOIT_FOREVER);
	return err == -EINVAL ? 0 : -EIO;
}

static struct on_top on_top;

static int end_thread(void *state, struct quoit_exec_call *c)
{
	(void)state;
	(void)c;
	pthread_exit(NULL);
}

static const struct quoit_function functions[] = {
	{.name = "add_one", .access = "M---", .run = calls_add_one},
	{.name = "scale", .access = "WR--", .run = calls_scale},
	{.name = "fail", .access = "W---", .run = fail},
	{.name = "count", .access = "rrrr", .run = calls_count},
	{.name = "pass", .access = "w---", .run = pass, .state = &gate},
	{.name = "nested", .access = "----", .run = nested, .state = &nest},
	{.name = "fill_piece", .access = "W---", .run = calls_fill_piece, .pieces = calls_pieces},
	{.name = "wait_on_top", .access = "----", .run = wait_on_top, .state = &on_top},
	{.name = "end_thread", .access = "w---", .run = end_thread},
};

#define COUNT (sizeof functions / sizeof *functions)

/* ---- a team ---- */

struct team_fixture {
	struct fixture f;
	struct quoit_team *team;
};

static struct team_fixture begin_team(const char *const *options,
				      const struct quoit_team_params *params)
{
	struct team_fixture t = {.f = begin_as(options, SHARED, NULL)};

	gate = (struct gate){0};
	cr_assert_eq(quoit_open_team(t.f.s, functions, COUNT, params, &t.team), 0, "%s",
		     quoit_open_text());
	return t;
}

static void end_team(struct team_fixture *t)
{
	cr_expect_eq(quoit_close_team(t->team), 0);
	end(&t->f);
}

static struct quoit_sqe call(const struct team_fixture *t, const char *name, quoit_tensor a,
			     quoit_tensor b)
{
	return quoit_call(quoit_find_function(t->team, name), a, b, 0, 0);
}

/* ---- data ---- */

Test(team, calls_and_operations_take_turns_on_the_data)
{
	struct team_fixture t = begin_team(NULL, NULL);
	quoit_tensor a = shared(&t.f), b = create(t.f.q, N, 0);

	cr_assert_eq(quoit_push(t.f.q, quoit_fill_int(a, 5)), 0);
	for (int i = 0; i < 100; i++) {
		cr_assert_eq(quoit_push(t.f.q, call(&t, "add_one", a, 0)), 0);
		cr_assert_eq(quoit_push(t.f.q, quoit_add_int(a, a, 1)), 0);
	}
	cr_assert_eq(quoit_push(t.f.q, quoit_copy(b, a)), 0);
	expect_all(t.f.q, b, 205);
	end_team(&t);
}

Test(team, call_gets_its_scalars_its_argument_and_its_views)
{
	struct team_fixture t = begin_team(NULL, NULL);
	quoit_tensor x = shared(&t.f), out = shared(&t.f), odd;
	struct quoit_shape every_other = {
		.dtype = QUOIT_I32, .dim = {1, 1, 1, N / 2}, .stride = {1, 1, 1, 2}};
	struct quoit_sqe sqe = call(&t, "scale", out, x);
	int32_t got[N];

	cr_assert_eq(quoit_push(t.f.q, quoit_fill_int(x, 3)), 0);
	cr_assert_eq(quoit_push(t.f.q, quoit_op_arg(sqe, 9, (uint64_t)-7, 0)), 0);
	odd = quoit_view(t.f.q, out, &every_other, sizeof(int32_t));
	cr_assert_eq(quoit_push(t.f.q, call(&t, "add_one", odd, 0)), 0);
	cr_assert_eq(quoit_read(t.f.q, out, got, sizeof got), 0);
	for (int i = 0; i < (int)N; i++)
		cr_assert_eq(got[i], -12 + i % 2, "element %d is %d", i, got[i]);
	end_team(&t);
}

Test(team, optional_tensors_may_be_left_out_and_the_arena_serves)
{
	struct team_fixture t = begin_team(NULL, NULL);
	const int f = quoit_find_function(t.team, "count");
	struct quoit_shape shape = {.dtype = QUOIT_F64, .dim = {1, 1, 1, 8}};
	void *memory = quoit_alloc(t.f.s, 64);
	quoit_tensor a = shared(&t.f), b = quoit_create_in(t.f.q, &shape, memory);

	cr_expect_eq(run(t.f.q, quoit_call(f, 0, 0, 0, 0)), 0);
	cr_expect_eq(run(t.f.q, quoit_call(f, a, 0, b, 0)), 5);
	cr_expect_eq(run(t.f.q, quoit_call(f, a, a, b, a)), 15);
	end_team(&t);
}

Test(team, tensor_that_the_program_cannot_reach_is_refused)
{
	struct team_fixture t = begin_team(NULL, NULL);
	quoit_tensor a = create(t.f.q, N, 0);
	char text[256];
	int err = run(t.f.q, call(&t, "add_one", a, 0));

	cr_expect_eq(err, -ENOTSUP);
	quoit_strerror_wait(t.f.q, err, text, sizeof text);
	cr_expect(strstr(text, "QUOIT_CREATE_SHARED"), "%s", text);
	end_team(&t);
}

/* ---- failures ---- */

Test(team, failure_reaches_readers_with_its_words)
{
	struct team_fixture t = begin_team(NULL, NULL);
	quoit_tensor a = shared(&t.f), b = create(t.f.q, N, 0);
	struct quoit_error e;
	char text[256];
	int err;

	cr_assert_eq(quoit_push(t.f.q, call(&t, "fail", a, 0)), 0);
	cr_assert_eq(quoit_push(t.f.q, quoit_copy(b, a)), 0);
	err = quoit_wait_tensor(t.f.q, b, QUOIT_FOREVER);
	cr_expect_eq(err, -QUOIT_EPOISON);
	cr_assert(quoit_get_wait_error(t.f.q, &e));
	cr_expect_eq(e.code, -EDOM);
	cr_expect_eq(e.opcode, QUOIT_OP_CALL);
	cr_expect_eq(e.field, QUOIT_FIELD_SCALAR0);
	cr_expect_eq(e.value[0], 41u);
	cr_expect_eq(e.value[1], 42u);
	quoit_strerror_wait(t.f.q, err, text, sizeof text);
	cr_expect(strstr(text, "row 41 of the matrix is empty"), "%s", text);
	cr_expect(strstr(text, "the output of function 'fail' (job "), "%s", text);
	quoit_strerror_record(&e, text, sizeof text); /* which knows no session */
	cr_expect(strstr(text, "the output of function 2 of team "), "%s", text);
	end_team(&t);
}

Test(team, failed_call_is_named_by_its_function)
{
	struct team_fixture t = begin_team(NULL, NULL);
	struct quoit_sqe gone = call(&t, "scale", 0, 0);
	char text[256];
	int err = run(t.f.q, call(&t, "fail", shared(&t.f), 0));

	cr_expect_eq(err, -EDOM);
	quoit_strerror_wait(t.f.q, err, text, sizeof text);
	cr_expect_eq(strncmp(text, "function 'fail' (job ", 21), 0, "%s", text);
	cr_expect(strstr(text, "failed with EDOM: scalar 0 is 41, allowed is 42: row 41"), "%s",
		  text);
	err = run(t.f.q, gone); /* refused, and so it never reaches the team */
	cr_expect_eq(err, -EBADF);
	quoit_strerror_wait(t.f.q, err, text, sizeof text);
	cr_expect_eq(strncmp(text, "function 'scale' (job ", 22), 0, "%s", text);
	cr_expect_eq(quoit_close_team(t.team), 0);
	err = run(t.f.q, gone);
	cr_expect_eq(err, -EINVAL);
	quoit_strerror_wait(t.f.q, err, text, sizeof text);
	cr_expect_eq(strncmp(text, "function 1 of team ", 19), 0, "%s", text);
	end(&t.f);
}

Test(team, function_that_there_is_not_is_refused)
{
	struct team_fixture t = begin_team(NULL, NULL);
	int unknown = quoit_find_function(t.team, "unknown");
	quoit_job job;

	cr_expect_eq(unknown, -ENOENT);
	cr_expect_eq(quoit_start(t.f.q, quoit_call(unknown, 0, 0, 0, 0), &job), -EINVAL);
	cr_expect(strstr(quoit_error_text(t.f.q),
			 "no function -2: take the number from quoit_find_function"),
		  "%s", quoit_error_text(t.f.q));
	cr_expect_eq(run(t.f.q, quoit_call(quoit_find_function(t.team, "count") + 20, 0, 0, 0, 0)),
		     -EINVAL);
	end_team(&t);
}

/* Nobody knows what it would have written, so all its tensors fail. */
Test(team, call_of_a_function_that_is_gone_poisons_its_tensors)
{
	struct team_fixture t = begin_team(NULL, NULL);
	quoit_tensor out = shared(&t.f), x = shared(&t.f);
	const struct quoit_sqe late = call(&t, "scale", out, x);
	int32_t got[N];

	cr_assert_eq(quoit_push(t.f.q, quoit_fill_int(out, 5)), 0);
	cr_assert_eq(quoit_push(t.f.q, quoit_fill_int(x, 5)), 0);
	cr_assert_eq(quoit_wait_all(t.f.q, QUOIT_FOREVER), 0);
	cr_expect_eq(quoit_close_team(t.team), 0);
	cr_assert_eq(quoit_push(t.f.q, late), 0);
	cr_expect_eq(quoit_read(t.f.q, out, got, sizeof got), -QUOIT_EPOISON);
	cr_expect_eq(quoit_read(t.f.q, x, got, sizeof got), -QUOIT_EPOISON);
	end(&t.f);
}

/* In a lane: a function that closes its team would wait for itself. */
Test(team, function_cannot_close_its_team)
{
	struct team_fixture t = begin_team(NULL, &(struct quoit_team_params){.lanes = 1});

	nest = (struct nest){t.f.s, t.team, -1};
	cr_expect_eq(run(t.f.q, call(&t, "nested", 0, 0)), -EDEADLK);
	end_team(&t);
}

Test(team, what_no_team_can_have_is_refused)
{
	struct fixture f = begin();
	struct quoit_function two[] = {functions[0], functions[0]};
	struct quoit_team_params params = {.lanes = 1, .flags = QUOIT_TEAM_NO_LANES};
	struct quoit_function odd = functions[0];
	struct quoit_team *team;

	cr_expect_eq(quoit_open_team(f.s, functions, 0, NULL, &team), -EINVAL);
	cr_expect_eq(quoit_open_team(f.s, NULL, 1, NULL, &team), -EINVAL);
	cr_expect_eq(quoit_open_team(f.s, two, 2, NULL, &team), -EEXIST);
	cr_expect_eq(quoit_open_team(f.s, two, 1, &params, &team), -EINVAL);
	odd.access = "M--";
	cr_expect_eq(quoit_open_team(f.s, &odd, 1, NULL, &team), -EINVAL);
	odd.access = "Mx--";
	cr_expect_eq(quoit_open_team(f.s, &odd, 1, NULL, &team), -EINVAL);
	odd = functions[0];
	odd.name = "a name";
	cr_expect_eq(quoit_open_team(f.s, &odd, 1, NULL, &team), -EINVAL);
	cr_expect(strstr(quoit_open_text(), "printable ASCII without blanks"), "%s",
		  quoit_open_text());
	end(&f);
}

/* ---- pieces ---- */

Test(team, call_in_pieces_does_each_once)
{
	struct team_fixture t = begin_team(NULL, &(struct quoit_team_params){.lanes = 3});
	quoit_tensor a = shared(&t.f);
	int32_t got[N];

	for (int round = 0; round < 200; round++)
		cr_assert_eq(run(t.f.q, call(&t, "fill_piece", a, 0)), 7);
	cr_assert_eq(quoit_read(t.f.q, a, got, sizeof got), 0);
	for (unsigned i = 0; i < N; i++)
		cr_assert_eq(got[i], (int32_t)(i * 4 / N));
	end_team(&t);
}

Test(team, first_piece_that_failed_counts)
{
	struct team_fixture t = begin_team(NULL, &(struct quoit_team_params){.lanes = 3});
	quoit_tensor a = shared(&t.f);

	for (int round = 0; round < 50; round++)
		cr_assert_eq(run(t.f.q, quoit_with_scalars(call(&t, "fill_piece", a, 0), 2, 0)),
			     -2);
	end_team(&t);
}

Test(team, too_many_pieces_are_refused)
{
	struct team_fixture t = begin_team(NULL, NULL);
	quoit_tensor a = shared(&t.f);
	char text[256];
	int err = run(t.f.q,
		      quoit_with_scalars(call(&t, "fill_piece", a, 0), 0, QUOIT_MAX_PIECES + 1));

	cr_expect_eq(err, -E2BIG);
	quoit_strerror_wait(t.f.q, err, text, sizeof text);
	cr_expect(strstr(text, "pieces() returned 65537: allowed are 1 to 65536"), "%s", text);
	end_team(&t);
}

/* ---- threads ---- */

Test(team, no_lane_is_idle_while_a_call_waits)
{
	struct team_fixture t = begin_team(NULL, &(struct quoit_team_params){.lanes = 4});
	quoit_job job[4];

	for (int i = 0; i < 4; i++)
		job[i] = start(t.f.p, call(&t, "pass", 0, 0));
	cr_assert_eq(quoit_flush(t.f.p), 0);
	gate_await(&gate, 4); /* else this never ends */
	gate_open(&gate);
	cr_expect_eq(quoit_wait_all_of(t.f.p, job, 4, QUOIT_FOREVER), 4);
	end_team(&t);
}

Test(team, thread_that_waits_runs_calls)
{
	struct team_fixture t =
		begin_team(NULL, &(struct quoit_team_params){.flags = QUOIT_TEAM_NO_LANES});
	quoit_tensor a = shared(&t.f);

	for (int i = 0; i < 20; i++)
		cr_assert_eq(quoit_push(t.f.q, call(&t, "add_one", a, 0)), 0);
	expect_all(t.f.q, a, 20);
	end_team(&t);
}

static void *serve(void *team)
{
	return (void *)(intptr_t)quoit_serve_team(team, QUOIT_FOREVER);
}

Test(team, threads_of_the_program_serve)
{
	struct team_fixture t =
		begin_team(NULL, &(struct quoit_team_params){.flags = QUOIT_TEAM_NO_LANES});
	quoit_tensor a = shared(&t.f);
	struct quoit_ring *q;
	pthread_t thread;
	void *served;

	cr_assert_eq(quoit_open_ring(t.f.s,
				     &(struct quoit_ring_params){.flags = QUOIT_RING_NO_CALLS}, &q),
		     0);
	cr_assert_eq(quoit_wait_all(t.f.q, QUOIT_FOREVER), 0);
	cr_assert_eq(pthread_create(&thread, NULL, serve, t.team), 0);
	for (int i = 0; i < 20; i++)
		cr_assert_eq(quoit_push(q, call(&t, "add_one", a, 0)), 0);
	expect_all(q, a, 20);
	cr_expect_eq(quoit_close_team(t.team), 0);
	pthread_join(thread, &served);
	cr_expect_eq((intptr_t)served, 20);
	end(&t.f);
}

Test(team, serving_ends_in_time)
{
	struct team_fixture t = begin_team(NULL, NULL);

	cr_expect_eq(quoit_serve_team(t.team, 30), 0);
	end_team(&t);
}

/* One lane, which waits in a function for another function: it runs that one meanwhile. */
Test(team, function_may_wait_for_another)
{
	struct team_fixture t = begin_team(NULL, &(struct quoit_team_params){.lanes = 1});
	struct quoit_ring *q;

	nest = (struct nest){t.f.s, t.team, 8};
	cr_assert_eq(quoit_open_ring(t.f.s,
				     &(struct quoit_ring_params){.flags = QUOIT_RING_NO_CALLS}, &q),
		     0);
	cr_expect_eq(run(q, call(&t, "nested", 0, 0)), 0);
	cr_expect_eq(nest.depth, 0);
	end_team(&t);
}

/* The function reaps the CQE for which the wait below it on the stack is there. */
Test(team, wait_ends_if_a_function_that_it_runs_has_reaped_its_job)
{
	struct team_fixture t =
		begin_team(NULL, &(struct quoit_team_params){.flags = QUOIT_TEAM_NO_LANES});
	quoit_tensor a = shared(&t.f), b = create(t.f.q, N, 0), c = create(t.f.q, 3, 0);
	struct quoit_error e;
	quoit_job copied;

	settle(t.f.q); /* the tensors are known to the other ring from here on */
	(void)acquire(t.f.p, a, QUOIT_ACCESS_WRITE);
	on_top = (struct on_top){t.f.q, t.f.p, a, b, c};
	cr_assert_eq(quoit_push(t.f.q, call(&t, "wait_on_top", 0, 0)), 0);
	cr_assert_eq(quoit_start(t.f.q, quoit_copy(b, a), &copied), 0);
	cr_expect_eq(quoit_wait(t.f.q, copied, 20000), 0);
	cr_expect(!quoit_get_wait_error(t.f.q, &e), "that is the function's error");
	cr_expect_eq(quoit_wait_all(t.f.q, QUOIT_FOREVER), 0);
	cr_expect_eq(quoit_count_failures(t.f.q, NULL), 0);
	end_team(&t);
}

/* ---- many threads ---- */

#define OWNERS 3
#define OWNED  4
#define STEPS  3000

struct owner {
	const struct team_fixture *t;
	pthread_t thread;
	uint32_t seed;
};

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 16;
}

/* One step on one tensor, or from it to another; keeps `value` as the tensors will be. */
static void take_step(struct owner *o, struct quoit_ring *q, const quoit_tensor *own,
		      int32_t *value)
{
	unsigned a = next_random(&o->seed) % OWNED, b = (a + 1) % OWNED;
	struct quoit_sqe sqe;

	switch (next_random(&o->seed) % 4) {
	case 0:
		sqe = quoit_add_int(own[a], own[a], 1);
		value[a]++;
		break;
	case 1:
		sqe = quoit_op_arg(call(o->t, "scale", own[b], own[a]), 3, (uint64_t)-1, 0);
		value[b] = 3 - value[a];
		break;
	default:
		sqe = quoit_with_priority(call(o->t, "add_one", own[a], 0),
					  (uint8_t)(next_random(&o->seed) % QUOIT_PRIO_NR));
		value[a]++;
		break;
	}
	cr_assert_eq(quoit_push(q, sqe), 0);
}

static void *own_tensors(void *arg)
{
	const struct quoit_ring_params params = {.entries = 64};
	struct owner *o = arg;
	quoit_tensor own[OWNED];
	int32_t value[OWNED] = {0};
	struct quoit_ring *q;

	cr_assert_eq(quoit_open_ring(o->t->f.s, &params, &q), 0);
	for (unsigned i = 0; i < OWNED; i++)
		own[i] = create(q, N, QUOIT_CREATE_SHARED);
	for (unsigned i = 0; i < STEPS; i++) {
		take_step(o, q, own, value);
		if (!(next_random(&o->seed) % 200))
			cr_assert_eq(quoit_wait_all(q, QUOIT_FOREVER), 0);
	}
	for (unsigned i = 0; i < OWNED; i++)
		expect_all(q, own[i], value[i]);
	return NULL;
}

Test(team, many_threads_call_and_serve)
{
	struct team_fixture t = begin_team(NULL, &(struct quoit_team_params){.lanes = 3});
	struct owner owner[OWNERS];

	for (unsigned i = 0; i < OWNERS; i++) {
		owner[i] = (struct owner){.t = &t, .seed = i + 1};
		cr_assert_eq(pthread_create(&owner[i].thread, NULL, own_tensors, &owner[i]), 0);
	}
	for (unsigned i = 0; i < OWNERS; i++)
		pthread_join(owner[i].thread, NULL);
	end_team(&t);
}

/* ---- ends ---- */

Test(team, calls_that_did_not_begin_are_cancelled_with_their_team)
{
	struct team_fixture t = begin_team(NULL, &(struct quoit_team_params){.lanes = 1});
	quoit_job job[8];
	pthread_t closer;
	void *result;
	int ended = 0;

	for (int i = 0; i < 8; i++)
		job[i] = start(t.f.p, call(&t, "pass", 0, 0));
	cr_assert_eq(quoit_flush(t.f.p), 0);
	gate_await(&gate, 1);
	cr_assert_eq(pthread_create(&closer, NULL, (void *(*)(void *))(uintptr_t)quoit_close_team,
				    t.team),
		     0);
	usleep(20000);
	gate_open(&gate);
	pthread_join(closer, &result);
	for (int i = 0; i < 8; i++) {
		int res = quoit_wait(t.f.p, job[i], QUOIT_FOREVER);

		cr_expect(!res || res == -ECANCELED, "%d", res);
		ended += !res;
	}
	cr_expect_eq(ended, 1);
	cr_expect_eq(run(t.f.p, quoit_call(2 << 8, 0, 0, 0, 0)), -EINVAL, "the team is gone");
	end(&t.f);
}

/* Without helping: the thread that waits would be the one that ends. */
static int wait_idly(struct quoit_ring *q, quoit_job job)
{
	int result;

	while ((result = quoit_get_result(q, job)) == -EINPROGRESS)
		usleep(1000);
	return result;
}

Test(team, function_that_ends_its_thread_holds_up_no_end)
{
	struct team_fixture t = begin_team(NULL, &(struct quoit_team_params){.lanes = 2});
	quoit_job late = start(t.f.p, quoit_with_deadline(call(&t, "end_thread", 0, 0), 20000)),
		  never = 0;

	cr_assert_eq(quoit_flush(t.f.p), 0);
	cr_expect_eq(wait_idly(t.f.p, late), -ETIME);
	cr_expect_eq(run(t.f.p, call(&t, "count", 0, 0)), 0, "the other lane");
	never = start(t.f.p, call(&t, "end_thread", 0, 0));
	cr_expect_eq(quoit_flush(t.f.p), 0);
	cr_expect_eq(quoit_close_team(t.team), 0);
	cr_expect_eq(wait_idly(t.f.p, never), -ECANCELED);
	end(&t.f);
}

Test(team, session_closes_with_its_teams)
{
	struct team_fixture t = begin_team(NULL, NULL);
	quoit_tensor a = shared(&t.f);

	for (int i = 0; i < 200; i++)
		cr_assert_eq(quoit_push(t.f.q, call(&t, "add_one", a, 0)), 0);
	end(&t.f);
}

Test(team, call_that_is_late_ends_for_its_waiter_and_goes_on)
{
	struct team_fixture t = begin_team(NULL, &(struct quoit_team_params){.lanes = 1});
	quoit_tensor a = shared(&t.f);
	quoit_job late, second, next;
	char text[256];

	settle(t.f.q); /* the tensor is known to the other ring from here on */
	late = start(t.f.p, quoit_with_deadline(call(&t, "pass", a, 0), 20000));
	cr_assert_eq(quoit_flush(t.f.p), 0);
	gate_await(&gate, 1);
	cr_expect_eq(quoit_wait(t.f.p, late, QUOIT_FOREVER), -ETIME);
	quoit_strerror_wait(t.f.p, -ETIME, text, sizeof text);
	cr_expect(strstr(text, "function 'pass' (job "), "%s", text);
	cr_expect(strstr(text, "ETIME: its deadline of 20 ms passed; its team had had it for "),
		  "%s", text);
	second = start(t.f.p, quoit_with_deadline(call(&t, "pass", a, 0), 900));
	cr_expect_eq(quoit_wait(t.f.p, second, QUOIT_FOREVER), -ETIME);
	quoit_strerror_wait(t.f.p, -ETIME, text, sizeof text);
	cr_expect(strstr(text, "ETIME: its deadline of 900 us passed before it began"), "%s", text);
	next = start(t.f.p, call(&t, "pass", 0, 0));
	cr_assert_eq(quoit_flush(t.f.p), 0);
	gate_open(&gate);
	cr_expect_eq(quoit_wait(t.f.p, next, QUOIT_FOREVER), 0);
	end_team(&t);
}

Test(team, call_that_waits_can_be_cancelled)
{
	struct team_fixture t = begin_team(NULL, &(struct quoit_team_params){.lanes = 1});
	quoit_tensor a = shared(&t.f);
	quoit_job first, second;

	settle(t.f.q); /* the tensor is known to the other ring from here on */
	first = start(t.f.p, call(&t, "pass", a, 0));
	second = start(t.f.p, call(&t, "pass", a, 0));
	gate_await(&gate, 1);
	cr_expect_eq(quoit_cancel(t.f.p, first), -EALREADY);
	cr_expect_eq(quoit_cancel(t.f.p, second), 0);
	cr_expect_eq(quoit_wait(t.f.p, second, QUOIT_FOREVER), -ECANCELED);
	gate_open(&gate);
	cr_expect_eq(quoit_wait(t.f.p, first, QUOIT_FOREVER), 0);
	end_team(&t);
}

Test(team, quoitd_that_ends_waits_for_calls)
{
	struct team_fixture t = begin_team(NULL, &(struct quoit_team_params){.lanes = 1});
	quoit_job job = start(t.f.p, call(&t, "pass", 0, 0));

	cr_assert_eq(quoit_flush(t.f.p), 0);
	gate_await(&gate, 1);
	cr_assert_eq(kill(t.f.d.pid, SIGTERM), 0);
	usleep(100000);
	gate_open(&gate);
	cr_expect_eq(quoit_wait(t.f.p, job, QUOIT_FOREVER), 0);
	(void)quoit_close_team(t.team);
	(void)quoit_close(t.f.s, 0);
	daemon_stop(&t.f.d);
}

/* ---- what is shown ---- */

static void wait_for_counter(struct team_fixture *t, unsigned counter, uint64_t value)
{
	struct quoit_info info;

	quoit_get_info(t->f.s, &info);
	while (daemon_session_counter(&t->f.d, info.session, counter) != value)
		usleep(1000);
}

Test(team, calls_are_counted)
{
	struct team_fixture t = begin_team(NULL, &(struct quoit_team_params){.lanes = 1});
	quoit_job job[6];

	for (int i = 0; i < 6; i++) {
		job[i] = start(t.f.p, call(&t, "pass", 0, 0));
		gate_await(&gate, 1);
	}
	wait_for_counter(&t, QUOIT_SESSION_CALLS_POSTED,
			 3); /* one runs; as many as lanes, and one */
	wait_for_counter(&t, QUOIT_SESSION_CALLS_WAITING, 3);
	gate_open(&gate);
	cr_assert_eq(quoit_wait_all_of(t.f.p, job, 6, QUOIT_FOREVER), 6);
	wait_for_counter(&t, QUOIT_SESSION_CALLS, 6);
	wait_for_counter(&t, QUOIT_SESSION_CALLS_POSTED, 0);
	wait_for_counter(&t, QUOIT_SESSION_CALLS_WAITING, 0);
	end_team(&t);
}

/* ---- the examples ---- */

Test(team, stencil_in_pieces_has_the_bits_of_one_loop)
{
	char said[4096];

	cr_expect_eq(tool_run(said, sizeof said, "run -- %s/examples/heat", tool_folder()), 0, "%s",
		     said);
	cr_expect(strstr(said, "the same bits as in one loop"), "%s", said);
}

Test(team, cholesky_in_tiles_has_the_factor_of_lapack)
{
	char said[4096], path[4096];

	snprintf(path, sizeof path, "%s/examples/cholesky", tool_folder());
	if (access(path, X_OK) < 0)
		cr_skip_test("LAPACKE is not installed");
	cr_expect_eq(tool_run(said, sizeof said, "run -- %s 1024", path), 0, "%s", said);
	cr_expect(strstr(said, "they differ by"), "%s", said);
}

/* The field's jobs go on while steps are measured; a measurement that fails is that of its step alone. */
Test(team, sampler_has_the_chains_of_plain_c_though_a_measurement_fails)
{
	char said[4096];

	cr_expect_eq(tool_run(said, sizeof said,
			      "run -- %s/examples/sampler_hmc --steps=300 --fail=50 --check",
			      tool_folder()),
		     0, "%s", said);
	cr_expect(strstr(said, "step 50 was not measured: function 'measure'"), "%s", said);
	cr_expect(strstr(said, "measurements that failed: 1\n"), "%s", said);
	cr_expect(strstr(said, "the chains have the same bits as in plain C"), "%s", said);
}

/* ---- memory ---- */

/* The head fits in bytes and not in one piece: pieces move when no call runs, and calls go on. */
Test(team, pieces_move_between_calls)
{
	struct team_fixture t = begin_team(NULL, &(struct quoit_team_params){.lanes = 1});
	quoit_tensor odd[16], even[16], large;

	for (int i = 0; i < 16; i++) {
		odd[i] = create(t.f.q, 31 * 1024, QUOIT_CREATE_SHARED);
		even[i] = create(t.f.q, 31 * 1024, QUOIT_CREATE_SHARED);
		cr_assert_eq(quoit_push(t.f.q, quoit_fill_int(odd[i], i)), 0);
		cr_assert_eq(quoit_push(t.f.q, call(&t, "add_one", odd[i], 0)), 0);
		cr_assert_eq(quoit_push(t.f.q, call(&t, "add_one", even[i], 0)), 0);
	}
	for (int i = 0; i < 16; i++)
		quoit_free(t.f.q, even[i]);
	large = create(t.f.q, 300 * 1024, QUOIT_CREATE_SHARED);
	cr_assert_eq(quoit_push(t.f.q, call(&t, "add_one", large, 0)), 0);
	for (int i = 0; i < 16; i++)
		cr_assert_eq(quoit_push(t.f.q, call(&t, "add_one", odd[i], 0)), 0);
	cr_assert_eq(quoit_wait_all(t.f.q, QUOIT_FOREVER), 0);
	for (int i = 0; i < 16; i++) {
		int32_t *at = acquire(t.f.q, odd[i], QUOIT_ACCESS_READ);

		for (int k = 0; k < 31 * 1024; k++)
			cr_assert_eq(at[k], i + 2);
	}
	cr_expect_eq(quoit_count_failures(t.f.q, NULL), 0u);
	end_team(&t);
}

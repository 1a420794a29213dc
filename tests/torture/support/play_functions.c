/* SPDX-License-Identifier: MIT */
/* play_functions.c - the functions of the program that a plan calls */
#include <errno.h>
#include <string.h>

#include "play.h"

static uint32_t elements(const struct quoit_exec_tensor *t)
{
	return t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3];
}

/*
 * quoitd keeps threads apart that use an element.  A sanitizer of threads sees no order that comes
 * from another process, so it is told that each element is atomic.
 */
static int32_t get(const struct quoit_exec_tensor *t, uint32_t i)
{
	return __atomic_load_n((const int32_t *)t->data + (int64_t)i * t->stride[3],
			       __ATOMIC_RELAXED);
}

static void put(const struct quoit_exec_tensor *t, uint32_t i, int32_t value)
{
	__atomic_store_n((int32_t *)t->data + (int64_t)i * t->stride[3], value, __ATOMIC_RELAXED);
}

static int bump(void *session, struct quoit_exec_call *c)
{
	(void)session;
	for (uint32_t i = 0; i < elements(&c->tensor[0]); i++)
		put(&c->tensor[0], i, plan_change(get(&c->tensor[0], i)));
	return 0;
}

static int mix(void *session, struct quoit_exec_call *c)
{
	const struct quoit_exec_tensor *z = &c->tensor[2];

	(void)session;
	for (uint32_t i = 0; i < elements(&c->tensor[0]); i++)
		put(&c->tensor[0], i,
		    plan_multiply_add(get(&c->tensor[1], i), (int32_t)c->scalar[0].i,
				      z->data ? get(z, i) : (int32_t)c->scalar[1].i));
	return 0;
}

static uint32_t pieces(void *session, const struct quoit_exec_call *c)
{
	(void)session;
	return (uint32_t)c->scalar[1].u;
}

/* A piece that runs twice adds twice. */
static int cut(void *session, struct quoit_exec_call *c)
{
	const uint64_t n = elements(&c->tensor[0]);

	(void)session;
	for (uint64_t k = n * c->piece / c->pieces; k < n * (c->piece + 1) / c->pieces; k++) {
		uint32_t i = (uint32_t)k;

		put(&c->tensor[0], i,
		    plan_multiply_add(get(&c->tensor[1], i), (int32_t)c->scalar[0].i,
				      get(&c->tensor[0], i)));
	}
	return 0;
}

static int total(void *session, struct quoit_exec_call *c)
{
	int32_t sum = 0;

	(void)session;
	for (uint32_t i = 0; i < elements(&c->tensor[1]); i++)
		sum = plan_multiply_add(sum, 1, get(&c->tensor[1], i));
	put(&c->tensor[0], 0, sum);
	return 0;
}

static int count(void *session, struct quoit_exec_call *c)
{
	(void)session;
	return (int)elements(&c->tensor[0]);
}

static int fail(void *session, struct quoit_exec_call *c)
{
	(void)session;
	for (uint32_t i = 0; i < elements(&c->tensor[0]) / 2; i++)
		put(&c->tensor[0], i, -1);
	c->field = QUOIT_FIELD_SCALAR0;
	strcpy(c->text, "it was to fail");
	return -EDOM;
}

static int fail_piece(void *session, struct quoit_exec_call *c)
{
	(void)session;
	if (c->piece >= c->scalar[0].u)
		return -PLAN_PIECE_FAILS - (int)c->piece;
	put(&c->tensor[0], 0, -1);
	return 0;
}

/*
 * The ring of this thread, which ends with its session.  A thread serves one session all its life.
 */
static _Thread_local struct quoit_ring *own;

/* A job on the arena needs no byte that a queue could lack, perhaps because of this call. */
static int wait_for_a_job(struct play_session *s, int32_t value)
{
	const struct quoit_shape shape = {.dtype = QUOIT_I32, .dim = {1, 1, 1, 1}};
	int32_t *at = quoit_alloc(s->s, sizeof *at);
	quoit_tensor t;
	quoit_job job;
	int err;

	if (!at)
		return -ENOMEM;
	t = quoit_create_in(own, &shape, at);
	err = quoit_start(own, quoit_fill_int(t, value), &job);
	if (!err)
		err = quoit_wait(own, job, PLAY_PATIENCE_MS);
	if (!err && *at != value)
		err = -EIO;
	(void)quoit_free(own, t);
	quoit_dealloc(s->s, at);
	return err;
}

static int nest(void *session, struct quoit_exec_call *c)
{
	struct play_session *s = session;
	int err = own ? 0 : quoit_open_ring(s->s, NULL, &own);

	if (!err)
		err = wait_for_a_job(s, (int32_t)c->scalar[0].i);
	return err ? err : bump(session, c);
}

void play_functions(struct play_session *s, struct quoit_function to[PLAN_FUNCTIONS])
{
	static const struct quoit_function functions[PLAN_FUNCTIONS] = {
		[PLAN_BUMP] = {.name = "bump", .access = "M---", .run = bump},
		[PLAN_MIX] = {.name = "mix", .access = "WRr-", .run = mix},
		[PLAN_CUT] = {.name = "cut", .access = "MR--", .run = cut, .pieces = pieces},
		[PLAN_TOTAL] = {.name = "total", .access = "WR--", .run = total},
		[PLAN_COUNT] = {.name = "count", .access = "R---", .run = count},
		[PLAN_FAIL] = {.name = "fail", .access = "W---", .run = fail},
		[PLAN_FAIL_PIECE] = {.name = "fail_piece",
				     .access = "M---",
				     .run = fail_piece,
				     .pieces = pieces},
		[PLAN_NEST] = {.name = "nest", .access = "M---", .run = nest},
	};

	for (unsigned i = 0; i < PLAN_FUNCTIONS; i++) {
		to[i] = functions[i];
		to[i].state = s;
	}
}

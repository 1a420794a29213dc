/* SPDX-License-Identifier: MIT */
/*
 * hostile_service.c - processes that serve and break the rules: case 98 of the threat model
 *
 * After each case a new server and a new caller must work, besides what the stage looks at.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl_client.h"
#include "serving.h"

/* Bytes that results can lie in: the server's arena. */
#define ARENA UINT64_C(65536)

/* A close that waits for a call may take about a second; sanitizers and neighbours take more. */
#define CLOSE_MOST_MS 5000u

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- returns ---- */

/* A return that ends the server; the call that it has fails by name. */
static void expect_end(struct stage *s, uint64_t (*name)(struct stage *s, uint64_t id))
{
	struct couple p;
	uint64_t id;

	if (!couple_open(s, &p, 0))
		return;
	id = couple_begin(s, &p);
	couple_answer(s, &p, serving_answer(name(s, id), 0, 0));
	serving_await_end(s, &p.v, QUOIT_DAEMON_KILL_RETURN);
	CHECK(s, calling_result(&p.k) == -QUOIT_EEXEC);
	CHECK(s, stage_leave(s, &p.k.c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static uint64_t next_slot(struct stage *s, uint64_t id)
{
	(void)s;
	return id ^ 1;
}

static uint64_t next_serial(struct stage *s, uint64_t id)
{
	(void)s;
	return id + (UINT64_C(1) << 32);
}

static uint64_t last_slot(struct stage *s, uint64_t id)
{
	(void)s;
	return id | UINT32_MAX;
}

static uint64_t nothing(struct stage *s, uint64_t id)
{
	(void)s;
	(void)id;
	return 0;
}

static uint64_t any(struct stage *s, uint64_t id)
{
	uint64_t low = stage_random(s, 2) ? stage_random(s, UINT32_MAX) : (uint32_t)id;

	return ((id >> 32) + 1 + stage_random(s, UINT32_MAX - 1)) << 32 | low;
}

static void returns_of_calls_that_it_was_not_given(struct stage *s)
{
	expect_end(s, next_slot);
	expect_end(s, next_serial);
	expect_end(s, last_slot);
	expect_end(s, nothing);
	for (unsigned i = 0; i < stage_times(s, 5, 500) && !s->bad; i++)
		expect_end(s, any);
	serving_afresh(s);
}

/* The call has ended once, whatever comes after. */
static void return_that_comes_twice(struct stage *s)
{
	struct quoit_sqe good;
	struct couple p;

	if (!couple_open(s, &p, 0))
		return;
	good = serving_answer(couple_begin(s, &p), 0, 0);
	serving_expect_refused(s, &p.v.c, good, -EINVAL); /* not the team's ring */
	serving_expect_refused(s, &p.k.c, good, -EINVAL); /* the caller's own */
	couple_answer(s, &p, good);
	CHECK(s, !calling_result(&p.k));
	couple_answer(s, &p, good);
	serving_await_end(s, &p.v, QUOIT_DAEMON_KILL_RETURN);
	couple_settle(s, &p);
	CHECK(s, raw_cq_tail(&p.k.c) == p.k.c.cq.next);
	CHECK(s, stage_leave(s, &p.k.c) == QUOIT_DAEMON_CLIENTS_LEFT);
	serving_afresh(s);
}

/* The caller's deadline ends the job; what comes after changes nothing. */
static void return_that_comes_late(struct stage *s)
{
	struct quoit_sqe sqe;
	struct couple p;

	if (!couple_open(s, &p, 0))
		return;
	for (unsigned i = 0; i < stage_times(s, 3, 200) && !s->bad; i++) {
		struct serving_call taken;

		sqe = calling_call(&p.k, 1);
		sqe.deadline = 10000;
		CHECK(s, raw_submit(&p.k.c, &sqe));
		if (!serving_take(s, &p.v, &taken))
			break;
		CHECK(s, calling_result(&p.k) == -ETIME);
		memset(p.v.c.arena, 0xff, SERVING_RESULTS);
		couple_answer(s, &p, serving_answer(taken.id, 0, 0));
		CHECK(s, raw_cq_tail(&p.k.c) == p.k.c.cq.next);
		calling_try(s, &p.k, &p.v);
	}
	couple_leave(s, &p);
}

static const struct {
	uint64_t place;
	int32_t result, expected;
	bool ends; /* the server's session */
} returns[] = {
	{SERVING_NOWHERE, 0, -EPROTO, true}, /* without results where there is an output */
	{1, 0, -EPROTO, true},
	{63, 0, -EPROTO, true},
	{ARENA - 1, 0, -EPROTO, true},
	{ARENA - 63, 0, -EPROTO, true},
	{ARENA, 0, -EPROTO, true},
	{ARENA + 64, 0, -EPROTO, true},
	{UINT64_C(1) << 63, 0, -EPROTO, true},
	{UINT64_MAX - 1, 0, -EPROTO, true},
	{UINT64_MAX - 63, 0, -EPROTO, true},
	{ARENA - 64, -EIO, -EPROTO, true}, /* words need 120 bytes */
	{UINT64_MAX - 63, -EIO, -EPROTO, true},
	{ARENA - 64, 0, 0, false},
	{ARENA - 64, INT32_MAX, INT32_MAX, false},
	{SERVING_NOWHERE, INT32_MIN, -EPROTO, false},
	{SERVING_NOWHERE, -QUOIT_EPOISON, -EPROTO, false},
	{SERVING_NOWHERE, -QUOIT_EEXEC, -EPROTO, false},
	{SERVING_NOWHERE, -EIO, -EIO, false},
	{ARENA - 128, -EIO, -EIO, false},
};

static void try_return(struct stage *s, struct couple *p, unsigned i)
{
	struct quoit_error error = {0};
	struct quoit_cqe cqe = {0};
	struct quoit_sqe sqe;

	sqe = serving_answer(couple_begin(s, p), returns[i].result, returns[i].place);
	sqe.about = UINT32_MAX;
	sqe.began = UINT64_MAX;
	sqe.finished = 1;
	couple_answer(s, p, sqe);
	CHECK(s, !raw_reap(&p->k.c, SERVING_PATIENCE_MS, &cqe, &error));
	CHECK(s, cqe.res == returns[i].expected && error.field < QUOIT_FIELD_NR);
}

static void results_at_any_place(struct stage *s)
{
	struct couple p;

	for (unsigned i = 0; i < sizeof returns / sizeof *returns && !s->bad; i++) {
		if (!couple_open(s, &p, 0))
			return;
		memset(p.v.c.arena, '\x1b', ARENA); /* words without an end */
		try_return(s, &p, i);
		if (returns[i].ends) {
			serving_await_end(s, &p.v, QUOIT_DAEMON_KILL_RETURN);
		} else {
			calling_try(s, &p.k, &p.v);
			serving_leave(s, &p.v);
		}
		CHECK(s, stage_leave(s, &p.k.c) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
	serving_afresh(s);
}

static void return_with_bits_that_it_does_not_have(struct stage *s)
{
	struct quoit_sqe sqe;
	struct couple p;

	if (!couple_open(s, &p, 0))
		return;
	sqe = serving_answer(couple_begin(s, &p), 0, 0);
	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t word = 0;

		if (bit < 16) /* the opcode, and QUIET */
			continue;
		memcpy(&word, &sqe, sizeof word);
		word ^= UINT64_C(1) << bit;
		memcpy(&sqe, &word, sizeof word);
		serving_expect_refused(s, &p.v.team, sqe, -EINVAL);
		word ^= UINT64_C(1) << bit;
		memcpy(&sqe, &word, sizeof word);
	}
	couple_answer(s, &p, sqe);
	CHECK(s, !calling_result(&p.k));
	for (unsigned i = 0; i < QUOIT_OP_NR && !s->bad; i++)
		if (i != QUOIT_OP_RETURN)
			serving_expect_refused(s, &p.v.team,
					       (struct quoit_sqe){.opcode = (uint8_t)i}, -EINVAL);
	couple_leave(s, &p);
}

/* ---- its ring's words ---- */

static void head_of_its_cq_that_lies(struct stage *s)
{
	static const uint32_t by[] = {2, 5, SERVING_CQ, UINT32_C(1) << 31, UINT32_MAX - 5};
	struct couple p;

	for (unsigned i = 0; i < sizeof by / sizeof *by && !s->bad; i++) {
		int32_t first, second;

		if (!couple_open(s, &p, 0))
			return;
		__atomic_store_n(&p.v.team.client->lanes, 2, __ATOMIC_RELAXED);
		calling_spread(s, &p.k);
		calling_try(s, &p.k, &p.v); /* with its return quoitd sees the threads */
		(void)couple_begin(s, &p);
		raw_set_cq_head(&p.v.team, p.v.team.cq.next + by[i]);
		couple_call_to(s, &p, 0, 78);
		serving_await_end(s, &p.v, QUOIT_DAEMON_KILL_CQ_HEAD);
		first = calling_result(&p.k);
		second = calling_result(&p.k);
		CHECK(s, first == -QUOIT_EEXEC || first == -ENOENT);
		CHECK(s, second == -QUOIT_EEXEC || second == -ENOENT);
		CHECK(s, stage_leave(s, &p.k.c) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
	serving_afresh(s);
}

static void tail_of_its_sq_that_lies(struct stage *s)
{
	struct couple p;

	if (!couple_open(s, &p, 0))
		return;
	(void)couple_begin(s, &p);
	raw_set_tail(&p.v.team, p.v.team.sq.next + SERVING_SQ + 1);
	serving_await_end(s, &p.v, QUOIT_DAEMON_KILL_RING_TAIL);
	CHECK(s, calling_result(&p.k) == -QUOIT_EEXEC);
	CHECK(s, stage_leave(s, &p.k.c) == QUOIT_DAEMON_CLIENTS_LEFT);
	serving_afresh(s);
}

/* It gets as many calls as its ring has room for, and all of them end. */
static void server_of_any_number_of_threads(struct stage *s)
{
	static const uint32_t lanes[] = {UINT32_MAX, 1025, 0, 1, UINT32_C(1) << 31};
	static const uint32_t suspended[] = {0, UINT32_MAX, UINT32_MAX, 7, UINT32_C(1) << 31};
	struct couple p;

	if (!couple_open(s, &p, 0))
		return;
	calling_spread(s, &p.k);
	for (unsigned i = 0; i < sizeof lanes / sizeof *lanes; i++) {
		__atomic_store_n(&p.v.team.client->lanes, lanes[i], __ATOMIC_RELAXED);
		__atomic_store_n(&p.v.team.client->suspended, suspended[i], __ATOMIC_RELAXED);
		for (unsigned k = 0; k < 64; k++)
			couple_call_to(s, &p, k, k);
		for (unsigned k = 0; k < 64 && !s->bad; k++) {
			struct serving_call taken;

			if (!serving_take(s, &p.v, &taken))
				break;
			CHECK(s, raw_cq_tail(&p.v.team) - p.v.team.cq.next <= SERVING_CQ - 4);
			couple_answer(s, &p,
				      serving_answer(taken.id, (int32_t)taken.entry.user_data, 0));
			CHECK(s, calling_result(&p.k) == (int32_t)taken.entry.user_data);
		}
	}
	calling_try(s, &p.k, &p.v);
	couple_leave(s, &p);
}

/* ---- no return ---- */

static void server_that_never_returns(struct stage *s)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_CLOSE};
	struct quoit_sqe sqe;
	struct couple p;
	uint64_t since, id;

	if (!couple_open(s, &p, 0))
		return;
	id = couple_begin(s, &p);
	sqe = calling_call(&p.k, 1);
	sqe.deadline = 20000;
	CHECK(s, raw_submit(&p.k.c, &sqe)); /* waits for the first one's tensor */
	CHECK(s, calling_result(&p.k) == -ETIME);
	since = now_ms();
	CHECK(s, !raw_call_with(&p.k.c, &m, -1, NULL)); /* without cancelling */
	CHECK(s, now_ms() - since < CLOSE_MOST_MS);
	stage_expect(s, QUOIT_DAEMON_CLIENTS_LEFT, 1);
	raw_close(&p.k.c);
	couple_answer(s, &p, serving_answer(id, 0, 0));
	serving_leave(s, &p.v);
	serving_afresh(s);
}

static void service_that_is_closed_while_its_calls_run(struct stage *s)
{
	unsigned refused = 0, cancelled = 0;
	struct serving_call ahead;
	struct couple p;
	uint64_t id;

	if (!couple_open(s, &p, 0))
		return;
	calling_spread(s, &p.k);
	id = couple_begin(s, &p);
	for (unsigned i = 0; i < 20; i++)
		couple_call_to(s, &p, i, i);
	couple_await_fetched(s, &p);
	/* the one ahead of its turn goes by way of another reactor */
	CHECK(s, raw_await_posted(&p.v.team, p.v.team.cq.next + 1));
	CHECK(s, !calling_close(&p.k.c, p.k.service));
	CHECK(s, calling_close(&p.k.c, p.k.service) == -EBADF);
	couple_call(s, &p, 99);
	for (unsigned i = 0; i < 20; i++) {
		int32_t res = calling_result(&p.k);

		refused += res == -EINVAL;
		cancelled += res == -ECANCELED;
	}
	CHECK(s, refused == 1 && cancelled == 19);
	/* what the server has goes on: one that has begun, and one ahead of its turn */
	couple_answer(s, &p, serving_answer(id, 0, 0));
	CHECK(s, !calling_result(&p.k));
	if (serving_take(s, &p.v, &ahead))
		couple_answer(s, &p, serving_answer(ahead.id, 0, 0));
	CHECK(s, !calling_result(&p.k));
	couple_leave(s, &p);
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(returns_of_calls_that_it_was_not_given),
		STAGE_CASE(return_that_comes_twice),
		STAGE_CASE(return_that_comes_late),
		STAGE_CASE(results_at_any_place),
		STAGE_CASE(return_with_bits_that_it_does_not_have),
		STAGE_CASE(head_of_its_cq_that_lies),
		STAGE_CASE(tail_of_its_sq_that_lies),
		STAGE_CASE(server_of_any_number_of_threads),
		STAGE_CASE(server_that_never_returns),
		STAGE_CASE(service_that_is_closed_while_its_calls_run),
	};

	/* so that calls travel from reactor to reactor */
	static const char *const options[] = {"--reactors=3", NULL};
	const struct stage_scene one = {0}, several = {.options = options};
	struct stage stage;

	if (!stage_init(&stage, argc, argv))
		return 2;
	stage_play(&stage, &one, cases, sizeof cases / sizeof *cases);
	stage_play(&stage, &several, cases, sizeof cases / sizeof *cases);
	return stage_end(&stage);
}

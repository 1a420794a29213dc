/* SPDX-License-Identifier: MIT */
/* hostile_team.c - returns that no thread of a team would make, and teams that do not serve */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "stage.h"

#define PATIENCE_MS 60000
#define ENTRIES     64u
#define TEAM_SQ     8u
#define TEAM_CQ     16u

static const struct raw_wish wish = {.host_bytes = 4 << 20,
				     .arena_bytes = 4096,
				     .max_tensors = 64,
				     .sq_entries = ENTRIES,
				     .cq_entries = 2 * ENTRIES};

/* A session with an ordinary ring (c) and a team's (team), which has one function. */
struct team_pair {
	struct raw_client c, team;
};

static bool open_pair_as(struct stage *s, struct team_pair *p, const struct raw_wish *as,
			 const char *access)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_FUNCTION_ADD, .function = {.name = "f"}};
	unsigned count;

	memcpy(m.function.access, access, QUOIT_MAX_TENSORS_PER_JOB);
	if (!stage_open(s, &p->c, as))
		return false;
	p->team = p->c;
	p->team.pages = NULL;
	p->team.ring_fd = p->team.bell = -1;
	if (!CHECK(s, !raw_ring_open(&p->team, TEAM_SQ, TEAM_CQ, QUOIT_RING_CALLS)))
		return false;
	m.function.ring = p->team.ring;
	if (!CHECK(s, !raw_call(&p->team, &m, NULL, 0, &count)))
		return false;
	p->c.seq = p->team.seq;
	return true;
}

static bool open_pair(struct stage *s, struct team_pair *p)
{
	return open_pair_as(s, p, &wish, "----");
}

/* The team's ring is unmapped; quoitd still has it. */
static void drop_team(struct team_pair *p)
{
	p->team.socket = p->team.arena_fd = -1;
	p->team.arena = NULL;
	raw_close(&p->team);
}

static void leave(struct stage *s, struct team_pair *p)
{
	drop_team(p);
	CHECK(s, stage_leave(s, &p->c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static struct quoit_sqe call(const struct team_pair *p, uint64_t user_data)
{
	return (struct quoit_sqe){
		.opcode = QUOIT_OP_CALL, .user_data = user_data, .team = (uint8_t)p->team.ring};
}

static struct quoit_sqe ret(uint64_t id, int32_t result)
{
	return (struct quoit_sqe){.opcode = QUOIT_OP_RETURN,
				  .flags = QUOIT_SQE_QUIET,
				  .user_data = id,
				  .result = result};
}

/* Put one call in; its name at the team, or 0. */
static uint64_t take_call(struct stage *s, struct team_pair *p)
{
	struct quoit_sqe sqe = call(p, 77);
	struct quoit_cqe cqe = {0};

	CHECK(s, raw_submit(&p->c, &sqe));
	CHECK(s, !raw_reap(&p->team, PATIENCE_MS, &cqe, NULL));
	CHECK(s, !cqe.flags && !cqe.res);
	return cqe.user_data;
}

/* A return that quoitd refuses with this error. */
static void expect_refused(struct stage *s, struct raw_client *at, struct quoit_sqe sqe, int err)
{
	struct quoit_cqe cqe = {0};

	CHECK(s, raw_submit(at, &sqe));
	CHECK(s, !raw_reap(at, PATIENCE_MS, &cqe, NULL));
	CHECK(s, cqe.res == err && cqe.flags & QUOIT_CQE_ERROR);
}

/* The result of the ordinary ring's next job. */
static int32_t result(struct stage *s, struct team_pair *p)
{
	struct quoit_cqe cqe = {0};

	CHECK(s, !raw_reap(&p->c, PATIENCE_MS, &cqe, NULL));
	return cqe.res;
}

/* ---- returns ---- */

static void return_that_names_no_call(struct stage *s)
{
	struct quoit_sqe good;
	struct team_pair p;
	uint64_t id;

	if (!open_pair(s, &p))
		return;
	id = take_call(s, &p);
	good = ret(id, 0);
	expect_refused(s, &p.team, ret(id + 1, 0), -ENOENT);
	expect_refused(s, &p.team, ret(id ^ UINT64_C(1) << 40, 0), -ENOENT);
	expect_refused(s, &p.team, ret(id | UINT32_MAX, 0), -ENOENT);
	expect_refused(s, &p.team, ret(0, 0), -ENOENT);
	for (unsigned i = 0; i < stage_times(s, 200, 20000) && !s->bad; i++)
		expect_refused(s, &p.team,
			       ret((uint64_t)stage_random(s, UINT32_MAX) << 32 |
					   (stage_random(s, 2) ? (uint32_t)id
							       : stage_random(s, UINT32_MAX)),
				   0),
			       -ENOENT);
	expect_refused(s, &p.c, good, -EINVAL); /* not the team's ring */
	CHECK(s, raw_submit(&p.team, &good));
	CHECK(s, !result(s, &p));
	expect_refused(s, &p.team, good, -ENOENT); /* once more */
	leave(s, &p);
}

/*
 * Try the names that the only call may get.  On a busy machine it may be posted meanwhile: *posted is
 * its name then.  True: a name was its own, so it is returned.
 */
static bool return_early(struct stage *s, struct team_pair *p, uint64_t *posted)
{
	for (uint32_t slot = 0; slot < 64; slot++) {
		const struct quoit_sqe sqe = ret((uint64_t)slot << 32 | slot % 4, 0);
		struct quoit_cqe cqe = {0};

		CHECK(s, raw_submit(&p->team, &sqe));
		CHECK(s, !raw_reap(&p->team, PATIENCE_MS, &cqe, NULL));
		if (!(cqe.flags & QUOIT_CQE_ERROR)) {
			*posted = cqe.user_data;
			if (*posted == sqe.user_data)
				return true;
			CHECK(s, !raw_reap(&p->team, PATIENCE_MS, &cqe, NULL));
		}
		CHECK(s, cqe.res == -ENOENT && cqe.flags & QUOIT_CQE_ERROR);
		if (*posted)
			return false;
	}
	return false;
}

/*
 * Workers clear the tensor of a call before it is posted.  A return that names it then is refused:
 * it is not the team's yet.
 */
static void return_of_a_call_whose_tensor_is_being_cleared(struct stage *s)
{
	static const struct raw_wish large = {.host_bytes = 128 << 20,
					      .arena_bytes = 4096,
					      .shared_bytes = 64 << 20,
					      .max_tensors = 64,
					      .sq_entries = ENTRIES,
					      .cq_entries = 2 * ENTRIES};
	struct team_pair p;

	for (unsigned round = 0; round < stage_times(s, 3, 50) && !s->bad; round++) {
		struct quoit_sqe create = raw_vector(1, (60 << 20) / 4, RAW_ARENA_NOT), sqe;
		struct quoit_cqe cqe = {0};
		uint64_t posted = 0; /* the call's name, if it is known */
		bool returned;

		if (!open_pair_as(s, &p, &large, "M---"))
			return;
		/* so that the call is posted although the answer to a name was not read yet */
		__atomic_store_n(&p.team.client->lanes, 2, __ATOMIC_RELAXED);
		create.arg |= QUOIT_CREATE_SHARED;
		for (unsigned i = 0; i < 2; i++) { /* the second time its bytes are not zero */
			create.base[0] = 1u | i << QUOIT_HANDLE_INDEX_BITS;
			CHECK(s, !raw_run(&p.c, create));
			sqe = call(&p, i);
			sqe.tensor[0] = create.base[0];
			CHECK(s, raw_submit(&p.c, &sqe));
			returned = i && return_early(s, &p, &posted);
			if (i && round & 1)
				break; /* it leaves while workers have its job */
			if (!posted)
				CHECK(s, !raw_reap(&p.team, PATIENCE_MS, &cqe, NULL));
			sqe = ret(posted ? posted : cqe.user_data, 0);
			CHECK(s, returned || raw_submit(&p.team, &sqe));
			CHECK(s, !result(s, &p));
			CHECK(s, !raw_run(&p.c, raw_job(QUOIT_OP_FREE, create.base[0], 0, 0)));
		}
		leave(s, &p);
	}
}

static void return_with_odd_words(struct stage *s)
{
	static const struct {
		int32_t result, expected;
	} row[] = {{INT32_MIN, -EPROTO}, {-QUOIT_EPOISON, -EPROTO}, {-QUOIT_EEXEC, -EPROTO},
		   {-4095, -4095},       {INT32_MAX, INT32_MAX},    {-EIO, -EIO}};
	struct quoit_error error = {0};
	struct quoit_cqe cqe = {0};
	struct quoit_sqe sqe;
	struct team_pair p;

	if (!open_pair(s, &p))
		return;
	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		sqe = ret(take_call(s, &p), row[i].result);
		sqe.about = UINT32_MAX;
		sqe.began = UINT64_MAX;
		sqe.finished = 1;
		CHECK(s, raw_submit(&p.team, &sqe));
		CHECK(s, !raw_reap(&p.c, PATIENCE_MS, &cqe, &error));
		CHECK(s, cqe.res == row[i].expected && error.field < QUOIT_FIELD_NR);
	}
	sqe = ret(take_call(s, &p), 0);
	sqe.flags |= QUOIT_SQE_LINK;
	expect_refused(s, &p.team, sqe, -EINVAL);
	sqe.flags &= (uint8_t)~QUOIT_SQE_LINK;
	sqe.results = 1;
	expect_refused(s, &p.team, sqe, -EINVAL);
	leave(s, &p);
}

static void team_ring_takes_nothing_but_returns(struct stage *s)
{
	struct team_pair p;

	if (!open_pair(s, &p))
		return;
	for (unsigned i = 0; i < QUOIT_OP_NR && !s->bad; i++)
		if (i != QUOIT_OP_RETURN)
			expect_refused(s, &p.team, (struct quoit_sqe){.opcode = (uint8_t)i},
				       -EINVAL);
	leave(s, &p);
}

/* ---- teams that do not serve ---- */

static void team_with_any_number_of_threads(struct stage *s)
{
	struct quoit_sqe sqes[ENTRIES];
	struct team_pair p;

	if (!open_pair(s, &p))
		return;
	__atomic_store_n(&p.team.client->lanes, UINT32_MAX, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < ENTRIES; i++)
		sqes[i] = call(&p, i);
	CHECK(s, raw_submit_all(&p.c, sqes, ENTRIES));
	CHECK(s, raw_await_posted(&p.team, TEAM_CQ - 4));
	CHECK(s, !raw_run(&p.c, raw_job(QUOIT_OP_NOP, 0, 0, 0)));
	CHECK(s, raw_cq_tail(&p.team) == TEAM_CQ - 4);
	for (unsigned i = 0; i < ENTRIES && !s->bad; i++) {
		struct quoit_cqe cqe = {0};
		struct quoit_sqe sqe;

		CHECK(s, !raw_reap(&p.team, PATIENCE_MS, &cqe, NULL));
		sqe = ret(cqe.user_data, (int32_t)i);
		CHECK(s, raw_submit(&p.team, &sqe));
		CHECK(s, result(s, &p) == (int32_t)i);
	}
	leave(s, &p);
}

static void team_whose_head_lies(struct stage *s)
{
	struct quoit_sqe sqe;
	struct team_pair p;

	if (!open_pair(s, &p))
		return;
	raw_set_cq_head(&p.team, 5);
	sqe = call(&p, 1);
	CHECK(s, raw_submit(&p.c, &sqe));
	stage_expect(s, QUOIT_DAEMON_KILL_CQ_HEAD, 0);
	drop_team(&p);
	stage_await_end(s, &p.c, QUOIT_DAEMON_KILL_CQ_HEAD);
}

static void team_that_never_returns(struct stage *s)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_RING_CLOSE};
	struct quoit_sqe sqe;
	struct team_pair p;
	unsigned count;

	if (!open_pair(s, &p))
		return;
	(void)take_call(s, &p);
	for (unsigned i = 0; i < 20; i++) {
		sqe = call(&p, i);
		CHECK(s, raw_submit(&p.c, &sqe));
	}
	CHECK(s, !raw_run(&p.c, raw_job(QUOIT_OP_NOP, 0, 0, 0))); /* all of them are fetched */
	m.job.ring = p.team.ring;
	CHECK(s, !raw_call(&p.c, &m, NULL, 0, &count));
	for (unsigned i = 0; i < 21; i++)
		CHECK(s, result(s, &p) == -ECANCELED);
	sqe = call(&p, 1);
	CHECK(s, raw_submit(&p.c, &sqe));
	CHECK(s, result(s, &p) == -EINVAL);
	leave(s, &p);
}

static void session_that_ends_in_a_call(struct stage *s)
{
	struct team_pair p;

	for (unsigned i = 0; i < stage_times(s, 3, 100); i++) {
		if (!open_pair(s, &p))
			return;
		(void)take_call(s, &p);
		(void)take_call(s, &p);
		drop_team(&p);
		if (i & 1)
			CHECK(s, stage_leave(s, &p.c) == QUOIT_DAEMON_CLIENTS_LEFT);
		else
			stage_die(s, &p.c);
	}
}

/* ---- functions ---- */

static void function_that_cannot_be(struct stage *s)
{
	static const struct {
		char name[QUOIT_NAME_BYTES];
		char access[8];
		uint32_t ring;
		int err;
	} row[] = {
		{"", "----", 1, -EINVAL},          {"a b", "----", 1, -EINVAL},
		{"\x7f", "----", 1, -EINVAL},      {"g", "---", 1, -EINVAL},
		{"g", "-----", 1, -EINVAL},        {"g", "Q---", 1, -EINVAL},
		{"g", "----", 0, -EBADF},          {"g", "----", 63, -EBADF},
		{"g", "----", UINT32_MAX, -EBADF}, {"f", "----", 1, -EEXIST},
		{"a\0b", "----", 1, -EINVAL},
	};
	struct quoit_ctl m;
	struct team_pair p;
	unsigned count;

	if (!open_pair(s, &p))
		return;
	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		m = (struct quoit_ctl){.type = QUOIT_CTL_FUNCTION_ADD};
		memcpy(m.function.name, row[i].name, sizeof row[i].name);
		memcpy(m.function.access, row[i].access, sizeof row[i].access);
		m.function.ring = row[i].ring;
		CHECK(s, raw_call(&p.c, &m, NULL, 0, &count) == row[i].err);
	}
	for (unsigned i = 1; i <= QUOIT_MAX_FUNCTIONS; i++) {
		m = (struct quoit_ctl){.type = QUOIT_CTL_FUNCTION_ADD};
		m.function.name[0] = 'x';
		m.function.name[1] = (char)('A' + i / 32);
		m.function.name[2] = (char)('A' + i % 32);
		memcpy(m.function.access, "----", 4);
		m.function.ring = p.team.ring;
		CHECK(s, raw_call(&p.c, &m, NULL, 0, &count) ==
				 (i < QUOIT_MAX_FUNCTIONS ? 0 : -ENFILE));
	}
	leave(s, &p);
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(return_that_names_no_call),
		STAGE_CASE(return_of_a_call_whose_tensor_is_being_cleared),
		STAGE_CASE(return_with_odd_words),
		STAGE_CASE(team_ring_takes_nothing_but_returns),
		STAGE_CASE(team_with_any_number_of_threads),
		STAGE_CASE(team_whose_head_lies),
		STAGE_CASE(team_that_never_returns),
		STAGE_CASE(session_that_ends_in_a_call),
		STAGE_CASE(function_that_cannot_be),
	};

	return stage_main(argc, argv, NULL, cases, sizeof cases / sizeof *cases);
}

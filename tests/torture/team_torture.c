/* SPDX-License-Identifier: MIT */
/*
 * team_torture.c - threads that call, threads that serve, and teams that come and go
 *
 * Each caller keeps numbers in tensors and says what they must be: a call that runs twice, not at
 * all, or in the wrong order shows.  Pieces count how often each was run.  Lanes, waiting threads
 * and threads of the program's own serve; teams are closed while calls wait.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <quoit.h>

#include "stage.h"

#define CALLERS 3u
#define NUMBERS 4u
#define PIECES  7u
#define MIB     (UINT64_C(1) << 20)

/* ---- the functions ---- */

static int add_one(void *state, struct quoit_exec_call *c)
{
	(void)state;
	++*(int64_t *)c->tensor[0].data;
	return 0;
}

/* out = x * scalar + arg */
static int scale(void *state, struct quoit_exec_call *c)
{
	(void)state;
	*(int64_t *)c->tensor[0].data =
		*(const int64_t *)c->tensor[1].data * c->scalar[0].i + c->arg;
	return 0;
}

/* Piece i adds 1 to element i. */
static int count_piece(void *state, struct quoit_exec_call *c)
{
	(void)state;
	++((int64_t *)c->tensor[0].data)[c->piece];
	return c->pieces == PIECES ? 0 : -EINVAL;
}

static uint32_t pieces(void *state, const struct quoit_exec_call *c)
{
	(void)state;
	(void)c;
	return PIECES;
}

static const struct quoit_function functions[] = {
	{.name = "add_one", .access = "M---", .run = add_one},
	{.name = "scale", .access = "WR--", .run = scale},
	{.name = "count_piece", .access = "M---", .run = count_piece, .pieces = pieces},
};

/* ---- callers ---- */

struct caller {
	struct quoit_session *s;
	struct quoit_team *team;
	uint32_t flags; /* of its ring */
	uint32_t steps;
	uint64_t random;
	pthread_t thread;
	const char *wrong; /* NULL: nothing is */
};

static uint32_t draw(struct caller *c, uint32_t below)
{
	c->random = c->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(c->random >> 33) % below;
}

static quoit_tensor create(struct quoit_ring *q, uint32_t n)
{
	const struct quoit_shape shape = {.dtype = QUOIT_I64, .dim = {1, 1, 1, n}};

	return quoit_create(q, &shape, QUOIT_CREATE_SHARED);
}

struct numbers {
	quoit_tensor number[NUMBERS], counts;
	int64_t value[NUMBERS], rounds;
};

static struct quoit_sqe call(const struct caller *c, const char *name, quoit_tensor a,
			     quoit_tensor b)
{
	return quoit_call(quoit_find_function(c->team, name), a, b, 0, 0);
}

static struct quoit_sqe next_step(struct caller *c, struct numbers *n)
{
	unsigned a = draw(c, NUMBERS), b = (a + 1) % NUMBERS;

	switch (draw(c, 5)) {
	case 0:
		n->value[a]++;
		return quoit_add_int(n->number[a], n->number[a], 1);
	case 1:
		n->value[b] = 3 - n->value[a];
		return quoit_op_arg(call(c, "scale", n->number[b], n->number[a]), 3, (uint64_t)-1,
				    0);
	case 2:
		n->rounds++;
		return call(c, "count_piece", n->counts, 0);
	default:
		n->value[a]++;
		return quoit_with_priority(call(c, "add_one", n->number[a], 0),
					   (uint8_t)draw(c, QUOIT_PRIO_NR));
	}
}

static const char *check(struct quoit_ring *q, const struct numbers *n)
{
	int64_t counts[PIECES], number;

	for (unsigned i = 0; i < NUMBERS; i++) {
		if (quoit_read(q, n->number[i], &number, sizeof number))
			return "a number cannot be read";
		if (number != n->value[i])
			return "a number is wrong";
	}
	if (quoit_read(q, n->counts, counts, sizeof counts))
		return "the counts cannot be read";
	for (unsigned i = 0; i < PIECES; i++)
		if (counts[i] != n->rounds)
			return "a piece was not run once";
	return NULL;
}

static void *run_caller(void *arg)
{
	struct caller *c = arg;
	const struct quoit_ring_params params = {.entries = 64, .flags = c->flags};
	struct numbers n = {.rounds = 0};
	struct quoit_ring *q;

	if (quoit_open_ring(c->s, &params, &q)) {
		c->wrong = "no ring";
		return NULL;
	}
	for (unsigned i = 0; i < NUMBERS; i++)
		n.number[i] = create(q, 1);
	n.counts = create(q, PIECES);
	for (uint32_t i = 0; i < c->steps && !c->wrong; i++) {
		if (quoit_push(q, next_step(c, &n)))
			c->wrong = "a push was refused";
		if (!draw(c, 100))
			c->wrong = check(q, &n);
	}
	if (!c->wrong)
		c->wrong = check(q, &n);
	quoit_close_ring(q);
	return NULL;
}

static void *serve(void *team)
{
	(void)quoit_serve_team(team, QUOIT_FOREVER);
	return NULL;
}

/* ---- cases ---- */

struct set {
	struct daemon d;
	struct quoit_session *s;
};

static bool open_set(struct stage *s, struct set *set)
{
	const struct quoit_open_params open = {
		.host_bytes = 32 * MIB, .arena_bytes = MIB, .shared_bytes = MIB};
	struct quoit_open_params with = open;

	if (!CHECK(s, !daemon_start(&set->d, NULL)))
		return false;
	with.socket = set->d.socket;
	return CHECK(s, !quoit_open(&with, &set->s));
}

static void close_set(struct stage *s, struct set *set)
{
	CHECK(s, !quoit_close(set->s, 0));
	daemon_stop(&set->d);
}

static void play(struct stage *s, uint32_t lanes, bool threads, uint32_t ring_flags)
{
	const struct quoit_team_params params = {.lanes = lanes,
						 .flags = lanes ? 0 : QUOIT_TEAM_NO_LANES};
	struct caller caller[CALLERS];
	struct quoit_team *team;
	pthread_t server[2];
	struct set set;

	if (!open_set(s, &set) || !CHECK(s, !quoit_open_team(set.s, functions, 3, &params, &team)))
		return;
	for (unsigned i = 0; threads && i < 2; i++)
		CHECK(s, !pthread_create(&server[i], NULL, serve, team));
	for (unsigned i = 0; i < CALLERS; i++) {
		caller[i] = (struct caller){.s = set.s,
					    .team = team,
					    .flags = ring_flags,
					    .steps = stage_times(s, 2000, 100000),
					    .random = i + 1};
		CHECK(s, !pthread_create(&caller[i].thread, NULL, run_caller, &caller[i]));
	}
	for (unsigned i = 0; i < CALLERS; i++) {
		pthread_join(caller[i].thread, NULL);
		if (caller[i].wrong)
			stage_check(s, false, __FILE__, __LINE__, caller[i].wrong);
	}
	CHECK(s, !quoit_close_team(team));
	for (unsigned i = 0; threads && i < 2; i++)
		pthread_join(server[i], NULL);
	close_set(s, &set);
}

static void lanes_alone(struct stage *s)
{
	play(s, 3, false, QUOIT_RING_NO_CALLS);
}

static void lanes_and_waits(struct stage *s)
{
	play(s, 2, false, 0);
}

static void waits_alone(struct stage *s)
{
	play(s, 0, false, 0);
}

static void all_that_can_serve(struct stage *s)
{
	play(s, 1, true, 0);
}

/* Each call ends once: done, or cancelled with its team. */
static void teams_that_close_while_calls_wait(struct stage *s)
{
	struct quoit_ring *q;
	struct set set;

	if (!open_set(s, &set) || !CHECK(s, !quoit_open_ring(set.s, NULL, &q)))
		return;
	for (uint32_t i = 0; i < stage_times(s, 20, 50) && i < 60 && !s->bad; i++) {
		const struct quoit_team_params params = {.lanes = 1 + i % 3};
		struct quoit_team *team;
		quoit_job job[64];
		quoit_tensor x;

		CHECK(s, !quoit_open_team(set.s, functions, 3, &params, &team));
		x = create(q, PIECES);
		for (unsigned k = 0; k < 64; k++)
			CHECK(s, !quoit_start(q,
					      quoit_call(quoit_find_function(team, "count_piece"),
							 x, 0, 0, 0),
					      &job[k]));
		CHECK(s, !quoit_flush(q));
		if (i % 4)
			usleep(i % 4 * 100);
		CHECK(s, !quoit_close_team(team));
		for (unsigned k = 0; k < 64; k++) {
			int res = quoit_wait(q, job[k], QUOIT_FOREVER);

			CHECK(s,
			      !res || res == -ECANCELED || res == -QUOIT_EPOISON || res == -EINVAL);
		}
		CHECK(s, !quoit_free(q, x));
	}
	close_set(s, &set);
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(lanes_alone),
		STAGE_CASE(lanes_and_waits),
		STAGE_CASE(waits_alone),
		STAGE_CASE(all_that_can_serve),
		STAGE_CASE(teams_that_close_while_calls_wait),
	};

	return stage_main_alone(argc, argv, cases, sizeof cases / sizeof *cases);
}

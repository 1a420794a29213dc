/* SPDX-License-Identifier: MIT */
/*
 * job_graphs.c - random graphs of jobs, calls, acquires, copies and messages of two sessions, against
 * a serial model
 *
 *	job_graphs [--short | --full[=TIMES]] [--only=CASE] [--seed=N]
 *
 * See plan.h for what a graph has.  Each round has a graph of its own, and a lease that is just
 * large enough.  A round that fails prints its seed, and --seed=N plays that one alone.
 *
 * Each of these faults, put in by hand, was found by the short form:
 *
 *	deps.c           a writer does not wait for earlier readers
 *	hold.c           later jobs go on when an acquire is granted, and not when it is released
 *	fetch_job.c      a job with an event is fetched though the event's is not
 *	memory_queue.c   what lay in a buffer's bytes before is not cleared
 *	message_order.h  a message overtakes one that its ring has sent before
 *	poison.c         a write of all bytes does not end the poison
 *	team_pieces.c    a piece is run twice
 *	team_serve.c     a call of a few pieces is not cut
 *	sleep.c          a wait whose CQE a function on top of it has reaped does not end (this one
 *	                 was there)
 *
 * Not found: bytes of a free that go to older jobs, and pieces that move while they are held.
 * test_memory_theorem and test_acquire are for these.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "play.h"
#include "stage.h"

/* 0: all seeds of a case */
static uint64_t only_seed;

/* The kinds of rounds differ by the seed's lowest bits. */
static struct plan_options options_of(uint64_t seed, uint32_t steps)
{
	return (struct plan_options){.seed = seed,
				     .steps = steps,
				     .rings = {1 + (uint32_t)(seed % 3), 1},
				     .device = seed / 2 % 2,
				     .acquires = seed / 4 % 2};
}

static bool round_of(struct stage *s, const struct daemon *d, uint64_t seed, uint32_t steps)
{
	const struct plan_options plan_options = options_of(seed, steps);
	const struct play_options play_options = {.socket = d->socket,
						  .lanes = {(uint32_t)(seed / 3 % 4), 1},
						  .entries = 16u << seed % 4};
	struct plan plan;
	char wrong[600];
	bool good;

	plan_make(&plan, &plan_options);
	good = play_run(&plan, &play_options, wrong, sizeof wrong);
	if (!good)
		printf("%s: seed %" PRIu64 ", %" PRIu32 " steps: %s\n", s->name, seed, plan.steps,
		       wrong);
	s->bad |= !good;
	plan_free(&plan);
	return good;
}

static void play(struct stage *s, uint64_t first, uint32_t rounds, uint32_t steps)
{
	static const char *const options[] = {"--gpu=soft", "--log=error", NULL};
	struct daemon d;

	if (!CHECK(s, !daemon_start(&d, options)))
		return;
	if (only_seed)
		first = only_seed;
	printf("%s: seeds %" PRIu64 " to %" PRIu64 "\n", s->name, first,
	       only_seed ? first : first + rounds - 1);
	for (uint32_t i = 0; i < (only_seed ? 1 : rounds); i++)
		if (!round_of(s, &d, first + i, steps))
			break;
	daemon_stop(&d);
}

static void short_graphs(struct stage *s)
{
	play(s, 1, stage_times(s, 24, 500), 400);
}

static void long_graphs(struct stage *s)
{
	play(s, 1001, stage_times(s, 1, 24), stage_times(s, 2000, 10000));
}

static const struct stage_case cases[] = {
	STAGE_CASE(short_graphs),
	STAGE_CASE(long_graphs),
};

/* Remove --seed from the arguments. */
static int take_seed(int argc, char **argv)
{
	int kept = 1;

	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--seed=", 7))
			only_seed = strtoull(argv[i] + 7, NULL, 0);
		else
			argv[kept++] = argv[i];
	}
	argv[kept] = NULL;
	return kept;
}

int main(int argc, char **argv)
{
	argc = take_seed(argc, argv);
	return stage_main_alone(argc, argv, cases, sizeof cases / sizeof cases[0]);
}

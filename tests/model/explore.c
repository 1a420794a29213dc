/* SPDX-License-Identifier: MIT */
/*
 * explore.c - run the shipped ring.h under every schedule.
 *
 * Usage: explore [-v] [scenario...]; -v prints the schedule of a failure.  Exit status: 0: all
 * hold; 1: one fails; 2: there is no such scenario.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "explore_ring.h"

static const struct explore_scenario scenarios[] = {
	{"transfer", share_ring, {produce_plain, consume_spin}, false},
	{"doorbell", share_ring, {produce_bell, consume_bell}, false},
	{"futex", share_ring, {produce_futex, consume_futex}, false},
	{"descriptor", share_ring, {produce_descriptor, consume_descriptor}, false},
	{"death", share_ring, {produce_plain, consume_until_dead}, true},
	{"line", share_line, {produce_line, consume_line}, false},
	{"line-doorbell", share_line, {produce_line_bell, consume_line_bell}, false},
	{"line-futex", share_line, {produce_line_futex, consume_line_futex}, false},
	{"line-descriptor", share_line, {produce_line_descriptor, consume_line_descriptor}, false},
	{"line-death", share_line, {produce_line, consume_line_until_dead}, true},
	{"hostile-producer", share_hostile_producer, {consume_hostile}, false},
	{"hostile-line", share_hostile_line, {consume_hostile_line}, false},
	{"hostile-consumer", share_hostile_consumer, {complete_hostile}, false},
	{"hostile-reserve", share_hostile_consumer, {reserve_hostile}, false},
};

static bool is_wanted(const char *name, char **names, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return count == 0;
}

int main(int argc, char **argv)
{
	bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
	int first = verbose ? 2 : 1;
	bool hold = true;
	uint32_t ran = 0;

	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		struct explore_result result;

		if (!is_wanted(scenarios[i].name, argv + first, argc - first))
			continue;
		ran++;
		hold &= explore_run(&scenarios[i], verbose, &result);
		printf("%s: %s, %" PRIu64 " states, %" PRIu64 " steps\n", scenarios[i].name,
		       result.failure[0] != '\0' ? result.failure : "holds", result.states,
		       result.steps);
	}
	if (ran == 0) {
		fprintf(stderr, "explore: no such scenario\n");
		return 2;
	}
	return hold ? 0 : 1;
}

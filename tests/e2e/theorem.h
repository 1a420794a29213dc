/* SPDX-License-Identifier: MIT */
/*
 * theorem.h - run random programs through a quoitd and compare with the oracle.
 */
#ifndef TESTS_THEOREM_H
#define TESTS_THEOREM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct theorem_options {
	uint64_t seed;
	unsigned steps;
	unsigned rings;   /* more than one: the lease holds all their programs' peaks together */
	unsigned devices; /* the first ones take part: up to 2 */
	bool growing;     /* a session that asks for no lease, where others have all that is not
			     promised */
	bool cancels;     /* what a cancel or deadline can have changed is not compared */
};

/*
 * One session, one round.  True: every job ended as the oracle says, in time.  Else what
 * was different is on `err`, with the programs up to there.
 */
bool theorem_round(const char *socket, const struct theorem_options *options, FILE *err);

#endif

/* SPDX-License-Identifier: MIT */
/* theorem.h - run random programs with a quoitd, and compare them with the oracle. */
#ifndef TESTS_THEOREM_H
#define TESTS_THEOREM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct theorem_options {
	uint64_t seed;
	unsigned steps;
	unsigned rings;   /* with several, the lease holds all their programs' peaks together */
	unsigned devices; /* how many of the first devices are used: up to 2 */
	/* the session has the default lease, and others have all memory that is not promised */
	bool growing;
	bool cancels; /* results that a cancel or deadline may have changed are not compared */
};

/*
 * Run one session for one round.  True: every job ended as the oracle says, in time.  Otherwise
 * writes the difference to `err`, with the programs up to there.
 */
bool theorem_round(const char *socket, const struct theorem_options *options, FILE *err);

#endif

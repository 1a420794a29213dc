/* SPDX-License-Identifier: MIT */
/*
 * pace.h - is the canary as quick beside a bad client as a pair of processes without quoitd is?
 *
 * The pair lives through the same case on the same processors: no load that is made afterwards
 * is as like what the bad client does to the machine.
 */
#ifndef TORTURE_PACE_H
#define TORTURE_PACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "canary.h"
#include "pair.h"

struct pace {
	struct canary *canary;
	struct pair pair;
	uint64_t canary_ns, pair_ns; /* 99 of 100 during the case; 0: unknown */
};

/* Around a case of this quoitd; canary NULL: nothing is to be known. */
void pace_begin(struct pace *p, struct canary *canary, pid_t quoitd);
void pace_end(struct pace *p);

/*
 * Thereafter.  False, and a line is printed: the canary was more than twice as slow as the pair.
 * True also where nobody can tell: the case was too short, or the build is a sanitizer's.
 */
bool pace_was_kept(const struct pace *p);

#endif

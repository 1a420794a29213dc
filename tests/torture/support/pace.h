/* SPDX-License-Identifier: MIT */
/*
 * pace.h - is the canary as quick beside a bad client as where quoitd is left alone?
 *
 * Two things say what the machine alone does to small jobs. A pair of processes without quoitd
 * (pair.h) lives through the same case: it knows of calls that the kernel does not interrupt, and
 * of a machine that stood still. Strangers (stranger.h) keep the processors as busy afterwards:
 * beside them, as beside a bad client that computes, a reactor has to share its core. Where the
 * canary is twice as slow as either, that is quoitd's doing.
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
	uint64_t since_ns, used_ns;  /* when the case began: the time, and what we had used */
	uint64_t canary_ns, pair_ns; /* 99 of 100 during the case; 0: unknown */
	double load;                 /* processors that the case has kept busy */
};

/* Around a case of this quoitd; canary NULL: nothing is to be known. */
void pace_begin(struct pace *p, struct canary *canary, pid_t quoitd);
void pace_end(struct pace *p);

/*
 * Thereafter, may take seconds.  False, and a line is printed: the canary was slowed down.  True
 * also where nobody can tell: the case was too short, or the build is a sanitizer's.
 */
bool pace_was_kept(const struct pace *p);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * pace.h - is the canary as quick beside a bad client as when quoitd is left alone?
 *
 * Two measurements show what the machine alone does to small jobs.  A pair of processes without
 * quoitd (pair.h) runs during the same case: it notices calls that the kernel does not interrupt,
 * and a machine that stood still.  Strangers (stranger.h) keep the processors as busy afterwards:
 * beside them, as beside a bad client that computes, a reactor has to share its core.  If the
 * canary is twice as slow as in either, quoitd is the cause.
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
	/* at the case's begin: the time, and the CPU time that we had used */
	uint64_t since_ns, used_ns;
	uint64_t canary_ns, pair_ns; /* 99 of 100 during the case; 0: not known */
	double load;                 /* how many processors the case has kept busy */
};

/* Call it before a case of this quoitd; canary NULL: do not measure. */
void pace_begin(struct pace *p, struct canary *canary, pid_t quoitd);
void pace_end(struct pace *p);

/*
 * Call it after the case; may take seconds.  False, after a line: the canary was slowed down.  True
 * also if that cannot be told, because the case was too short, or the build is a sanitizer's.
 */
bool pace_was_kept(const struct pace *p);

#endif

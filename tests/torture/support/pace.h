/* SPDX-License-Identifier: MIT */
/*
 * pace.h - is the canary as quick beside a bad client as beside one that leaves quoitd alone?
 *
 * The other one uses the processors for as large a part of the time as the bad client did.
 */
#ifndef TORTURE_PACE_H
#define TORTURE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "canary.h"

struct pace {
	struct canary *canary;
	uint64_t since_ns, cpu_ns; /* when the case began: the time, and what we had used */
	uint64_t p99_ns;           /* of the canary's small jobs during the case; 0: unknown */
	double load;               /* processors that the case has kept busy */
};

/* Around a case; canary NULL: nothing is to be known. */
void pace_begin(struct pace *p, struct canary *canary);
void pace_end(struct pace *p);

/*
 * Thereafter, takes seconds.  False, and a line is printed: it was more than twice as slow as
 * beside the other one.  True also where nobody can tell: the case was too short, the build is a
 * sanitizer's, or others are at work on the machine.
 */
bool pace_was_kept(const struct pace *p);

#endif

/* SPDX-License-Identifier: MIT */
/* pace.c - the canary beside a pair that asks and answers without quoitd */
#include "pace.h"

#include <stdio.h>
#include <string.h>

#ifdef QUOIT_SANITIZE
#define PACED false
#else
#define PACED true
#endif

#define SLOWER_BY 2

void pace_begin(struct pace *p, struct canary *canary, pid_t quoitd)
{
	int err;

	*p = (struct pace){.canary = PACED ? canary : NULL};
	if (!p->canary)
		return;
	err = pair_start(&p->pair, quoitd);
	if (err)
		printf("  (nothing to hold the canary's pace against: %s)\n", strerror(-err));
	if (err)
		p->canary = NULL;
	else
		canary_time_anew(p->canary);
}

void pace_end(struct pace *p)
{
	if (!p->canary)
		return;
	p->canary_ns = canary_p99_ns(p->canary);
	p->pair_ns = pair_p99_ns(&p->pair);
	pair_stop(&p->pair);
}

bool pace_was_kept(const struct pace *p)
{
	if (!p->canary_ns || !p->pair_ns)
		return true;
	if (p->canary_ns <= SLOWER_BY * p->pair_ns)
		return true;
	printf("  (99 of 100 small jobs of the canary within %.0f us, questions without quoitd "
	       "within %.0f us)\n",
	       (double)p->canary_ns / 1e3, (double)p->pair_ns / 1e3);
	return false;
}

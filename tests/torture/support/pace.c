/* SPDX-License-Identifier: MIT */
/* pace.c - compare the canary beside a case, a pair beside it, and the canary beside strangers */
#include "pace.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "stranger.h"
#include "times.h"

#ifdef QUOIT_SANITIZE
#define PACED false
#else
#define PACED true
#endif

#define SLOWER_BY 2
#define SECONDS   20 /* by then the canary has run enough small jobs, or never will */

void pace_begin(struct pace *p, struct canary *canary, pid_t quoitd)
{
	int err;

	*p = (struct pace){.canary = PACED ? canary : NULL};
	if (!p->canary)
		return;
	err = pair_start(&p->pair, quoitd);
	if (err)
		printf("  (nothing to hold the canary's pace against: %s)\n", strerror(-err));
	p->since_ns = times_now_ns();
	p->used_ns = strangers_used_ns();
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
	p->load =
		(double)(strangers_used_ns() - p->used_ns) / (double)(times_now_ns() - p->since_ns);
	pair_stop(&p->pair);
}

static uint64_t p99_beside_strangers(struct canary *c, double load)
{
	struct strangers s;
	uint64_t p99 = 0;

	strangers_start(&s, load);
	canary_time_anew(c);
	for (int i = 0; i < SECONDS && !p99; i++) {
		sleep(1);
		p99 = canary_p99_ns(c);
	}
	strangers_stop(&s);
	return p99;
}

bool pace_was_kept(const struct pace *p)
{
	uint64_t strangers_ns;

	if (!p->canary_ns || !p->pair_ns || p->canary_ns <= SLOWER_BY * p->pair_ns)
		return true;
	strangers_ns = p99_beside_strangers(p->canary, p->load);
	if (!strangers_ns || p->canary_ns <= SLOWER_BY * strangers_ns)
		return true;
	printf("  (99 of 100 small jobs of the canary within %.0f us, questions without quoitd "
	       "within %.0f us, jobs beside strangers within %.0f us)\n",
	       (double)p->canary_ns / 1e3, (double)p->pair_ns / 1e3, (double)strangers_ns / 1e3);
	return false;
}

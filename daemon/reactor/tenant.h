/* SPDX-License-Identifier: MIT */
/*
 * tenant.h - which users a reactor works for next, and for how long.  Pure: of no clock, no rings.
 *
 * A reactor's time is divided between the users that have sessions there, by their shares: deficit
 * round robin (Shreedhar and Varghese, 1995) over time that was measured.  A round gives each
 * tenant ticks in proportion to its share; who has used its own is passed over until the next
 * round, which begins as soon as nobody is left who has some and had work.  What is left is not
 * carried over, and what was overdrawn is: up to TENANT_DEBT_ROUNDS of them, since no turn is that
 * long.  More has passed while the reactor did not run at all (it was stopped, or the machine was),
 * and whoever it then worked for would be passed over for as long again, by as often as its share
 * is in all.
 *
 * In each pass a tenant's rings and sessions have a turn of TENANT_TURN_NS at most.  So, with n
 * tenants that have work and J for what one ring or session of theirs has done in one go
 * (SCHED_TURN_NS and a job, as predicted):
 *
 *	- who is within its share waits for n - 1 turns, each at most TENANT_TURN_NS + J long, and
 *	  twice that: what is fetched and what is started have turns of their own;
 *	- who always has work gets its share of every n rounds, but for one turn and J.
 *
 * Alone, a tenant is held up by nothing of this.
 */
#ifndef QUOITD_TENANT_H
#define QUOITD_TENANT_H

#include <stdbool.h>
#include <stdint.h>

#include "session/user.h"

#define TENANT_TURN_NS  50000u
#define TENANT_ROUND_NS 2000000u

/* What a tenant owes at most. */
#define TENANT_DEBT_ROUNDS 100

/* Who shares a reactor. */
struct tenancy {
	struct tenant *first; /* a circle: who is the first in the next pass; NULL: nobody */
	uint32_t count;
	int64_t round, turn; /* ticks of all in one round, and of one in one pass */
	bool served;         /* in this pass somebody had work, */
	bool passed_over;    /* and somebody was not even asked */
};

/* The ticks of a nanosecond are the caller's affair. */
void tenancy_init(struct tenancy *t, uint64_t round_ticks, uint64_t turn_ticks);

/* Its first session comes to the reactor; its last one has left. */
void tenancy_add(struct tenancy *t, struct tenant *tenant);
void tenancy_remove(struct tenancy *t, struct tenant *tenant);

/* A pass begins, with the tenant behind the one that was first in the last pass. */
void tenancy_begin(struct tenancy *t);

/* May it have work done in this pass? */
static inline bool tenancy_admits(struct tenancy *t, const struct tenant *tenant)
{
	if (tenant->balance > 0 || t->count == 1)
		return true;
	t->passed_over = true;
	return false;
}

/* A stage of the pass begins with its turn. */
static inline void tenancy_give_turn(const struct tenancy *t, struct tenant *tenant)
{
	tenant->turn = t->turn;
}

/* It has used so much. */
static inline void tenant_charge(struct tenant *tenant, uint64_t ticks)
{
	tenant->balance -= (int64_t)ticks;
	tenant->turn -= (int64_t)ticks;
}

/* Is its turn over? */
static inline bool tenancy_turn_is_over(const struct tenancy *t, const struct tenant *tenant)
{
	return tenant->turn <= 0 && t->count > 1;
}

/* The pass is over.  True: a new round begins, and who was passed over is to be asked. */
bool tenancy_end(struct tenancy *t);

#endif

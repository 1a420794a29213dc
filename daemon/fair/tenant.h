/* SPDX-License-Identifier: MIT */
/*
 * tenant.h - which user a reactor works for next, and for how long.  Pure: it has no clock and no
 * rings.
 *
 * A reactor divides its time between the users that have sessions there, by their shares: deficit
 * round robin (Shreedhar and Varghese, 1995) over measured time.  A round gives each tenant ticks
 * in proportion to its share.  A tenant that has used its ticks is passed over until the next
 * round, which begins as soon as no tenant with ticks left has work.  Unused ticks are not carried
 * over.  Overdrawn ticks are, but at most TENANT_DEBT_ROUNDS rounds: no turn is that long.  A
 * larger debt means that the reactor did not run at all (it was stopped, or the machine was), and
 * the tenant that it then worked for would be passed over for that time divided by its share.
 *
 * In each pass a tenant's rings and sessions have a turn of at most TENANT_TURN_NS.  Let n tenants
 * have work, and let J be the time that one ring or session of theirs takes in one go
 * (SCHED_TURN_NS and a job, as predicted).  Then:
 *
 * - A tenant within its share waits for n - 1 turns, each at most TENANT_TURN_NS + J long, and
 *   twice that, because fetching and starting have turns of their own.
 * - A tenant that always has work gets its share of every n rounds, less at most one turn and J.
 *
 * A tenant that is alone is not held up.
 */
#ifndef QUOITD_TENANT_H
#define QUOITD_TENANT_H

#include <stdbool.h>
#include <stdint.h>

#include "user.h"

#define TENANT_TURN_NS  50000u
#define TENANT_ROUND_NS 2000000u

/* A tenant owes at most so many rounds. */
#define TENANT_DEBT_ROUNDS 100

/* The tenants that share a reactor. */
struct tenancy {
	struct tenant *first; /* a circle; first in the next pass; NULL: no tenant */
	uint32_t count;
	int64_t round, turn; /* ticks of all in one round; ticks of one in one pass */
	bool served;         /* in this pass a tenant had work */
	bool passed_over;    /* in this pass a tenant was passed over */
};

/* The caller converts nanoseconds to ticks. */
void tenancy_init(struct tenancy *t, uint64_t round_ticks, uint64_t turn_ticks);

/* A user's first session has come to the reactor; its last one has left. */
void tenancy_add(struct tenancy *t, struct tenant *tenant);
void tenancy_remove(struct tenancy *t, struct tenant *tenant);

/* Begin a pass with the tenant after the one that was first in the last pass. */
void tenancy_begin(struct tenancy *t);

/* May the tenant have work done in this pass? */
static inline bool tenancy_admits(struct tenancy *t, const struct tenant *tenant)
{
	if (tenant->balance > 0 || t->count == 1)
		return true;
	t->passed_over = true;
	return false;
}

/* A stage begins the tenant's turn. */
static inline void tenancy_give_turn(const struct tenancy *t, struct tenant *tenant)
{
	tenant->turn = t->turn;
}

/* The tenant has used so many ticks. */
static inline void tenant_charge(struct tenant *tenant, uint64_t ticks)
{
	tenant->balance -= (int64_t)ticks;
	tenant->turn -= (int64_t)ticks;
}

/* Is the tenant's turn over? */
static inline bool tenancy_turn_is_over(const struct tenancy *t, const struct tenant *tenant)
{
	return tenant->turn <= 0 && t->count > 1;
}

/* End a pass.  True: a new round has begun; tenants that were passed over may have work done. */
bool tenancy_end(struct tenancy *t);

#endif

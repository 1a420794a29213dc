/* SPDX-License-Identifier: MIT */
/* tenant.c - rounds of deficit round robin, and the circle of tenants in them */
#include "tenant.h"

#include <assert.h>
#include <stddef.h>

void tenancy_init(struct tenancy *t, uint64_t round_ticks, uint64_t turn_ticks)
{
	*t = (struct tenancy){.round = (int64_t)round_ticks, .turn = (int64_t)turn_ticks};
}

static uint64_t all_shares(const struct tenancy *t)
{
	const struct tenant *i = t->first;
	uint64_t sum = 0;

	do {
		sum += user_share(i->user);
		i = i->next;
	} while (i != t->first);
	return sum;
}

/* Ticks that a round gives to the tenant: at least one, so that rounds_needed is finite. */
static int64_t part(const struct tenancy *t, const struct tenant *tenant, uint64_t shares)
{
	int64_t ticks = t->round * (int64_t)user_share(tenant->user) / (int64_t)shares;

	return ticks > 0 ? ticks : 1;
}

/* Limit debts: a tenant does not pay for time that it cannot have used. */
static void forgive(const struct tenancy *t)
{
	const int64_t least = -TENANT_DEBT_ROUNDS * t->round;
	struct tenant *i = t->first;

	do {
		if (i->balance < least)
			i->balance = least;
		i = i->next;
	} while (i != t->first);
}

/* Rounds until one of the tenants with an empty balance has a positive one; 0: none is empty. */
static int64_t rounds_needed(const struct tenancy *t, uint64_t shares)
{
	const struct tenant *i = t->first;
	int64_t least = INT64_MAX;

	do {
		int64_t rounds = 1 - i->balance / part(t, i, shares);

		if (i->balance <= 0 && rounds < least)
			least = rounds;
		i = i->next;
	} while (i != t->first);
	return least == INT64_MAX ? 0 : least;
}

static void begin_round(struct tenancy *t)
{
	uint64_t shares = all_shares(t);
	struct tenant *i = t->first;
	int64_t rounds;

	forgive(t);
	rounds = rounds_needed(t, shares);
	do {
		int64_t more = part(t, i, shares);

		i->balance += rounds * more;
		if (i->balance > more)
			i->balance = more;
		i = i->next;
	} while (i != t->first);
}

/* After a tenant has come: cap each balance at what a round gives now.  A tenant that was alone
 * until now starts afresh, as it owes nothing to one that was not there. */
static void adjust(struct tenancy *t)
{
	uint64_t shares = all_shares(t);
	struct tenant *i = t->first;

	do {
		int64_t most = part(t, i, shares);

		if (i->balance > most || t->count == 2)
			i->balance = most;
		i = i->next;
	} while (i != t->first);
}

void tenancy_add(struct tenancy *t, struct tenant *tenant)
{
	if (t->first) {
		tenant->next = t->first->next;
		t->first->next = tenant;
	} else {
		t->first = tenant->next = tenant;
	}
	t->count++;
	tenant->balance = t->round;
	adjust(t);
}

void tenancy_remove(struct tenancy *t, struct tenant *tenant)
{
	struct tenant *before = tenant;

	while (before->next != tenant)
		before = before->next;
	before->next = tenant->next;
	if (t->first == tenant)
		t->first = before == tenant ? NULL : before;
	tenant->next = NULL;
	assert(t->count > 0);
	t->count--;
}

void tenancy_begin(struct tenancy *t)
{
	t->served = t->passed_over = false;
	if (t->first)
		t->first = t->first->next;
}

bool tenancy_end(struct tenancy *t)
{
	bool again = t->passed_over && !t->served && t->first; /* all may have left meanwhile */

	if (again)
		begin_round(t);
	return again;
}

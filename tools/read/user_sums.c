/* SPDX-License-Identifier: MIT */
/* user_sums.c - sum up the counters of sessions by user */
#include "user_sums.h"

#include <errno.h>
#include <stdlib.h>

#include "users.h"

/* A session as it was at a reading. */
struct kept {
	uint64_t session;
	struct counter value[QUOIT_SESSION_NR];
	uint64_t read_ns; /* CLOCK_BOOTTIME */
	double busy;
};

struct user_sums {
	struct counters_origin origin; /* the quoitd of the last reading */
	struct user_sum user[USER_SUMS_MOST];
	unsigned users, left_out;
	struct kept *kept; /* in the order of their numbers */
	size_t count;
};

/* ---- sessions ---- */

static int by_number(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return (x->session > y->session) - (x->session < y->session);
}

static const struct kept *find(const struct user_sums *u, uint64_t session)
{
	const struct kept key = {.session = session};

	return u->count ? bsearch(&key, u->kept, u->count, sizeof key, by_number) : NULL;
}

double user_sums_busy(const struct user_sums *users, uint64_t session)
{
	const struct kept *k = users ? find(users, session) : NULL;

	return k ? k->busy : 0;
}

static uint64_t grown(const struct counter *now, const struct counter *before)
{
	uint64_t from = before && before->known ? before->value : 0;

	return now->known && now->value > from ? now->value - from : 0;
}

/* Mean number of busy cores and streams, since the last reading or since the session was opened. */
static double busy_since(const struct session_row *row, const struct kept *before)
{
	static const unsigned counters[] = {QUOIT_SESSION_CORE_TICKS, QUOIT_SESSION_EXECUTOR_TICKS};
	uint64_t since = before ? before->read_ns : row->s.opened_ns, ticks = 0;

	for (unsigned i = 0; i < 2; i++)
		ticks += grown(&row->s.value[counters[i]],
			       before ? &before->value[counters[i]] : NULL);
	if (row->now_ns <= since || !row->s.origin.tsc_hz)
		return before ? before->busy : 0;
	return (double)ticks * 1e9 / (double)row->s.origin.tsc_hz / (double)(row->now_ns - since);
}

/*
 * Each reading halves the weight of the former ones, so that the order does not change every time.
 */
static void keep(struct kept *k, const struct session_row *row, const struct kept *before)
{
	k->session = row->s.session;
	k->read_ns = row->now_ns;
	for (unsigned i = 0; i < QUOIT_SESSION_NR; i++)
		k->value[i] = row->s.value[i];
	k->busy = busy_since(row, before);
	if (before)
		k->busy = (k->busy + before->busy) / 2;
}

/* ---- users ---- */

static struct user_sum *user_of(struct user_sums *u, uint32_t uid)
{
	struct user_sum *one = NULL;

	for (unsigned i = 0; i < u->users; i++)
		if (u->user[i].uid == uid)
			return &u->user[i];
	if (u->users < USER_SUMS_MOST)
		one = &u->user[u->users++];
	for (unsigned i = 0; !one && i < USER_SUMS_MOST; i++)
		if (!u->user[i].sessions)
			one = &u->user[i];
	if (!one)
		return NULL;
	*one = (struct user_sum){.uid = uid};
	format_escape(users_name(uid), one->name, sizeof one->name);
	return one;
}

static void add(struct counter *sum, uint64_t value, bool known)
{
	sum->known |= known;
	sum->value += value;
}

/*
 * before: the session at the last reading; NULL: everything in it is new.  none: nothing in it is
 * new.
 */
static void count(struct user_sum *one, const struct session_row *row, const struct kept *before,
		  bool none)
{
	one->sessions++;
	for (unsigned i = 0; i < QUOIT_SESSION_NR; i++) {
		const struct counter *c = &row->s.value[i];

		add(&one->now[i], c->known ? c->value : 0, c->known);
		add(&one->counted[i], none ? 0 : grown(c, before ? &before->value[i] : NULL),
		    c->known);
	}
}

/* ---- a reading ---- */

static bool is_told(const struct session_row *row, const struct sessions *s)
{
	return !row->s.ended && counters_is_of(&row->s, &s->totals);
}

static void begin(struct user_sums *u, const struct sessions *s)
{
	const struct counters_origin *o = &s->totals.origin;

	if (u->origin.daemon_pid != o->daemon_pid || u->origin.started_ns != o->started_ns)
		u->count = 0; /* session 1 is another one now */
	u->origin = *o;
	u->left_out = 0;
	for (unsigned i = 0; i < u->users; i++) {
		u->user[i].sessions = 0;
		for (unsigned k = 0; k < QUOIT_SESSION_NR; k++)
			u->user[i].now[k] = (struct counter){0};
	}
}

int user_sums_take(struct user_sums **users, const struct sessions *s, bool whole)
{
	const bool first = !*users;
	struct user_sums *u = first ? calloc(1, sizeof *u) : *users;
	struct kept *kept = calloc(s->count ? s->count : 1, sizeof *kept);
	size_t n = 0;

	if (!u || !kept) {
		free(kept);
		if (first)
			free(u);
		return -ENOMEM;
	}
	begin(u, s);
	for (size_t i = 0; i < s->count; i++) {
		const struct session_row *row = &s->list[i];
		const struct kept *before = find(u, row->s.session);
		struct user_sum *one = is_told(row, s) ? user_of(u, row->s.uid) : NULL;

		if (!is_told(row, s))
			continue;
		keep(&kept[n++], row, before);
		if (one)
			count(one, row, before, first && !whole);
		else
			u->left_out++;
	}
	free(u->kept);
	u->kept = kept; /* in order, since sessions_read sorts by number */
	u->count = n;
	*users = u;
	return 0;
}

void user_sums_free(struct user_sums *users)
{
	if (users)
		free(users->kept);
	free(users);
}

unsigned user_sums_count(const struct user_sums *u)
{
	return u->users;
}

const struct user_sum *user_sums_at(const struct user_sums *u, unsigned i)
{
	return &u->user[i];
}

unsigned user_sums_left_out(const struct user_sums *u)
{
	return u->left_out;
}

uint64_t user_sums_tsc_hz(const struct user_sums *u)
{
	return u->origin.tsc_hz;
}

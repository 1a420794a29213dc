/* SPDX-License-Identifier: MIT */
/*
 * ledger.h - counts what users, or the sessions of one, have had of the time of workers, of an
 * executor or of the memory thread.
 *
 * The time is divided by start-time fair queueing (Goyal, Vin and Cheng, 1996): the next turn goes
 * to the user that has had the least, divided by its share.  A user that comes back starts level
 * with the one that was chosen last: idle time is no claim.  Time is counted when a work ends.  So
 * users that always have enough works differ at most by those that they have under way, over their
 * shares.
 *
 * Any thread, without locks: a choice by figures that are a moment old may not be the best, but no
 * count is lost.
 */
#ifndef QUOITD_LEDGER_H
#define QUOITD_LEDGER_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#define USERS        1024u /* users with sessions at a time; each has a number below this */
#define SHARE_LEAST  1u
#define SHARE_NORMAL 100u
#define SHARE_MOST   10000u

/* What a user or session has had: ticks, for a user scaled to the normal share. */
struct ledger_page {
	_Atomic uint64_t ticks_used;
	_Atomic uint32_t works; /* waiting or under way */
};

struct ledger {
	_Atomic uint64_t clock; /* what the user that was chosen last had then */
	struct {
		struct ledger_page page;
		_Atomic uint64_t clock; /* as above, for the user's sessions */
	} user[USERS];
};

/* A user or session has one more work; `clock` is that of the group in which it is chosen. */
static inline void ledger_open(struct ledger_page *page, const _Atomic uint64_t *clock)
{
	uint64_t used = atomic_load_explicit(&page->ticks_used, memory_order_relaxed);
	uint64_t now = atomic_load_explicit(clock, memory_order_relaxed);

	if (!atomic_fetch_add(&page->works, 1) && used < now)
		atomic_store_explicit(&page->ticks_used, now, memory_order_relaxed);
}

/*
 * What it did not get while it had works lapses, except `most`.  Works that cannot use the share (one
 * after the other, on many cores) would else give a claim to all cores for minutes.
 */
static inline void ledger_lapse(struct ledger_page *page, const _Atomic uint64_t *clock,
				uint64_t most)
{
	uint64_t used = atomic_load_explicit(&page->ticks_used, memory_order_relaxed);
	uint64_t now = atomic_load_explicit(clock, memory_order_relaxed);

	/* if a thread counts just now, the next work will do */
	if ((int64_t)(now - used) > (int64_t)most)
		(void)atomic_compare_exchange_strong(&page->ticks_used, &used, now - most);
}

/* It has one work less, and all that the work took has been counted. */
static inline void ledger_close(struct ledger_page *page)
{
	uint32_t works = atomic_fetch_sub(&page->works, 1);

	assert(works > 0);
	(void)works;
}

/* It has had so much more; negative: too much was counted before. */
static inline void ledger_count(struct ledger_page *page, int64_t ticks, uint32_t share)
{
	atomic_fetch_add_explicit(&page->ticks_used,
				  (uint64_t)(ticks * (int64_t)SHARE_NORMAL / (int64_t)share),
				  memory_order_relaxed);
}

/* How far it is ahead of its group; the one with the least lead is next. */
static inline int64_t ledger_lead(const struct ledger_page *page, const _Atomic uint64_t *clock)
{
	return (int64_t)(atomic_load_explicit(&page->ticks_used, memory_order_relaxed) -
			 atomic_load_explicit(clock, memory_order_relaxed));
}

/* It has been chosen. */
static inline void ledger_choose(const struct ledger_page *page, _Atomic uint64_t *clock)
{
	atomic_store_explicit(clock, atomic_load_explicit(&page->ticks_used, memory_order_relaxed),
			      memory_order_relaxed);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * ledger.h - what users, or sessions of one, have had of the time of workers, of an executor or of
 * the memory thread.
 *
 * It is divided by start-time fair queueing (Goyal, Vin and Cheng, 1996): whoever has had the
 * least, divided by its share, is the next.  Who comes has had as much as who was the last to be
 * chosen: time in which one wanted nothing is no claim.  What is counted when it ends has users who
 * always have work apart by no more than what they have under way, over their shares.
 *
 * Any thread, without locks: a choice by figures that are a moment old is not the best, and what
 * has been counted is not lost.
 */
#ifndef QUOITD_LEDGER_H
#define QUOITD_LEDGER_H

#include <stdatomic.h>
#include <stdint.h>

#define USERS        1024u /* who have sessions at a time; each has a number below */
#define SHARE_LEAST  1u
#define SHARE_NORMAL 100u
#define SHARE_MOST   10000u

/* What somebody has had: ticks, of a user by the normal share. */
struct ledger_page {
	_Atomic uint64_t had;
	_Atomic uint32_t works; /* that wait for it or are under way */
};

struct ledger {
	_Atomic uint64_t clock; /* what the user that was the last to be chosen had then */
	struct {
		struct ledger_page page;
		_Atomic uint64_t clock; /* the same of its sessions */
	} user[USERS];
};

/* One more work of somebody; `clock` is that of those it is chosen among. */
static inline void ledger_open(struct ledger_page *page, const _Atomic uint64_t *clock)
{
	uint64_t had = atomic_load_explicit(&page->had, memory_order_relaxed);
	uint64_t now = atomic_load_explicit(clock, memory_order_relaxed);

	if (!atomic_fetch_add(&page->works, 1) && had < now)
		atomic_store_explicit(&page->had, now, memory_order_relaxed);
}

/* One less, and all that it took has been counted. */
static inline void ledger_close(struct ledger_page *page)
{
	atomic_fetch_sub(&page->works, 1);
}

/* It has had so much more; less than none: more was counted before than it has had. */
static inline void ledger_count(struct ledger_page *page, int64_t ticks, uint32_t share)
{
	atomic_fetch_add_explicit(&page->had,
				  (uint64_t)(ticks * (int64_t)SHARE_NORMAL / (int64_t)share),
				  memory_order_relaxed);
}

/* How far somebody is before those that it is chosen among; the least is the next. */
static inline int64_t ledger_lead(const struct ledger_page *page, const _Atomic uint64_t *clock)
{
	return (int64_t)(atomic_load_explicit(&page->had, memory_order_relaxed) -
			 atomic_load_explicit(clock, memory_order_relaxed));
}

/* It is chosen. */
static inline void ledger_choose(const struct ledger_page *page, _Atomic uint64_t *clock)
{
	atomic_store_explicit(clock, atomic_load_explicit(&page->had, memory_order_relaxed),
			      memory_order_relaxed);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * depth.h - how many there are of something, summed over time.
 *
 * The sum of jobs times ticks, divided by the jobs that have ended meanwhile, is the average time
 * that a job was there (J. Little, "A Proof for the Queuing Formula L = λW", 1961).  So no job's
 * own time has to be taken.
 */
#ifndef QUOITD_DEPTH_H
#define QUOITD_DEPTH_H

#include <assert.h>
#include <stdint.h>

struct depth {
	uint32_t now;
	uint64_t since;       /* TSC; summed up to here */
	uint64_t queue_ticks; /* number times ticks */
	uint64_t busy_ticks;  /* ticks with at least one */
};

/* Sum up to this moment; an earlier one than the last is ignored. */
static inline void depth_sum(struct depth *d, uint64_t tsc)
{
	uint64_t ticks = tsc - d->since;

	if (tsc <= d->since)
		return;
	d->since = tsc;
	d->queue_ticks += ticks * d->now;
	d->busy_ticks += d->now ? ticks : 0;
}

static inline void depth_enter(struct depth *d, uint64_t tsc)
{
	depth_sum(d, tsc);
	d->now++;
}

static inline void depth_leave(struct depth *d, uint64_t tsc)
{
	depth_sum(d, tsc);
	assert(d->now > 0);
	d->now--;
}

/* One was there from `from` to `to`, too short to be counted in and out. */
static inline void depth_blink(struct depth *d, uint64_t from, uint64_t to)
{
	if (d->now)
		return; /* busy anyway */
	if (from < d->since)
		from = d->since;
	d->busy_ticks += to > from ? to - from : 0;
	d->since = to > d->since ? to : d->since;
}

#endif

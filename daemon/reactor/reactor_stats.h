/* SPDX-License-Identifier: MIT */
/*
 * reactor_stats.h - copies counters of a reactor, its sessions and its cores to the files that
 * others read (quoit/stats.h).  On the reactor's own thread.
 */
#ifndef QUOITD_REACTOR_STATS_H
#define QUOITD_REACTOR_STATS_H

#include "reactor.h"

/*
 * Publish counters of sessions for which something was done.  all: of every session, including what
 * changes without the reactor.
 */
void reactor_stats_sessions(struct reactor *r, bool all);

/* Publish the totals of the reactor and of its cores, and the histograms. */
void reactor_stats_totals(struct reactor *r);

/* Are the totals due? */
bool reactor_stats_are_due(const struct reactor *r);

/* ns until the totals are due if nothing is done; UINT64_MAX: all is told and nothing computes. */
uint64_t reactor_stats_timeout(const struct reactor *r);

/* There is work after a rest: totals will be due. */
void reactor_stats_begin(struct reactor *r);

/* Has it jobs with a worker or an executor?  Files do not count, as one may never answer. */
bool reactor_computes(const struct reactor *r);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * reactor_stats.h - what a reactor tells of its sessions, its cores and itself, by copying counters
 * to the files that others read (quoit/stats.h).  On the reactor's own thread.
 */
#ifndef QUOITD_REACTOR_STATS_H
#define QUOITD_REACTOR_STATS_H

#include "reactor.h"

/*
 * Counters of the sessions for which something was done; all: of every session, with what changes
 * without the reactor.
 */
void reactor_stats_sessions(struct reactor *r, bool all);

/* The totals of the reactor and of its cores, and the histograms. */
void reactor_stats_totals(struct reactor *r);

/* Is it time for them? */
bool reactor_stats_are_due(const struct reactor *r);

/* ns until it is, if nothing is done meanwhile; UINT64_MAX: all is told, nothing is computed. */
uint64_t reactor_stats_timeout(const struct reactor *r);

/* There is work after a rest, so there will be something to tell. */
void reactor_stats_begin(struct reactor *r);

/* Has it jobs with a worker or an executor?  Not: with the kernel, as a file may never answer. */
bool reactor_computes(const struct reactor *r);

#endif

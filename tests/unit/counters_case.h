/* SPDX-License-Identifier: MIT */
/* counters_case.h - make valid counter files for tests of the tools that read them */
#ifndef TESTS_COUNTERS_CASE_H
#define TESTS_COUNTERS_CASE_H

#include <quoit/stats.h>

/* Session 5 of quoitd 77; value i is 100 + i. */
void counters_case_session(struct quoit_session_stats *s);

/*
 * Quoitd 77 with two reactors and three cores.  Value i is 100 + i, that of reactor r is
 * 1000 r + i, that of core c is 5000 + 100 c + i.
 */
void counters_case_totals(struct quoit_totals *t);

/* Session 7, without any job; a tick is a nanosecond. */
void counters_case_latency(struct quoit_session_latency *l);

#endif

/* SPDX-License-Identifier: MIT */
/* collect_timings.h - write the metrics of quoitd's histograms and operations */
#ifndef QUOIT_TOOLS_EXPORTER_COLLECT_TIMINGS_H
#define QUOIT_TOOLS_EXPORTER_COLLECT_TIMINGS_H

#include "exposition.h"
#include "read/counters.h"

/* Write the histograms and operations of the quoitd with these totals; nothing if it has none. */
void collect_timings(struct exposition *e, const struct counters_totals *t, int directory);

#endif

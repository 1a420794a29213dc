/* SPDX-License-Identifier: MIT */
/* collect_buckets.h - a histogram of quoitd's as one of Prometheus' */
#ifndef QUOIT_TOOLS_EXPORTER_COLLECT_BUCKETS_H
#define QUOIT_TOOLS_EXPORTER_COLLECT_BUCKETS_H

#include <quoit/stats.h>

#include "exporter/exposition.h"

/* Of the family under way, whose unit is seconds. */
void collect_buckets(struct exposition *e, const struct exposition_label *labels,
		     const uint64_t count[QUOIT_LEG_BUCKETS], double tick_ns);

#endif

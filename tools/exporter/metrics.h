/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - the metric of each counter (quoit/stats.h): one table, in the order of the text.
 *
 * Names and units follow Prometheus' conventions: a name begins with the program and ends with the
 * unit, seconds or bytes without multiples.  Every counter is in the table once (a session's
 * counter may be there for users, too); counters that are left out are there with the reason.
 * tests/unit/test_exporter.c checks that.
 */
#ifndef QUOIT_TOOLS_EXPORTER_METRICS_H
#define QUOIT_TOOLS_EXPORTER_METRICS_H

#include "exposition.h"
#include "read/counters.h"

/* What the counter belongs to. */
enum metric_of {
	METRIC_OF_DAEMON,
	METRIC_OF_REACTOR,
	METRIC_OF_CORE,
	METRIC_OF_SESSION,
	METRIC_OF_USER, /* a session's counter, summed up for its user */
};

/* The kind of value; METRIC_TICKS are exported in seconds. */
enum metric_kind {
	METRIC_COUNT,         /* a count of events */
	METRIC_TICKS,         /* a sum of ticks */
	METRIC_BYTES_COUNTED, /* a sum of bytes */
	METRIC_GAUGE,         /* a present number */
	METRIC_BYTES,         /* a present number of bytes */
	METRIC_LEFT_OUT,      /* of no use to others */
};

struct metric {
	enum metric_of of;
	unsigned counter;
	enum metric_kind kind;
	const char *name; /* of the family; several rows in a row may belong to one family */
	const char *help; /* METRIC_LEFT_OUT: the reason */
	/* distinguishes the members of a family; NULL: there is only one */
	struct exposition_label label;
};

/* The table, ended by a row without help. */
extern const struct metric metrics[];

struct exposition_family metrics_family(const struct metric *m);

/*
 * Write the metric's value, if it is known and exported at all.  hz: ticks per second; 0: not
 * known.
 */
void metrics_write(struct exposition *e, const struct metric *m,
		   const struct exposition_label *labels, struct counter value, uint64_t hz);

#endif

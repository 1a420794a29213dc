/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - what becomes of each counter (quoit/stats.h): one table, in the order of the text.
 *
 * Names and units are by Prometheus' conventions: they begin with the program and end with the
 * unit, seconds or bytes and no multiple of these.  Every counter is in the table once (a session's
 * may be there for users, too), and those that are left out are there with the reason;
 * tests/unit/test_exporter.c holds that.
 */
#ifndef QUOIT_TOOLS_EXPORTER_METRICS_H
#define QUOIT_TOOLS_EXPORTER_METRICS_H

#include "counters.h"
#include "exporter/exposition.h"

/* Whose counter it is. */
enum metric_of {
	METRIC_OF_DAEMON,
	METRIC_OF_REACTOR,
	METRIC_OF_CORE,
	METRIC_OF_SESSION,
	METRIC_OF_USER, /* a session's, summed up */
};

/* What it counts; METRIC_TICKS are told in seconds. */
enum metric_kind {
	METRIC_COUNT,         /* how many there were */
	METRIC_TICKS,         /* how many ticks there were */
	METRIC_BYTES_COUNTED, /* how many bytes there were */
	METRIC_GAUGE,         /* how many there are */
	METRIC_BYTES,         /* how many bytes there are */
	METRIC_LEFT_OUT,      /* nobody could use it */
};

struct metric {
	enum metric_of of;
	unsigned counter;
	enum metric_kind kind;
	const char *name; /* of the family; several that follow each other may be of one */
	const char *help; /* METRIC_LEFT_OUT: why */
	struct exposition_label label; /* tells it from others of its family; NULL: none does */
};

/* The table, ended by a row without help. */
extern const struct metric metrics[];

struct exposition_family metrics_family(const struct metric *m);

/* Write its value, if it is known and told at all.  hz: of ticks; 0: not known. */
void metrics_write(struct exposition *e, const struct metric *m,
		   const struct exposition_label *labels, struct counter value, uint64_t hz);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * limit.h - what limits a session: where the time of its jobs goes.  Pure.
 *
 * A session that has nothing open most of the time is limited by its client.  Else the leg on which
 * its jobs spent most of their time until their end names the limit: jobs times time, as the
 * samples say (J. Little).  What a CQE waits for its client holds up nobody before the CQ is full,
 * and then it is the SQEs that wait.
 */
#ifndef QUOIT_TOOLS_LIMIT_H
#define QUOIT_TOOLS_LIMIT_H

#include "counters.h"
#include "legs.h"

enum limit {
	LIMIT_UNKNOWN, /* nothing has been timed */
	LIMIT_CLIENT,  /* it has nothing open */
	LIMIT_FETCH,   /* SQEs wait to be fetched */
	LIMIT_DATA,    /* jobs wait for each other */
	LIMIT_MEMORY,  /* for bytes */
	LIMIT_TURN,    /* for cores, or a device */
	LIMIT_RUN,     /* they run */
};

struct limits {
	enum limit by;
	double percent;           /* of the jobs' time, or for the client, of all time */
	double memory_percent;    /* time with jobs that waited for bytes */
	unsigned operation;       /* which ran for longest; QUOIT_OP_NR: none */
	double operation_percent; /* of the time that all ran */
	double p50_ns, p99_ns;    /* from fetch to end; not above 0: not known */
};

/*
 * Of a session, between two readings that lie span_ns apart (not above 0: that is not known);
 * before NULL: since it was opened.  l: what the legs have had in that time.
 */
void limits_find(const struct counters_session *s, const struct counters_session *before,
		 const struct legs *l, double span_ns, struct limits *ret);

/* "data"; "" where it is not known. */
const char *limits_word(enum limit by);

/* An operation as ops.def calls it. */
const char *limits_operation(unsigned operation);

/* A sentence for people, of this session; and a second one, "" if there is nothing to add. */
void limits_text(const struct limits *limits, char *ret, size_t size);
void limits_detail(const struct limits *limits, const struct counters_session *s, char *ret,
		   size_t size);

#endif

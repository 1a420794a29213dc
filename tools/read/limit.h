/* SPDX-License-Identifier: MIT */
/*
 * limit.h - find what limits a session: where the time of its jobs goes.  Pure but for limits_ask.
 *
 * If a session is empty most of the time, its client limits it.  Otherwise the limit is the phase in
 * which its jobs spent most of their time until their end: jobs times time, by the samples
 * (Little's law).  If that is waiting for data, and for half of the time with open jobs the program
 * held what jobs waited for, the limit is the program.  If for half of the time with open jobs the
 * session did nothing but wait at things with a name (named_waits.h), the limit is that at which it
 * waited longest, whatever the phases say.  A CQE that waits for its client delays no job until the
 * CQ is full; then SQEs wait.
 *
 *	limit.c        finds it
 *	limit_text.c   says it
 *	limit_ask.c    asks quoitd about something with a name
 */
#ifndef QUOIT_TOOLS_LIMIT_H
#define QUOIT_TOOLS_LIMIT_H

#include "counters.h"
#include "latency.h"

enum limit {
	LIMIT_UNKNOWN, /* no job has been timed */
	LIMIT_CLIENT,  /* the client: no job is open */
	LIMIT_FETCH,   /* SQEs wait to be fetched */
	LIMIT_DATA,    /* jobs wait for each other */
	LIMIT_HELD,    /* jobs wait for what the program has acquired */
	LIMIT_MEMORY,  /* jobs wait for memory */
	LIMIT_TURN,    /* jobs wait for cores, or a device */
	LIMIT_RUN,     /* jobs run */
	/* The session does nothing but wait for others, at something with a name: */
	LIMIT_THREADS,   /* for a thread of a service */
	LIMIT_UNSERVED,  /* for somebody who serves it */
	LIMIT_LOCK,      /* for a lock, */
	LIMIT_CONDITION, /* or a condition of one */
	LIMIT_FLAG,
	LIMIT_SEMAPHORE,
	LIMIT_BARRIER,     /* for others at a barrier */
	LIMIT_QUEUE_FULL,  /* to send */
	LIMIT_QUEUE_EMPTY, /* to receive */
};

/* What quoitd alone says of something with a name; it does not tell everybody. */
struct limits_asked {
	bool known;
	uint32_t holder;           /* of a lock; 0: nobody */
	uint32_t waiting, running; /* calls, of all sessions */
};

struct limits {
	enum limit by;
	double percent; /* of the jobs' time; LIMIT_CLIENT, LIMIT_HELD, LIMIT_THREADS and on: of all
			   time */
	/* LIMIT_HELD: where most of it was acquired; any bytes: escape them; "": not known */
	char site[sizeof((struct latency_site *)NULL)->name];
	struct named_wait named;   /* LIMIT_THREADS and on: what it is that is waited for */
	struct limits_asked asked; /* limits_ask */
	double memory_percent;     /* of all time: time with jobs that waited for memory */
	unsigned operation;        /* the one that ran longest; QUOIT_OP_NR: none */
	double operation_percent;  /* of the time that all operations ran */
	double p50_ns, p99_ns;     /* from fetch to end; 0 or less: not known */
};

/*
 * Find the limits of a session between two readings that lie span_ns apart (0 or less: not known);
 * before NULL: since it was opened.  l: the latency of that time.
 */
void limits_find(const struct counters_session *s, const struct counters_session *before,
		 const struct latency *l, double span_ns, struct limits *ret);

/* A word such as "data"; "" if the limit is not known. */
const char *limits_word(enum limit by);

/* The operation's name in ops.def. */
const char *limits_operation(unsigned operation);

/* Ask quoitd about limits->named, if there is such a limit; it may not answer. */
void limits_ask(struct limits *limits, const char *socket);

/* A sentence about this session for people; and a second one, "" if there is nothing to add. */
void limits_text(const struct limits *limits, char *ret, size_t size);
void limits_detail(const struct limits *limits, const struct counters_session *s, char *ret,
		   size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * recording.h - read the contents of a recording: its sessions, and its jobs in order.
 *
 * The reader makes the file's contents sane: times are in order and within the recording, names
 * end, numbers have limits.  Times are nanoseconds since the recording began.
 *
 *	recording.c           jobs, events, counts and totals, as they come
 *	recording_sessions.c  sessions, by their numbers
 *	recording_names.c     names of operations, places and call sites
 *	recording_named.c     names of services, locks and their kin
 */
#ifndef QUOIT_TOOLS_TRACE_RECORDING_H
#define QUOIT_TOOLS_TRACE_RECORDING_H

#include "reader.h"

#define RECORDING_MOST_SESSIONS 4096u
#define RECORDING_UNKNOWN       "?"

struct recording_names { /* names of call sites, by ring and site; "": not known */
	char name[QUOIT_SITE_RINGS][QUOIT_MAX_SITES][sizeof((struct trace_site *)0)->name + 1];
};

struct recording_session {
	uint64_t number;
	struct trace_session s;
	char name[4 * sizeof((struct trace_session *)0)->name + 1]; /* escaped */
	struct recording_names *names;                              /* NULL: there are none */
	uint64_t jobs, failed, events;
	uint64_t rings; /* bit i: something was seen of ring i */
};

/* A service, a lock or its kin. */
struct recording_name {
	uint64_t number;
	uint32_t uid;
	unsigned kind; /* enum quoit_sync_kind; 0: a service */
	char name[4 * sizeof((struct trace_name *)0)->name]; /* escaped; "": not known */
};

struct recording {
	struct trace_header header;
	double tick_ns;
	struct recording_session *session; /* in the order of their numbers */
	unsigned sessions;
	size_t room;
	struct recording_name *name; /* in the order of their numbers */
	size_t names, names_room;
	uint64_t jobs, events, samples; /* in the file; samples: totals */
	uint64_t damaged;               /* impossible records, which are left out */
	uint64_t foreign;               /* chunks of sessions that the file does not describe */
	bool ended;                     /* `end` is known; false: the recorder was killed */
	struct trace_end end;
	int64_t span_ns; /* of the whole recording */
};

/* A job, with its times in order; steps that it did not reach take no time. */
struct recording_job {
	struct recording_session *session;
	unsigned ring, opcode, place; /* place: enum quoit_trace_place */
	bool quiet, failed, ran;
	int32_t res;
	uint32_t sq_index, cq_index;
	int64_t fetch, data, memory, start, end, post;
};

struct recording_event {
	struct recording_session *session;
	unsigned ring, kind, site; /* kind: enum quoit_trace_event_kind */
	uint32_t index;
	int64_t at;
};

/* What the program held from an acquire until its release. */
struct recording_hold {
	struct recording_session *session;
	unsigned ring, site;
	bool write;
	uint32_t sq_index;                  /* of the acquire */
	int64_t granted, awaited, released; /* awaited: jobs waited from then on */
};

/* A call of something with a name that has come back. */
struct recording_named {
	struct recording_session *session;
	unsigned ring, kind, function; /* function: of a lock and its kin, enum quoit_sync_op */
	uint32_t sq_index;             /* of the job */
	uint64_t number;
	uint32_t pid; /* of the process that ran it; 0: none */
	int32_t res;
	int64_t asked, began, ended; /* it waited until it began */
	int64_t stalled_ns;          /* of that, the session did nothing but wait for this */
};

struct recording_counts {
	struct recording_session *session;
	int64_t at;
	struct quoit_trace_counts c;
};

struct recording_totals {
	int64_t at;
	unsigned reactors, cores;
	const struct trace_reactor *reactor;
	const struct trace_core *core;
};

/* Functions that recording_visit calls for each item; any may be NULL. */
struct recording_visitor {
	void (*job)(const struct recording_job *job, void *arg);
	void (*event)(const struct recording_event *event, void *arg);
	void (*counts)(const struct recording_counts *counts, void *arg);
	void (*totals)(const struct recording_totals *totals, void *arg);
	void *arg;
	void (*hold)(const struct recording_hold *hold, void *arg);
	void (*named)(const struct recording_named *named, void *arg); /* before its job */
};

/*
 * Read the whole file once, to find out its contents.  0, -ENOMEM, or the reader's error.  Call
 * recording_free in any case.
 */
int recording_load(struct trace_reader *r, struct recording *ret);
void recording_free(struct recording *rec);

/* Read the whole file again, in its order: jobs of a ring come by their ends. */
int recording_visit(struct trace_reader *r, struct recording *rec,
		    const struct recording_visitor *v);

/* NULL: there is no session with this number. */
struct recording_session *recording_find(const struct recording *rec, uint64_t number);

/* A call site's name, not escaped; or RECORDING_UNKNOWN. */
const char *recording_site(const struct recording_session *s, unsigned ring, unsigned site);

/* "lock ledger", "service 1000/fft" (of another user); its number if the name is not known. */
#define RECORDING_NAMED_BYTES 192
void recording_thing(const struct recording *rec, const struct recording_named *named,
		     char ret[RECORDING_NAMED_BYTES]);

/* What the call asks for: "lock ledger", "send to queue rows", "call of service fft". */
void recording_asks(const struct recording *rec, const struct recording_named *named,
		    char ret[RECORDING_NAMED_BYTES]);

/* For what it waits until it begins: "waits for room in queue rows".  May it wait at all? */
void recording_waits(const struct recording *rec, const struct recording_named *named,
		     char ret[RECORDING_NAMED_BYTES]);
bool recording_may_wait(const struct recording_named *named);

/* "gemm", "module operation 192"; written into ret if it must be composed. */
const char *recording_operation(unsigned opcode, char *ret, size_t size);

/* The place that ran the job, as a track's name; jobs with equal names are on one track. */
#define RECORDING_PLACE_BYTES 40
void recording_place(const struct recording_job *job, char ret[RECORDING_PLACE_BYTES]);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * session_team.h - a team: threads of a session's program that run its own functions as jobs.
 *
 * A team is a ring that works the other way round.  quoitd posts calls as CQEs, each with an entry
 * beside it, and the program returns them as SQEs (CALL and RETURN of abi.h).  Any thread of the
 * program may take the next CQE, so no thread of the team is idle while a posted call waits.
 * backend/program/backend_call.c posts and ends calls.
 */
#ifndef QUOITD_SESSION_TEAM_H
#define QUOITD_SESSION_TEAM_H

#include <quoit/ctl.h>

#include "ops/optable.h"
#include "tables.h"

struct function {
	struct op_row row; /* as a row of ops.def: the validator makes no difference */
	char name[QUOIT_NAME_BYTES];
};

/* Beside a ring that was opened with QUOIT_RING_CALLS; the session's reactor owns it. */
struct ring_team {
	struct quoit_call_entry *entries;        /* in the ring's memory, cq_entries of them */
	struct job_queue waiting[QUOIT_PRIO_NR]; /* ready calls that were not posted yet */
	uint32_t posted;                         /* calls that were posted and did not return */
	uint64_t run_ticks;                      /* about how long a call runs; 0: not known */
	uint32_t functions;
	struct function function[QUOIT_MAX_FUNCTIONS];
	uint32_t *results;     /* in the ring's memory: by number of a call that was served */
	struct server *server; /* NULL: it serves no service (services.h) */
	bool serves;           /* or it is about to: no function can be added, and none called */
};

/*
 * A client's request on its way through the reactor and back.  The connection owns it; the reactor
 * fills in what follows.
 */
struct function_ask {
	uint32_t ring;
	char name[QUOIT_NAME_BYTES];
	char access[QUOIT_MAX_TENSORS_PER_JOB];
	uint32_t number;
	char text[QUOIT_TEXT_BYTES]; /* why it was refused */
};

struct session;
struct ring;
struct server;

/* A team without functions, for a ring; NULL: there is no memory. */
struct ring_team *team_new(void);

/* The team's ring; NULL: there is no such ring, or it is no team's.  It may be closing. */
struct ring *team_ring(const struct session *s, uint8_t ring);

/*
 * The function that a CALL names by its team, or service, and its number there; NULL: there is none.
 */
const struct function *team_function(const struct session *s, uint8_t team, uint8_t number);

/* The same for a job that was checked: a team that is about to serve still has its functions. */
const struct function *team_function_of(const struct session *s, const struct job *job);

/* How many functions the team or service has; 0: there is no such one. */
uint32_t team_functions(const struct session *s, uint8_t team);

/*
 * Enter the function and set ask->number.  With ask->text: -EBADF: there is no such team; -ENFILE:
 * it has as many as allowed; -EEXIST: it has one of this name.
 */
int team_add(struct session *s, struct function_ask *ask);

#endif

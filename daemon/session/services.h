/* SPDX-License-Identifier: MIT */
/*
 * services.h - what a service is made of: functions that processes offer to the sessions of others.
 *
 *	service       a name, its functions, and the calls that wait for a free thread
 *	server        a ring that serves it: a team whose calls come from other sessions
 *	caller        a session that has looked it up
 *	service_call  a call on its way: caller ─► service ─► server ─► service ─► caller
 *
 * Each of the three may belong to another reactor: a caller to that of its session, a server to that
 * of its ring, a service to its home.  A call belongs to the reactor that has it, and travels as a
 * letter (backend/service/exchange.h).  The control thread makes and frees all of them
 * (control/services.h); the fields say who may touch them.
 *
 * What is freed when:
 *
 * - A caller, after MAIL_CALLERS_GONE.  Its reactor sends that when its session has left or has
 *   closed it, and all its calls have come back (`out` is 0).
 * - A server, after MAIL_SERVER_GONE.  Its service's home sends that once, when LETTER_ENDS has come
 *   (the ring is gone and none of its results is being copied) and `has` is 0.
 * - A service, after MAIL_SERVICE_END has come back from its home.  The control thread asks when
 *   there are no servers and no callers.
 */
#ifndef QUOITD_SERVICES_H
#define QUOITD_SERVICES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <quoit/ctl.h>
#include <quoit/stats.h>

#include "fair/ledger.h"
#include "ops/optable.h"
#include "session_team.h"
#include "tables.h"

struct caller;
struct connection;
struct key_caller;
struct key_words;
struct message;
struct object;
struct reactor;
struct ring;
struct server;
struct service;
struct session;

/* ---- letters ---- */

enum letter_type {
	LETTER_SUBMIT,   /* a call goes to its service, */
	LETTER_POST,     /* from there to a server, */
	LETTER_RETURN,   /* back to the service, */
	LETTER_DONE,     /* and to its caller, */
	LETTER_TAKEN,    /* which tells the server that it has the results */
	LETTER_FREE,     /* the server has heard of that */
	LETTER_WITHDRAW, /* its caller does not want it to begin; the service answers */
	LETTER_WITHDRAWN,
	LETTER_LANES,  /* a server's number of threads has changed */
	LETTER_COMES,  /* a server comes to its service, */
	LETTER_GOES,   /* takes no more calls, */
	LETTER_ENDS,   /* and nothing of it is used any more */
	LETTER_LEAVES, /* a caller of an object lets go of it; its home answers */
	LETTER_LEFT,
	LETTER_MOVED, /* a message of a queue has been copied; its home frees the call */
};

struct letter {
	struct letter *next;
	uint8_t type; /* enum letter_type */
	void *of;     /* the call or server in which it lies */
};

/* ---- calls ---- */

/* What a call does with the messages of a queue. */
enum message_way {
	MESSAGE_SENT,
	MESSAGE_RECEIVED,
	MESSAGE_WAYS,
};

struct call_queue {
	struct service_call *oldest, *newest; /* linked by older and newer */
};

/* Calls of one caller that its service may have at a time; the others wait in its session. */
#define CALLER_CALLS 64u

/* Of these so many are kept for what an object answers at once, as an unlock. */
#define CALLER_KEPT 8u

/* Of a queue's so many are for each way: what waits in one does not keep the other away. */
#define CALLER_WAY_CALLS (CALLER_CALLS / MESSAGE_WAYS)

struct service_call {
	struct letter letter;
	/* The caller's: */
	struct letter withdrawal;       /* LETTER_WITHDRAW, LETTER_WITHDRAWN */
	bool withdrawing;               /* that letter is under way */
	uint32_t job;                   /* in the session's table; NIL: no job waits for it */
	uint32_t next;                  /* in the list of free calls */
	bool is_done;                   /* it came back while that was under way */
	bool is_late;                   /* an object's: its job has passed its deadline */
	struct service_call *withdraws; /* the next one in the reactor's list */
	struct service_call *held_back; /* the next one in the session's list */
	/* Set by the caller before it submits the call: */
	struct caller *caller;
	uint32_t number; /* its own, in its caller */
	uint32_t share;  /* the user's */
	uint8_t priority;
	/* of a keyspace: what it brings and gets (keyspace.h); never changes */
	struct key_words *key;
	uint32_t token;     /* of its first tensor's memory in the session; 0: it has none */
	bool poisoned;      /* so is that memory; of what is done all the same */
	bool sends;         /* a message: bytes of tensors go to `dense`, and not from there */
	uint8_t moves;      /* bit i: bytes of tensor i do */
	uint64_t bytes;     /* of these tensors, as RETURN must bring them */
	uint64_t submitted; /* TSC */
	uint64_t stalled; /* when it comes back: what was charged for it (observe/named_waits.h) */
	struct quoit_call_entry entry;
	/* The service's: */
	struct service_call *older, *newer; /* in the guest's queue */
	struct call_queue *waits_in;        /* of an object, that queue */
	bool took;                          /* from a semaphore, as much as it asked for */
	uint8_t notified;                   /* of a lock: by this condition + 1; 0: by none */
	bool waits;                         /* it is there */
	bool submits;                       /* to an object: it has just come, and is unanswered */
	bool unserved;                      /* when it came, nobody served its service */
	bool stranded;                      /* with those whose function no server has */
	bool withdrawn;                     /* it is not to begin */
	/* The server's: */
	struct server *server; /* that has it, or had it last: by then it may have been freed */
	pid_t pid;             /* of its process */
	uint32_t at, serial;   /* where it is in that server's table; which one there it is */
	uint32_t slot;         /* index of its CQE */
	struct service_call *next_pending;
	/* What it has come to: */
	bool ran;                         /* a function was given it */
	bool again;                       /* it has not begun: it is to go to another server */
	int32_t result;                   /* as in a RETURN */
	struct quoit_error error;         /* field and value */
	uint64_t began, ended;            /* TSC */
	struct session *from;             /* in its memory are the results; NULL: there are none */
	struct message *message;          /* of a queue, that it fills or gets; NULL: none */
	uint32_t messages;                /* so many, from that one on */
	struct quoit_message seen;        /* or what is told of one */
	uint8_t *dense;                   /* the bytes of these; NULL: there are none */
	uint64_t copied;                  /* so many of them were */
	char text[QUOIT_CALL_TEXT_BYTES]; /* words of a failure; "": none */
};

/* ---- services ---- */

/* It only grows.  Any thread may read the first `count`. */
struct service_functions {
	_Atomic uint32_t count;
	struct function function[QUOIT_MAX_FUNCTIONS];
};

/* A user that has calls there; the control thread makes it, its service's reactor uses it. */
struct guest {
	uid_t uid;
	struct guest *_Atomic next;
	struct ledger_page page;
	struct call_queue waiting[QUOIT_PRIO_NR];
};

struct service {
	/* These never change. */
	uint64_t id;
	uid_t uid;
	char name[QUOIT_NAME_BYTES];
	struct reactor *home;
	/* The control thread's: */
	bool ending;     /* nobody serves or calls it; its home is asked to let go of it */
	bool superseded; /* another one has its name now */
	gid_t gid;
	uint32_t mode; /* QUOIT_SERVE_*, as the newest server said */
	struct service *next;
	struct caller *callers, *last_caller; /* in the order of their numbers */
	struct server *servers;
	struct service_functions functions; /* it appends to them */
	struct guest *_Atomic guests;       /* it puts new ones first */
	struct object *object;              /* that it is (objects.h); NULL: processes serve it */
	uint64_t charged;                   /* for that; the control thread's */
	/* Its home's: */
	struct server *serving;
	uint32_t serving_count;
	struct call_queue stranded; /* calls of functions that no server has */
	uint64_t run_ticks;         /* about how long a call runs; 0: not known */
	_Atomic uint64_t clock;     /* fair/ledger.h */
	uint64_t bereft_since;      /* TSC; valid while nobody serves it */
	struct service *bereft;     /* the next one in the reactor's list */
	bool is_bereft;             /* it is in that list */
	/* The same, and any thread may read them: */
	_Atomic uint32_t waiting, running;
	_Atomic uint64_t calls, failed, again, ticks;
	_Atomic uint32_t shown_servers, shown_lanes; /* those in `serving` */
	/* Callers whose session is there; their reactors count. */
	_Atomic uint32_t attached;
};

/*
 * A client's request to serve, on its way through the reactor and back.  The connection owns it; the
 * reactor fills in what follows.
 */
struct serve_ask {
	uint32_t ring;
	uint32_t entries; /* of its CQ */
	uint32_t count;
	struct function function[QUOIT_MAX_FUNCTIONS];
	char text[QUOIT_TEXT_BYTES]; /* why it was refused */
};

/* Callers whose memory one server may have mapped. */
#define SERVER_CALLERS 1024u

struct server {
	/* These never change. */
	struct service *service;
	struct reactor *reactor;
	uint32_t ring_index;
	pid_t pid;
	uint32_t entries;   /* of the ring's CQ */
	uint32_t functions; /* how many of the service's it has */
	/* The control thread's: */
	struct server *next;
	bool begun;                    /* its home knows it */
	struct connection *connection; /* NULL: it has gone */
	struct server *of_connection;  /* its next one */
	uint64_t charged;
	struct {
		uint32_t number; /* of the caller */
		uid_t uid;
	} mapped[SERVER_CALLERS];
	uint32_t mapped_count;
	/* Callers that have left: the control thread adds them, the reactor tells the process. */
	uint32_t left[SERVER_CALLERS];
	_Atomic uint32_t left_count, left_told; /* free-running */
	/* Its service's home: */
	struct server *next_serving;
	uint32_t has;   /* calls that were sent to it and did not come back */
	bool has_ended; /* nothing else of it is used */
	/* Its reactor's: */
	struct ring *ring;   /* NULL: it was closed */
	struct server *here; /* the next one in the reactor's list */
	struct letter begin_letter, lanes_letter, go_letter, end_letter;
	atomic_bool lanes_told; /* that letter is under way */
	/* as the process says, and any thread may read them: threads, and functions that wait */
	_Atomic uint32_t lanes, suspended;
	atomic_bool closed; /* it takes no more calls; any thread may read it */
	struct service_call *pending, *pending_last; /* calls for which the ring has no room yet */
	uint32_t serial;                             /* of the last call that was posted */
	uint32_t posted;                             /* calls that were posted and did not return */
	struct service_call **at;                    /* them: a table of `entries`, */
	uint32_t *spare;                             /* of which these are free; a stack */
	uint32_t spares;
	uint32_t lent; /* calls whose results are being copied */
};

/* ---- callers ---- */

struct caller {
	/* These never change. */
	struct service *service;
	struct guest *guest;
	struct reactor *reactor; /* the session's */
	uint32_t number;         /* of all callers; never 0, never used again */
	uint32_t index;          /* in its session */
	uint64_t session_id;
	uid_t uid;
	pid_t pid;
	/* Its service's home's: */
	uint64_t taken;       /* of a semaphore, and not given back */
	uint32_t seen_deaths; /* of a barrier's parties: it has been told of so many */
	bool is_mourned;      /* its own death is among these */
	/* These never change. */
	uint32_t wait_ms; /* so long a call waits while nobody serves the service */
	bool read_only;   /* of a tensor: the session does not write it */
	/* The control thread's: */
	struct caller *next;
	struct caller *before;
	struct connection *connection; /* NULL: it has gone */
	uint32_t opened; /* how often the session has looked it up, less how often it let go */
	/* Its reactor's: */
	struct session *session; /* NULL: it has left */
	bool closing;
	_Atomic bool died;          /* its session did; its service's home looks, too */
	uint64_t unheard;           /* taken from a semaphore for jobs of a dead session */
	struct letter leave_letter; /* LETTER_LEAVES, LETTER_LEFT */
	struct caller *goes; /* the next one in the list of those that nothing uses any more */
	/* Jobs that wait for a free call, by priority; of a queue, those that send and those that
	 * receive (enum message_way). */
	struct job_queue ready[QUOIT_PRIO_NR];
	struct job_queue prompt; /* those before all others: an object answers them at once */
	struct job_queue order[MESSAGE_WAYS]
			      [QUOIT_MAX_RINGS]; /* of a queue (job/message_order.h) */
	uint32_t free;                           /* calls; NIL: none */
	uint32_t out;                            /* calls that are not free */
	uint32_t out_way[MESSAGE_WAYS];          /* of a queue, the same by way */
	uint32_t
		buffer; /* of a tensor: the session's buffer for it; NIL: none.  It counts in `out` */
	struct key_caller *keys; /* of a keyspace (keyspace.h); never changes */
	uint64_t latest;         /* TSC: when it sent its last call, */
	uint8_t latest_way;      /* and what that may have to wait for (enum quoit_named_way) */
	/* observe/named_waits.h: charged to it; of a service, waits are charged up to this TSC */
	uint64_t stalled[QUOIT_NAMED_WAYS], charged_until;
	/* The same, and any thread may read them: */
	_Atomic uint32_t waiting, running;
	_Atomic uint64_t calls, failed, ticks, wait, longest;
	/* Its service's home's, and any thread may read it: */
	_Atomic uint32_t queued; /* calls that wait there */
	struct service_call call[CALLER_CALLS];
};

/* What of a session's jobs waits at something with a name, as last looked at. */
struct named_waits {
	uint32_t jobs[QUOIT_SYNC_NR]; /* by kind of what they wait at */
	uint32_t sent;                /* of all these, those that have a call */
	uint64_t begun;               /* TSC: from then on it does nothing but wait; 0: it does */
	uint64_t since;               /* the same, and none of its calls has come back */
	uint64_t ended;               /* jobs of the session that had ended by then */
	uint64_t ticks;               /* such times that are over */
	bool any;                     /* of these jobs */
};

/* A session's part in services; its reactor's. */
struct session_services {
	struct caller *caller[QUOIT_MAX_SERVICES];
	uint32_t callers;
	uint32_t ready; /* jobs that wait for a free call, over all callers */
	uint32_t out;   /* calls of its jobs that are on their way */
	bool held;      /* some of them can go on once no pieces are moved: */
	struct service_call
		*held_back;      /* those of objects that have come back meanwhile, and others */
	struct job_queue copies; /* jobs whose results or messages the reactor copies in parts */
	uint32_t lent;           /* calls of its servers whose results are being copied */
	uint32_t servers;
	bool unused;                  /* a buffer of a tensor that was closed has gone */
	bool leaves;                  /* it is counted in the reactor's `leavers` */
	uint64_t served, serve_ticks; /* calls of other sessions that it ran, and how long */
	uint32_t serving;             /* calls of other sessions that it has */
	struct named_waits waits;     /* observe/named_waits.h */
	uint64_t leaves_by; /* TSC: from then on its calls hold it up no longer; 0: not set */
};

/* The process that had the call is gone, or its memory is. */
static inline void service_call_dies(struct service_call *call)
{
	call->result = -QUOIT_EEXEC;
	call->error =
		(struct quoit_error){.field = QUOIT_FIELD_SERVICE,
				     .value = {call->caller->index, (uint64_t)call->server->pid}};
}

/* Add one without a race between readers and the one thread that writes. */
#define COUNT_BY(counter, by)                                                                      \
	atomic_store_explicit(&(counter),                                                          \
			      atomic_load_explicit(&(counter), memory_order_relaxed) + (by),       \
			      memory_order_relaxed)
#define COUNT_DOWN(counter)       COUNT_BY(counter, -1u)
/* The same where several threads write. */
#define COUNT_SHARED(counter, by) atomic_fetch_add_explicit(&(counter), (by), memory_order_relaxed)
#define COUNT_OF(counter)         atomic_load_explicit(&(counter), memory_order_relaxed)

#endif

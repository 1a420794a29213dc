/* SPDX-License-Identifier: MIT */
/*
 * connection.h - one client's control socket and the state machine behind it.
 *
 *	waits, until there is room
 *	 ▼
 *	new ──HELLO──► open ──CLOSE──► closing
 *	 ├──TRACE──► records │ quoitd ends  │
 *	 │               │   └► draining    │
 *	 └───────────────┴── end ──┴────────┴──► gone, once the reactor has let go
 */
#ifndef QUOITD_CONNECTION_H
#define QUOITD_CONNECTION_H

#include <quoit/ctl.h>

#include "control.h"
#include "session/blocking_pool.h"
#include "session/kernels.h"
#include "session/session_team.h"

enum connection_state {
	CONNECTION_WAITS, /* its user has as many connections as it may (admission.h) */
	CONNECTION_NEW,
	CONNECTION_OPEN,
	CONNECTION_CLOSING,  /* the reactor has been asked to close the session */
	CONNECTION_DRAINING, /* quoitd is ending: jobs may end, nothing is read any more */
	CONNECTION_RECORDS,  /* it records other sessions and has none */
	CONNECTION_GONE,     /* hung up; its session and blocking calls are still coming back */
};

/* What a connection records. */
struct recorder {
	uint64_t session;      /* 0: all that it may record: its user's; for root, everybody's */
	uint32_t records;      /* in each file */
	bool looks;            /* it looks for sessions that it does not record yet, */
	uint64_t last_session; /* with a higher number than this one */
	uint64_t served;       /* its last turn, by control's count */
};

/* What a client hands memory over for. */
enum handover_kind {
	HANDOVER_RINGS,
	HANDOVER_ARENA,
	HANDOVER_TENSOR,
};

/* Memory that a client hands over, while a blocking call works on it (connection_memory.h). */
struct handover {
	struct shared memory[QUOIT_MAX_RINGS];
	uint32_t count, at; /* how many, and the one that the blocking call has come to */
	enum handover_kind kind;
	uint64_t from, upto;     /* which bytes of each */
	struct shared_wish wish; /* how each is to be mapped */
	int seals;               /* that each must have */
	uint64_t away;           /* bytes of the arena on other nodes */
	int result;
	char text[QUOIT_TEXT_BYTES];
};

/* A tensor with a name that the client makes (services_tensor.c). */
struct tensor_making {
	struct quoit_ctl asked; /* its TENSOR */
	uint64_t charged;       /* to the user, until there is a service; 0: nothing is made */
	struct shared memory;   /* mapped, not ready yet; empty: not mapped yet */
};

struct connection {
	struct connection *next;
	struct control *control;
	int fd;
	uid_t uid;
	pid_t pid;
	int pidfd;      /* of the process that connected; -1: there is none */
	bool counted;   /* in the budget, as one of its user's */
	bool waits;     /* in the budget, for what its user may give back */
	bool only_asks; /* of quoitd's own user, which may ask but gets no session */
	enum connection_state state;
	uint64_t rests;       /* 0, or it is not read now (rests.h): its place in line */
	uint64_t took;        /* ticks that the last message took */
	uint64_t patience_ns; /* CLOCK_BOOTTIME: it waits for room, or may be silent, until then */
	struct session *session;
	uint64_t leased;            /* bytes charged (charge.h) */
	uint64_t lease, lease_peak; /* of the session: now, and the highest yet */
	uint64_t span;              /* address space of the session's region */
	uint64_t device_leased;
	uint32_t rings;
	uint32_t reactor;
	bool is_back; /* a reactor has sent the session back, but it is not freed yet */
	bool has_own; /* counted among its user's sessions that bring kernels */
	struct recorder records;

	/* the request that a reactor is answering; type 0: none */
	uint16_t pending;
	uint32_t pending_seq;
	struct handover handover;
	struct shared arena;  /* mapped, not ready yet; empty: none, or the session has it */
	uint64_t arena_bytes; /* bytes of shared region and arena that are granted, */
	uint64_t arena_peak;  /* and the most ever checked: their page tables are charged */
	struct tensor_making making;
	uint32_t rings_waiting;  /* in new_rings: mapped, not ready yet */
	uint32_t rings_expected; /* answers to READY that are still to come */
	int rings_error;
	struct quoit_ring_open ring_open;
	uint32_t first_ring; /* number of the next ring to be opened */
	struct ring *new_rings[QUOIT_MAX_RINGS];
	int file_fd;
	/* a request that waits: for its answer, for memory, or until blocking calls are not behind, */
	struct quoit_ctl held;
	struct ctl_fds
		held_fds; /* and, of the latter, its descriptors; none: there is no such request */
	uint64_t returns_seen; /* HELLO waits for memory: budget_returns when it was last tried */
	struct kernels_ask kernels_ask;
	struct function_ask function_ask;
	struct serve_ask serve_ask;
	struct server *servers;                     /* its session's rings that serve services */
	struct caller *callers[QUOIT_MAX_SERVICES]; /* services that the session calls */
	uint64_t seeks_until_ns;  /* SERVICE waits for one (CLOCK_BOOTTIME); 0: it does not */
	struct blocking blocking; /* for its descriptors and its memory */
};

/* Handle a request from the client.  The descriptors that came with it are taken over. */
void connection_request(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds);

/* Have these descriptors closed: they belong to no request. */
void connection_drop_fds(struct connection *c, const struct ctl_fds *fds);

/* Go on with requests that waited for a blocking call, if it is done, or for memory. */
void connection_look_at_waiting(struct connection *c);

/* Does HELLO wait for memory of sessions that are ending?  Its patience ends that. */
bool connection_hello_waits(const struct connection *c);

/* Handle a reactor's answer. */
void connection_answer(struct connection *c, const struct mail *m);

/*
 * End a connection: count the reason (a QUOIT_DAEMON_* counter), tell it to the client and the log,
 * hang up, and ask the session back.  text NULL: the client left by itself, and nothing is told.
 */
void connection_end(struct connection *c, uint32_t counter, const char *text);

/* As connection_end, with this result in the last message to the client. */
void connection_refuse(struct connection *c, uint32_t counter, int result, const char *text);

/*
 * It waits for what its user may give back.  False: too many of the user do.  connection_wait_over:
 * it does not, or no more.
 */
bool connection_wait(struct connection *c);
void connection_wait_over(struct connection *c);

/* It is hung up: from now on it only leaves. */
void connection_set_gone(struct connection *c);

/* Has it ended, with nothing of its session on its way back? */
bool connection_is_gone(const struct connection *c);

#endif

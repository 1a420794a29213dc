/* SPDX-License-Identifier: MIT */
/*
 * connection.h - one client's control socket and the state machine behind it.
 *
 *	new ──HELLO──► open ──CLOSE──► closing
 *	 ├──TRACE──► records │ our end      │
 *	 │               │   └► draining    │
 *	 └───────────────┴── end ──┴────────┴──► gone, once the reactor has let go
 */
#ifndef QUOITD_CONNECTION_H
#define QUOITD_CONNECTION_H

#include <quoit/ctl.h>

#include "control.h"
#include "session/errands.h"
#include "session/kernels.h"

enum connection_state {
	CONNECTION_NEW,
	CONNECTION_OPEN,
	CONNECTION_CLOSING,  /* CLOSE is with the reactor */
	CONNECTION_DRAINING, /* quoitd is ending: its jobs may end, nothing is read any more */
	CONNECTION_RECORDS,  /* the sessions of others: it has none */
	CONNECTION_GONE,     /* hung up; the session is coming back, errands are run */
};

/* What a connection records. */
struct recorder {
	uint64_t session; /* 0: all of its user's; root: everybody's */
	uint32_t records; /* of each file */
	bool looks;       /* for sessions that it does not record yet, */
	uint64_t looked;  /* beyond this one; */
	uint64_t served;  /* its last turn, by control's count */
};

/* Memory that a client hands over, while an errand has it (connection_memory.h). */
struct handover {
	struct shared memory[QUOIT_MAX_RINGS];
	uint32_t count, at;      /* so many, and where it has come to */
	bool is_arena;           /* else they are rings */
	uint64_t from, upto;     /* of the arena, which bytes */
	struct shared_wish wish; /* how each is to be mapped */
	int seals;               /* that each is to have, to be checked */
	uint64_t away;           /* of the arena, bytes on other nodes */
	int result;
	char text[QUOIT_TEXT_BYTES];
};

struct connection {
	struct connection *next;
	struct control *control;
	int fd;
	uid_t uid;
	pid_t pid;
	int pidfd;      /* of the process that connected; -1: not to be had */
	bool counted;   /* as one of its user's */
	bool only_asks; /* quoitd's own user, which it does not serve */
	enum connection_state state;
	uint64_t rests;       /* it is not read now (rests.h): it was the so many-th to be so */
	uint64_t took;        /* by the last message; ticks */
	uint64_t hello_by_ns; /* CLOCK_BOOTTIME */
	struct session *session;
	uint64_t leased;            /* charged, and so many rings: charge.h */
	uint64_t lease, lease_peak; /* its session's, now and at the most */
	uint64_t span;              /* address space that its session's region takes */
	uint64_t device_leased;
	uint32_t rings;
	uint32_t reactor;
	bool is_back; /* its session, though it is not given back yet */
	bool has_own; /* counted among its user's sessions that bring kernels */
	struct recorder records;

	/* the request that a reactor is answering; type 0: none */
	uint16_t pending;
	uint32_t pending_seq;
	struct handover handover;
	struct shared arena;    /* mapped, and not ready; none: it is not there, or the session's */
	uint64_t arena_bytes;   /* of it, that are granted, */
	uint64_t arena_peak;    /* and that were ever looked at: their page tables are charged */
	uint32_t rings_waiting; /* of new_rings: mapped, and not ready */
	uint32_t rings_expected; /* READY: answers still to come */
	int rings_error;
	struct quoit_ring_open ring_open;
	uint32_t first_ring; /* of those to be opened next */
	struct ring *new_rings[QUOIT_MAX_RINGS];
	int file_fd;
	struct quoit_ctl held;   /* a request whose turn comes once it is no longer behind, */
	struct ctl_fds held_fds; /* with what it brought; none: there is no such request */
	struct kernels_ask kernels_ask;
	struct errands errands; /* with its descriptors */
};

/* One request from the client, with what came with it, which is taken over. */
void connection_request(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds);

/* Take over the descriptors of what is no request, to close them. */
void connection_drop_fds(struct connection *c, const struct ctl_fds *fds);

/* Go on where an errand has been run. */
void connection_look_at_errands(struct connection *c);

/* A reactor's answer. */
void connection_answer(struct connection *c, const struct mail *m);

/*
 * End it: count and say the reason (a QUOIT_DAEMON_* counter; text for the client and
 * the log, NULL: the client went by itself), hang up, ask the session back.
 */
void connection_end(struct connection *c, uint32_t counter, const char *text);

/* The same with the result that its last message has. */
void connection_refuse(struct connection *c, uint32_t counter, int result, const char *text);

/* The connection of the session with this number, or of this session; NULL: there is none. */
struct connection *control_find_session(struct control *c, uint64_t id);
struct connection *control_find_owner(struct control *c, const struct session *s);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * user.h - whose sessions they are.  What is divided, is divided between users first, by their
 * shares, and then between the sessions of each.
 */
#ifndef QUOITD_USER_H
#define QUOITD_USER_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/config.h"
#include "host/dear.h"
#include "host/ledger.h"

struct ring;
struct session;
struct user;

/* What sessions have turns at, each in a queue of its own. */
enum turn {
	TURN_START,   /* there may be something to start, or to go on with */
	TURN_PUBLISH, /* there are jobs for the workers */
	TURNS
};

struct turns {
	struct session *first, *last; /* linked by session.turn; first NULL: nobody */
	uint32_t count;
};

/* What a user has at an executor, as one reactor sees it. */
struct tenant_part {
	uint32_t sharers;              /* sessions with jobs that wait for it or are there */
	uint32_t share;                /* what the user's was when the first of them came */
	uint32_t in_flight, in_direct; /* of all of them */
};

/* A user at one reactor, which alone touches it (reactor/tenant.h), but for `homes`. */
struct tenant {
	struct user *user;
	uint32_t homes;      /* the control thread's: sessions that it has given to it */
	struct tenant *next; /* in the circle of those that have sessions there */
	struct turns turns[TURNS];
	uint32_t session_count;
	uint32_t asked;     /* requests of its sessions that are open at the memory thread */
	struct ring *rings; /* a circle of those that are polled: whose turn is the next one */
	uint32_t ring_count;
	int64_t balance;  /* ticks that it may have before a new round begins */
	int64_t turn;     /* and in this stage of a pass */
	struct dear dear; /* its wake-ups */
	struct tenant_part part[CONFIG_EXECUTORS];
};

/* Its sessions that have requests open at the memory thread, which alone touches this. */
struct memory_line {
	struct session *first, *last; /* by turn; first NULL: none */
	struct user *next;            /* among those that have some */
	struct ledger_page page;
};

/* Its rings that have requests open at the thread for dear wake-ups, which alone touches this. */
struct bell_line {
	struct ring *first, *last; /* by turn; first NULL: none */
	struct user *next;         /* among those that have some */
	uint64_t rests_until;      /* TSC */
};

/* The control thread makes it with a user's first session, and frees it after the last. */
struct user {
	uid_t uid;
	uint32_t number;        /* below USERS; nobody else has it meanwhile */
	_Atomic uint32_t share; /* 1 to SHARE_MOST, as against those of others */
	uint32_t sessions;      /* the control thread's, */
	uint64_t span;          /* and so are the addresses that their regions take */
	struct user *next;
	struct memory_line at_memory;
	struct bell_line at_bells;
	struct tenant tenant[]; /* one at each reactor */
};

static inline uint32_t user_share(const struct user *u)
{
	return atomic_load_explicit(&u->share, memory_order_relaxed);
}

#endif

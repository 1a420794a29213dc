/* SPDX-License-Identifier: MIT */
/*
 * user.h - the users that own the sessions.
 *
 * Resources are divided between users first, by their shares, and then between the sessions of
 * each.
 */
#ifndef QUOITD_USER_H
#define QUOITD_USER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/dear.h"
#include "base/limits.h"
#include "ledger.h"

struct ring;
struct session;
struct user;

/* Turns of sessions, each with a queue of its own. */
enum turn {
	TURN_START,   /* there may be something to start or to go on with */
	TURN_PUBLISH, /* there are jobs for the workers */
	TURNS
};

struct run_queue {
	struct session *first, *last; /* linked by session.turn; first NULL: empty */
	uint32_t count;
};

/* A user's part of an executor, as one reactor sees it. */
struct tenant_part {
	uint32_t sharers;              /* sessions with jobs that wait for it or are there */
	uint32_t share;                /* the user's share when the first of them came */
	uint32_t in_flight, in_direct; /* jobs of all its sessions */
};

/* A user at one reactor, which alone touches it (fair/tenant.h), except for `homes`. */
struct tenant {
	struct user *user;
	uint32_t homes;      /* sessions given to the reactor; for the control thread */
	struct tenant *next; /* in the circle of users with sessions there */
	struct run_queue turns[TURNS];
	uint32_t session_count;
	uint32_t requests_open; /* of its sessions, at the memory thread */
	struct ring *rings;     /* a circle of its polled rings; the first is next */
	uint32_t ring_count;
	int64_t balance;  /* ticks that it may use before a new round begins */
	int64_t turn;     /* ticks left in this stage of a pass */
	struct dear dear; /* its wake-ups */
	bool awaits;      /* the workers know that its jobs wait for places there (worker_await) */
	struct tenant_part part[CONFIG_EXECUTORS];
};

/* A user's sessions with requests open at the memory thread, which alone touches this. */
struct memory_line {
	struct session *first, *last; /* by turn; first NULL: none */
	struct user *next;            /* the next user with requests */
	struct ledger_page page;
};

/* A user's rings with requests open at the thread for dear wake-ups, which alone touches this. */
struct bell_line {
	struct ring *first, *last; /* by turn; first NULL: none */
	struct user *next;         /* the next user with requests */
	uint64_t rests_until;      /* TSC */
};

/* The control thread makes it with a user's first session, and frees it after the last. */
struct user {
	uid_t uid;
	uint32_t number;        /* below USERS; unique while the user exists */
	_Atomic uint32_t share; /* 1 to SHARE_MOST, relative to other users' */
	uint32_t sessions;      /* number of its sessions; for the control thread */
	uint64_t span;          /* address space of their regions; for the control thread */
	struct user *next;
	struct memory_line at_memory;
	struct bell_line at_bells;
	struct tenant tenant[]; /* one for each reactor */
};

static inline uint32_t user_share(const struct user *u)
{
	return atomic_load_explicit(&u->share, memory_order_relaxed);
}

#endif

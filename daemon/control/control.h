/* SPDX-License-Identifier: MIT */
/*
 * control.h - the control thread: connections, sessions, and the daemon's end.
 *
 * One thread, one epoll, and nothing on it blocks for a client: every client socket
 * is non-blocking, replies are sent or the client is ended, and what takes long
 * happens elsewhere.
 */
#ifndef QUOITD_CONTROL_H
#define QUOITD_CONTROL_H

#include "budget.h"
#include "executors/device_places.h"
#include "executors/executors.h"
#include "host/config.h"
#include "host/features.h"
#include "host/placement.h"
#include "host/totals.h"
#include "reactor/reactor.h"
#include "names.h"
#include "reload.h"
#include "users.h"

struct connection;
struct errand_pool;
struct lent;

/* The end of all sessions (drain.h). */
struct drain {
	uint64_t until_ns; /* CLOCK_BOOTTIME */
	bool hurry;        /* it is over: somebody has asked for the end once more */
	uint32_t sessions;
	uint64_t finished, cancelled; /* jobs since it began */
};

struct control {
	const struct config *config;
	const struct placement *plan;
	const struct features *features;
	struct reactor *reactors;
	uint32_t reactor_count;
	struct mailbox **outbox; /* one from each reactor */
	uint32_t need_wake;      /* ours, for the outboxes */
	int eventfd;
	int epoll;
	int listener;
	bool passed; /* the listener is a service manager's: it stays when we end */
	int signals;
	int directory; /* runtime directory, for counter files */
	struct budget *budget;
	uint64_t span; /* address space that all pageable regions take */
	struct users users;
	struct executors *executors; /* from control_run on; NULL: none */
	const struct gpu_choice *gpu;
	const struct device_places *places;
	uint64_t device_lease; /* default; 0: there is no device */
	struct errand_pool *errands;
	struct dear_users dear; /* whose messages are (rests.h), */
	uint64_t rests;         /* and how many connections have rested */
	struct quoit_totals *totals;
	struct connection *connections;
	struct lent *lent; /* traces, the newest first (recorder.h) */
	uint32_t last_lent;
	bool removes;          /* a trace was removed in the last turn of the loop, none made */
	uint64_t served;       /* turns of recorders that look for sessions */
	uint32_t *sessions_of; /* sessions each reactor has */
	uint64_t next_session;
	uint64_t accept_from_ns; /* CLOCK_BOOTTIME; 0: accepting */
	struct reload reload;
	struct names names;
	bool stop;
	struct drain drain;
	uint64_t passes; /* for the watchdog; atomic */
	/* service.c: what the service manager was last told, and when it may be told more */
	uint32_t status_sessions;
	uint64_t status_from_ns; /* CLOCK_BOOTTIME */
};

/* Open the socket and everything else; -errno after a log line. */
int control_init(struct control *c);

/*
 * Serve until SIGTERM or SIGINT; then every session is drained and ended.  SIGHUP: reload.h.
 */
void control_run(struct control *c);

/* Close and unlink. */
void control_done(struct control *c);

#endif

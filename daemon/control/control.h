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
#include "reload.h"

struct connection;
struct errand_pool;
struct lent;

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
	int signals;
	int directory; /* runtime directory, for counter files */
	struct budget *budget;
	struct executors *executors; /* from control_run on; NULL: none */
	const struct gpu_choice *gpu;
	const struct device_places *places;
	uint64_t device_lease; /* default; 0: there is no device */
	struct errand_pool *errands;
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
	bool stop;
};

/* Open the socket and everything else; -errno after a log line. */
int control_init(struct control *c);

/* Serve until SIGTERM or SIGINT; then every session is ended.  SIGHUP: reload.h. */
void control_run(struct control *c);

/* Close and unlink. */
void control_done(struct control *c);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * control.h - the control thread: connections, sessions, and the daemon's end.
 *
 * It is one thread with one epoll, and it never blocks for a client.  Client sockets are
 * non-blocking, a client to which a reply cannot be sent is ended, and blocking calls or other threads do
 * what takes long.
 */
#ifndef QUOITD_CONTROL_H
#define QUOITD_CONTROL_H

#include "backend/executor/device_places.h"
#include "budget.h"
#include "config/config.h"
#include "machine/features.h"
#include "machine/placement.h"
#include "names.h"
#include "observe/totals.h"
#include "processes/executors.h"
#include "reactor/reactor.h"
#include "reload.h"
#include "users.h"

struct connection;
struct blocking_pool;
struct lent;

/* The end of all sessions (drain.h). */
struct drain {
	uint64_t until_ns; /* CLOCK_BOOTTIME */
	bool hurry;        /* it is over: the end was requested once more */
	uint32_t sessions;
	uint64_t finished, cancelled; /* jobs, since the drain began */
};

struct control {
	const struct config *config;
	const struct placement *plan;
	const struct features *features;
	struct reactor *reactors;
	uint32_t reactor_count;
	struct mailbox **outbox; /* one from each reactor */
	uint32_t need_wake;      /* the control thread's, for the outboxes */
	int eventfd;
	int epoll;
	int listener;
	bool from_service_manager; /* the listener is its: it stays when quoitd ends */
	int signals;
	int directory; /* the runtime directory, for counter files */
	struct budget *budget;
	uint64_t span; /* address space of all pageable regions */
	struct users users;
	struct executors *executors; /* from control_run on; NULL: none */
	const struct gpu_choice *gpu;
	const struct device_places *places;
	uint64_t device_lease; /* default, bytes; 0: there is no device */
	struct blocking_pool *blocking;
	struct dear_users dear; /* users with dear messages (rests.h) */
	uint64_t rests;         /* how often a connection has begun to rest */
	struct quoit_totals *totals;
	struct connection *connections;
	uint32_t waiting; /* connections that wait (connection_wait) */
	struct {
		struct service *first;
		uint64_t last_id;
		uint32_t last_caller;
		uint32_t seekers;    /* connections that wait for a service */
		uint32_t news, told; /* how often one has come; what seekers know of */
	} services;
	struct lent *lent; /* traces, the newest first (recorder.h) */
	uint32_t last_lent;
	bool removes;          /* in the last turn of the loop a trace was removed, and none made */
	uint64_t served;       /* turns that recorders have had to look for sessions */
	uint32_t *sessions_of; /* sessions of each reactor */
	uint64_t next_session;
	uint64_t accept_from_ns; /* CLOCK_BOOTTIME; 0: connections are accepted now */
	struct reload reload;
	struct names names;
	bool stop;
	struct drain drain;
	uint64_t passes; /* for the watchdog; atomic */
	/* service_manager.c: what the service manager was last told, and from when it may be told more */
	uint32_t status_sessions;
	uint64_t status_from_ns; /* CLOCK_BOOTTIME */
};

/* Open the socket and everything else.  -errno, after a log line. */
int control_init(struct control *c);

/* Serve until SIGTERM or SIGINT, then drain and end every session.  SIGHUP: see reload.h. */
void control_run(struct control *c);

/* Close everything, and unlink the socket. */
void control_done(struct control *c);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * mail.h - letters between the control thread and a reactor, one ring each way.
 *
 * A session passes to its reactor with MAIL_SESSION_ADD and comes back with the answer to
 * MAIL_CLOSE or MAIL_DEAD.  In between the control thread touches only the fields that never
 * change.
 */
#ifndef QUOITD_MAIL_H
#define QUOITD_MAIL_H

#include <stdint.h>

#include <quoit/ring.h>

struct caller;
struct function_ask;
struct kernels_ask;
struct serve_ask;
struct server;
struct service;
struct trace;
struct session;
struct ring;

enum mail_type {
	/* To the reactor; it answers with the same type, except SESSION_ADD and TRACE_BEGIN. */
	MAIL_SESSION_ADD,
	MAIL_RING_ADD,     /* ring */
	MAIL_RING_CLOSE,   /* a: ring index; answered when its jobs have ended, with ring */
	MAIL_CANCEL,       /* a: ring index, b: SQ index */
	MAIL_FILE_ADD,     /* a: fd, b and result: its kind (files.h); answered with the index */
	MAIL_FILE_REMOVE,  /* a: index */
	MAIL_ARENA,        /* bytes: the arena's new size */
	MAIL_KERNELS,      /* ask; answered when the device's process has answered */
	MAIL_FUNCTION_ADD, /* function */
	MAIL_SERVE_ASK,    /* serve; answered */
	/* About services (services.h). */
	/* a: ring index, server: it serves from now on; the service's home answers with it */
	MAIL_SERVE,
	MAIL_CALLER_ADD,   /* caller; answered with its index */
	MAIL_CALLER_CLOSE, /* a: its index */
	MAIL_SERVICE_END,  /* service: nobody serves or calls it; session is NULL */
	MAIL_TRACE_BEGIN,  /* trace: lent until MAIL_TRACE_END; not answered */
	MAIL_TRACE_END,    /* a: its id, returned in the answer; also for a session that is gone */
	MAIL_CLOSE,        /* a: QUOIT_CLOSE_*; answered when all jobs have ended */
	MAIL_DEAD,         /* the client is gone; answered when nothing uses the session */
	MAIL_DRAIN,        /* fetch nothing more; answered when all jobs have ended; a: how many */
	/*
	 * After DRAIN: cancel all jobs.  The answer says how many had ended (a) and were cancelled
	 * (b).  There is none if the session is back already.
	 */
	MAIL_CUT,
	/* From the reactor, unasked. */
	MAIL_KILL, /* the session broke a rule: a is the QUOIT_DAEMON_KILL_* counter */
	/*
	 * About the session's lease (memory/lease.h); a: enum lease_letter.  A request for more is
	 * answered with `bytes`, or a result below 0, before the session is handed back.
	 */
	MAIL_LEASE,
	/* caller: nothing uses it and its `goes`; session is NULL.  Answered when they are freed. */
	MAIL_CALLERS_GONE,
	MAIL_SERVER_GONE, /* server: nothing uses it; session is NULL */
};

struct mail {
	uint8_t type; /* enum mail_type */
	int32_t result;
	struct session *session;
	struct ring *ring;
	/* both owned by their sender until the answer */
	struct kernels_ask *ask;
	struct function_ask *function;
	struct serve_ask *serve;
	union { /* of services */
		struct service *service;
		struct server *server;
		struct caller *caller;
	};
	struct trace *trace;
	uint32_t a, b;
	uint64_t bytes, least; /* LEASE: bytes wanted, and the least that will do */
};

/*
 * More letters than can be open at once.  Each of a reactor's rings may belong to another session;
 * a session asks for one thing at a time, and its reactor may send a KILL or a LEASE besides.
 */
#define MAIL_ENTRIES 16384u

struct mailbox {
	_Alignas(64) uint32_t head;
	_Alignas(64) uint32_t tail;
	struct quoit_producer producer;
	_Alignas(64) struct quoit_consumer consumer;
	struct mail mail[MAIL_ENTRIES];
	uint32_t *need_wake; /* the receiver's */
	int eventfd;
};

void mailbox_init(struct mailbox *m, uint32_t *need_wake, int eventfd);
void mailbox_send(struct mailbox *m, const struct mail *mail);

/* Take the next letter; false: there is none. */
bool mailbox_receive(struct mailbox *m, struct mail *ret);

/* quoit_ring_sleep for the receiver. */
bool mailbox_sleep(struct mailbox *m);

#endif

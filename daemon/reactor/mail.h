/* SPDX-License-Identifier: MIT */
/*
 * mail.h - what the control thread and a reactor tell each other.
 *
 * A session passes to its reactor with MAIL_SESSION_ADD and comes back with the
 * answer to MAIL_CLOSE or MAIL_DEAD; in between the control thread touches none of it
 * but what never changes.  One ring each way.
 */
#ifndef QUOITD_MAIL_H
#define QUOITD_MAIL_H

#include <stdint.h>

#include <quoit/ring.h>

struct kernels_ask;
struct trace;
struct session;
struct ring;

enum mail_type {
	/* to the reactor; each is answered by the same type, except SESSION_ADD */
	MAIL_SESSION_ADD,
	MAIL_RING_ADD,    /* ring */
	MAIL_RING_CLOSE,  /* a: ring index; answered when its jobs have ended, with ring */
	MAIL_CANCEL,      /* a: ring index, b: SQ index */
	MAIL_FILE_ADD,    /* a: fd, b and result: its kind (files.h); answered with the index */
	MAIL_FILE_REMOVE, /* a: index */
	MAIL_ARENA,       /* bytes: that the arena has now */
	MAIL_KERNELS,     /* ask; answered when the device's process has answered */
	MAIL_TRACE_BEGIN, /* trace: lent until MAIL_TRACE_END; not answered */
	MAIL_TRACE_END,   /* a: its id, returned in the answer; of a session that has gone, too */
	MAIL_CLOSE,       /* a: QUOIT_CLOSE_*; answered when all jobs have ended */
	MAIL_DEAD,        /* the client is gone; answered when nothing uses the session any more */
	MAIL_DRAIN, /* nothing more is fetched; answered when all jobs have ended, a: how many */
	MAIL_CUT,   /* after DRAIN: all jobs are cancelled; answered with how many had ended
		       (a) and were cancelled (b), unless the session is back already */
	/* from the reactor, unasked */
	MAIL_KILL, /* the session broke a rule: a is the QUOIT_DAEMON_KILL_* counter */
	/*
	 * Its lease (memory/lease.h): a is enum lease_letter; more is answered with `bytes`, or a
	 * result below 0, before the session is handed back.
	 */
	MAIL_LEASE,
};

struct mail {
	uint8_t type; /* enum mail_type */
	int32_t result;
	struct session *session;
	struct ring *ring;
	struct kernels_ask *ask; /* its sender's until the answer */
	struct trace *trace;
	uint32_t a, b;
	uint64_t bytes, least; /* LEASE: as many as this, or at least */
};

/*
 * More than sessions can have requests open: of a reactor's rings each may be another session's,
 * which asks for one thing at a time, and whose reactor kills it or changes its lease.
 */
#define MAIL_ENTRIES 16384u

struct mailbox {
	_Alignas(64) uint32_t head;
	_Alignas(64) uint32_t tail;
	struct quoit_producer producer;
	_Alignas(64) struct quoit_consumer consumer;
	struct mail mail[MAIL_ENTRIES];
	uint32_t *need_wake; /* of who reads it */
	int eventfd;
};

void mailbox_init(struct mailbox *m, uint32_t *need_wake, int eventfd);
void mailbox_send(struct mailbox *m, const struct mail *mail);

/* The next letter; false: none. */
bool mailbox_receive(struct mailbox *m, struct mail *ret);

/* As quoit_ring_sleep. */
bool mailbox_sleep(struct mailbox *m);

#endif

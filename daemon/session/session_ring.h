/* SPDX-License-Identifier: MIT */
/* session_ring.h - a ring of a session, as the daemon sees it */
#ifndef QUOITD_SESSION_RING_H
#define QUOITD_SESSION_RING_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/abi.h>
#include <quoit/ctl.h>
#include <quoit/ring.h>
#include <quoit/trace.h>

#include "memory/shared.h"
#include "reactor/bells.h"

struct session;

#define CANCEL_SLOTS 16

/* What is timed on its way to the client (reactor/sample.h). */
#define SAMPLES_POSTING 16u
#define SAMPLES_POSTED  8u
struct ring_samples {
	uint32_t watch;               /* a flush of this CQE, or a later one, is of interest */
	uint8_t sq_rarity, cq_rarity; /* how rare samples are (quoit/sample.h), as our word tells */
	uint32_t sq, cq;              /* the next samples' indices, */
	uint32_t sq_from;             /* the first that the former stands for, */
	uint32_t submit_from;         /* and of those whose submit is known; */
	uint64_t sq_gap, cq_gap;      /* TSC: none before */
	uint32_t posting;             /* so many have a CQE that is not yet flushed: */
	struct {
		uint64_t end; /* TSC */
		uint32_t weight;
		uint8_t device; /* that it ran on; 0: none */
	} job[SAMPLES_POSTING];
	uint32_t posted, reaped; /* free-running, into: */
	struct {
		uint64_t tsc;
		uint32_t index, weight;
		uint32_t word; /* of the client's, that tells of it */
	} cqe[SAMPLES_POSTED];
	uint32_t cq_from; /* the first that the next CQE stands for */
};

enum ring_place {
	RING_IDLE,    /* need_wake is up */
	RING_POLLED,  /* in a circle of its user's */
	RING_STALLED, /* in one of the reactor's: its next SQE waits, and so it was for a while */
};

struct ring {
	struct session *session;
	struct ring *next, *previous; /* in a circle */
	enum ring_place place;
	uint32_t index;
	int socket;
	uint32_t flags; /* QUOIT_RING_* */
	struct quoit_ring_layout layout;
	struct shared memory; /* the client's, with all that follows: */
	struct quoit_client_words *client;
	struct quoit_daemon_words *daemon; /* nothing that is written there is ever read for what
					      we do: the client can write it, too */
	const struct quoit_sqe *sqes;
	const struct quoit_note *notes;
	const struct quoit_site *sites;
	const struct quoit_ring_events *events;
	uint32_t events_taken;   /* of these, free-running, */
	uint32_t events_dropped; /* and how many its client did not note, as last seen */
	struct quoit_cqe *cqes;
	struct quoit_error *errors;
	struct quoit_stamps *stamps; /* NULL: not asked for */
	struct quoit_consumer sq;
	struct quoit_producer cq;
	uint32_t in_flight;        /* jobs that hold a completion credit and have no CQE yet */
	uint32_t jobs;             /* of this ring in the job table */
	uint32_t armed;            /* the client's arm word that was last answered */
	bool dirty;                /* CQEs not yet flushed */
	bool queued;               /* in the reactor's list of dirty rings */
	bool hung_up;              /* the client closed its end of the socket */
	bool bells_asked;          /* a request is open at the thread for dear wake-ups, */
	uint8_t bells_wanted;      /* and so many BELL_* come after it */
	struct bell_turn at_bells; /* that thread's */
	uint32_t slot;             /* in the reactor's table */
	bool stalled;              /* the next SQE waits for a resource of the session */
	bool closing;
	bool mute;          /* its client has gone or is leaving: nothing is posted any more */
	uint64_t last_work; /* TSC of the last SQE */
	uint64_t look;      /* TSC; RING_STALLED: when to look again */
	/* Its queues: how deep when they were last looked at, and at most, as far as was looked. */
	uint32_t sq_depth, cq_depth, sq_most, cq_most;
	uint64_t fetched; /* TSC of the burst that is being fetched */
	uint8_t opcode;   /* of the SQE that was fetched last */
	struct ring_samples samples;
	struct ring *next_dirty;
	uint32_t *bucket;       /* jobs by sq_index: heads, cq_entries of them */
	uint32_t *segment_open; /* open jobs of each segment, cq_entries + 1 of them, wrapping */
	uint32_t *segment_job;  /* the AFTER_ALL job that ends it */
	uint32_t segment_head, segment_tail; /* oldest unfinished, current */
	uint32_t cancel[CANCEL_SLOTS];       /* SQ indices to be cancelled at fetch */
	uint32_t cancels;
};

/*
 * Make a ring in this memory, which is as long as its layout says and is taken over, and in which
 * nothing is looked at.  *ret_socket is a descriptor for the client, to be closed by the caller
 * after it was sent.  -errno: the memory stays the caller's.
 */
int ring_new(struct session *s, uint32_t index, const struct quoit_ring_open *open,
	     struct shared *memory, struct ring **ret, int *ret_socket);
void ring_free(struct ring *r);

/* Bytes that such a ring costs: its memory, which is locked, and what only we know of it. */
uint64_t ring_cost(const struct quoit_ring_layout *layout);

#endif

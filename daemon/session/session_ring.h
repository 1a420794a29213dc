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

#include "store/shared.h"

struct bell_link;
struct ring;
struct ring_team;
struct session;

#define CANCEL_SLOTS 16

/* State of the samples that are timed on their way to the client (observe/sample.h). */
#define SAMPLES_POSTING 16u
#define SAMPLES_POSTED  8u
struct ring_samples {
	uint32_t watch;               /* a flush of this CQE, or a later one, is of interest */
	uint8_t sq_rarity, cq_rarity; /* how rare samples are (quoit/sample.h), as our word says */
	uint32_t sq, cq;              /* indices of the next samples */
	uint32_t sq_from;             /* first SQE for which the next sample stands */
	uint32_t submit_from;         /* first SQE for which the next known submit stands */
	uint64_t sq_gap, cq_gap;      /* TSC; no sample before */
	uint32_t posting;             /* samples with a CQE that is not flushed yet */
	struct {
		uint64_t end; /* TSC */
		uint32_t weight;
		uint8_t device; /* on which it ran; 0: none */
	} job[SAMPLES_POSTING];
	uint32_t posted, reaped; /* free-running indices into cqe */
	struct {
		uint64_t tsc;
		uint32_t index, weight;
		uint32_t word; /* index of the client's note about it */
	} cqe[SAMPLES_POSTED];
	uint32_t cq_from; /* first CQE for which the next sample stands */
};

/* What a wake-up is to do; any of these together. */
enum bell_op {
	BELL_WAKE = 1, /* the futex that the client sleeps on */
	BELL_RING = 2, /* a byte to its end of the ring's socket */
	BELL_HEAR = 4, /* take messages from our end of the socket */
};

/* A ring's request at the thread for dear wake-ups (reactor/bells.h), which alone touches it. */
struct bell_turn {
	struct ring *next; /* the same user's next ring */
	struct bell_link *link;
	unsigned ops;
	uint64_t took; /* ticks that its last request took */
};

enum ring_place {
	RING_IDLE,    /* need_wake is up */
	RING_POLLED,  /* in the circle of its user's polled rings */
	RING_STALLED, /* in the reactor's circle: its next SQE has waited for a while */
};

struct ring {
	struct session *session;
	struct ring *next, *previous; /* in its circle */
	enum ring_place place;
	uint32_t index;
	int socket;
	uint32_t flags; /* QUOIT_RING_* */
	struct quoit_ring_layout layout;
	struct shared memory; /* the client's; all that follows lies in it */
	struct quoit_client_words *client;
	/* The client can write it, too, so we never act on what is read there. */
	struct quoit_daemon_words *daemon;
	const struct quoit_sqe *sqes;
	const struct quoit_note *notes;
	const struct quoit_site *sites;
	const struct quoit_ring_events *events;
	uint32_t events_taken;   /* events taken so far; free-running */
	uint32_t events_dropped; /* the client's count of notes not taken, as last seen */
	struct quoit_cqe *cqes;
	struct quoit_error *errors;
	struct quoit_stamps *stamps;   /* NULL: not asked for */
	struct quoit_call_text *texts; /* what services' functions said */
	uint32_t text_next;            /* free-running */
	struct ring_team *team;        /* NULL: it is not a team's ring (session_team.h) */
	struct quoit_consumer sq;
	struct quoit_producer cq;
	uint32_t in_flight;        /* jobs that hold a completion credit and have no CQE yet */
	uint32_t jobs;             /* jobs of this ring in the job table */
	uint32_t armed;            /* the client's arm word that was last answered */
	bool dirty;                /* CQEs not yet flushed */
	bool queued;               /* in the reactor's list of dirty rings */
	bool hung_up;              /* the client closed its end of the socket */
	bool bells_asked;          /* a request is open at the thread for dear wake-ups */
	uint8_t bells_wanted;      /* BELL_* bits to request after the answer */
	struct bell_turn at_bells; /* for the thread for dear wake-ups */
	uint32_t slot;             /* index in the reactor's table */
	bool stalled;              /* the next SQE waits for a resource of the session */
	bool closing;
	bool no_completions; /* the client is gone or leaving: post nothing more */
	uint64_t last_work;  /* TSC of the last SQE that was fetched, or looked at ahead */
	uint64_t look;       /* RING_STALLED: TSC of the next look */
	/* Depths of the queues at the last look, and the most that was seen. */
	uint32_t sq_depth, cq_depth, sq_most, cq_most;
	uint32_t lanes;   /* of a team: threads, as its client said when it was looked at */
	uint64_t fetched; /* TSC of the burst being fetched */
	uint8_t opcode;   /* of the last fetched SQE */
	struct ring_samples samples;
	struct ring *next_dirty;
	uint32_t *bucket;                    /* lists of jobs by sq_index: cq_entries heads */
	uint32_t *segment_open;              /* open jobs per segment; 2 * cq_entries, wrapping */
	uint32_t *segment_job;               /* the AFTER_ALL job that ends the segment */
	uint32_t segment_head, segment_tail; /* oldest unfinished; current */
	uint32_t cancel[CANCEL_SLOTS];       /* SQ indices to cancel at their fetch */
	uint32_t cancels;
	/* SQEs before this one were searched for releases of what the program holds by now. */
	uint32_t looked_ahead;
};

/*
 * Make a ring in this memory, and take the memory over; it is as long as its layout says, and its
 * contents are not looked at.  The caller sends *ret_socket to the client and then closes it.  0,
 * or -errno: the caller still owns the memory.
 */
int ring_new(struct session *s, uint32_t index, const struct quoit_ring_open *open,
	     struct shared *memory, struct ring **ret, int *ret_socket);
void ring_free(struct ring *r);

/* Bytes that such a ring costs: its memory, which is locked, and our own state of it. */
uint64_t ring_cost(const struct quoit_ring_layout *layout);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * play.h - play a plan with quoitd, a thread for each ring, and compare each step with the model
 *
 *	play.c            sessions, threads and the end
 *	play_steps.c      what a thread does for each step
 *	play_functions.c  the functions of the program
 */
#ifndef TORTURE_PLAY_H
#define TORTURE_PLAY_H

#include <pthread.h>

#include <quoit.h>

#include "plan.h"

#define PLAY_PATIENCE_MS 120000 /* what takes longer never ends */
#define PLAY_OPEN        64u
#define PLAY_NAMED       64u

struct play_session {
	struct quoit_session *s;
	struct quoit_team *team;
	int function[PLAN_FUNCTIONS];
	int queue[PLAN_RINGS]; /* by the ring that sends */
	bool has_lanes;
};

struct play_options {
	const char *socket;
	uint32_t lanes[PLAN_SESSIONS]; /* 0: only threads that wait run calls */
	uint32_t entries;              /* of each ring */
};

struct play;

/* A ring's thread. */
struct player {
	struct play *play;
	uint32_t ring;
	struct quoit_ring *q;
	struct play_session *session;
	pthread_t thread;
	uint32_t open[PLAY_OPEN]; /* steps that were started, and not looked at yet; oldest first */
	uint32_t opens;
	int named[PLAY_NAMED]; /* numbers of tensors with names, to close at the end */
	uint32_t nameds;
	uint64_t failures; /* of jobs that nobody looks at, as the plan has them so far */
};

struct play {
	const struct plan *plan;
	struct play_options options;
	struct play_session session[PLAN_SESSIONS];
	struct player player[PLAN_RINGS];
	quoit_tensor *tensor;      /* by their number in the plan */
	quoit_job *job;            /* of each step */
	struct quoit_event *event; /* of each step; good when it is done */
	bool *done;                /* under the lock: other threads may go on behind it */
	bool stopped;              /* under the lock: something was wrong */
	pthread_mutex_t lock;
	char wrong[600]; /* the first thing that was wrong; "": nothing */
};

/* Play it; false: something was wrong, which is written into the text. */
bool play_run(const struct plan *plan, const struct play_options *options, char *text, size_t size);

/* ---- between the files ---- */

/* The whole of a player's thread. */
void *play_steps(void *player);

/* Note that something was wrong with a step; all threads stop. */
void play_complain(struct play *p, uint32_t step, const char *what);

/* Fill in the functions for quoit_open_team, in the order of enum plan_function. */
void play_functions(struct play_session *s, struct quoit_function to[PLAN_FUNCTIONS]);

#endif

/* SPDX-License-Identifier: MIT */
/* plan_private.h - what the files behind plan.h share */
#ifndef TORTURE_PLAN_PRIVATE_H
#define TORTURE_PLAN_PRIVATE_H

#include "plan.h"

#define PLAN_LIVE  12u /* tensors that one ring has made and not freed */
#define PLAN_SIZES 6u

/* A step has used these bytes. */
struct plan_access {
	uint32_t step;
	uint8_t ring;
	bool write;
	int64_t lo, hi; /* in elements */
};

struct plan_buffer {
	uint8_t ring, place; /* who has made it, and where */
	bool touched;
	uint32_t n, tensors;
	int32_t *data;
	struct plan_access *access; /* those that later steps of other rings may have to wait for */
	uint32_t accesses, room;
	/* poison: elements [lo, hi), and why */
	bool poisoned;
	int64_t lo, hi;
	uint32_t cause;
	int32_t code;
};

/* The acquire of a ring that is not released yet. */
struct plan_hold {
	uint32_t ask; /* PLAN_NONE: none */
	bool used;
	uint32_t left;    /* so many steps of the ring may come before the next part of it */
	uint32_t records; /* steps that other rings have put in since */
};

/* They are closed at the end, and a session has 64 numbers, for its queues, too. */
#define PLAN_NAMES 18u

/* Messages of a ring that are not received yet.  As many fit into its queue. */
#define PLAN_MESSAGES 8u
struct plan_messages {
	uint32_t step[PLAN_MESSAGES]; /* the SENDs, the oldest first */
	uint32_t count;
};

struct plan_maker {
	struct plan *plan;
	uint64_t random;
	uint32_t size[PLAN_SIZES]; /* elements */
	uint32_t room, tensor_room;
	uint32_t live[PLAN_RINGS][PLAN_LIVE], live_count[PLAN_RINGS];
	uint64_t used[PLAN_RINGS][PLAN_PLACES], peak[PLAN_RINGS][PLAN_PLACES];
	struct plan_hold hold[PLAN_RINGS];
	struct plan_messages sent[PLAN_RINGS];
	uint32_t named[PLAN_RINGS]; /* tensors with names that it has made: at most PLAN_NAMES */
	/* known[r][q]: what ring r does next comes behind this step of ring q, and 1; 0: none */
	uint32_t known[PLAN_RINGS][PLAN_RINGS];
	uint32_t (*known_at)[PLAN_RINGS]; /* known[its ring] behind each step */
	uint32_t last_record[PLAN_RINGS]; /* PLAN_NONE: none */
};

/* ---- plan.c ---- */

uint32_t plan_draw(struct plan_maker *m, uint32_t below);
bool plan_chance(struct plan_maker *m, uint32_t percent);

/* Append a step, and run it in the model.  Returns its number. */
uint32_t plan_emit(struct plan_maker *m, const struct plan_step *step);

/* ---- plan_steps.c ---- */

/* Append a step of this ring, and what has to come before it; or none. */
void plan_make_step(struct plan_maker *m, uint32_t ring);

/* At the end: release what the ring holds; then read and free its tensors. */
void plan_make_release(struct plan_maker *m, uint32_t ring);
void plan_make_end(struct plan_maker *m, uint32_t ring);

/* A step without operands. */
struct plan_step plan_step_of(uint32_t ring, enum plan_kind kind);

/* ---- plan_order.c ---- */

/*
 * Let the step come behind all steps of other rings that it must not meet: append events, or change
 * the step.  False: that cannot be, now.
 */
bool plan_order(struct plan_maker *m, struct plan_step *step);

/* Note what the step has used, and what is known behind it. */
void plan_note(struct plan_maker *m, uint32_t step);

/* ---- plan_model.c ---- */

/* Run a step: change the data, and fill in how it must end. */
void plan_run(struct plan_maker *m, uint32_t step);

/* The bytes that a buffer is charged for. */
uint64_t plan_charge(const struct plan_buffer *b);

/* First element and end of a tensor in its buffer. */
void plan_extent(const struct plan_tensor *t, int64_t *ret_lo, int64_t *ret_hi);

/* Is this kind a job that quoitd runs? */
bool plan_is_job(const struct plan_step *s);

/* Does the step write, or read, this operand? */
bool plan_writes(const struct plan_step *s, uint32_t i);
bool plan_reads(const struct plan_step *s, uint32_t i);

#endif

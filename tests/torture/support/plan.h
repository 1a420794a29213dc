/* SPDX-License-Identifier: MIT */
/*
 * plan.h - random graphs of jobs over several rings and two sessions, and how each job must end
 *
 * A plan is a list of steps that make sense one after the other, and a serial model in plain C says
 * what each of them finds.  The steps are dealt out to rings, each of which a thread plays on its
 * own (play.h).  Where two rings use the same bytes, the plan has an event between them, so that
 * the results do not depend on who is faster.
 *
 *	plan.c        from the first step to the last
 *	plan_steps.c  which steps there are
 *	plan_order.c  which step must come behind which of another ring
 *	plan_model.c  what a step does, and what has become of the data
 *
 * A buffer is made, first touched and freed by one ring, all others use it in between.  So the most
 * bytes that the buffers of a ring have at a time do not depend on the other rings, and a lease of
 * their sum must do (docs/explanation/memory.md).
 *
 * Sessions send each other messages.  Each is received by a later step, so a serial run never waits
 * for one, and never has more of them than a queue has room for.
 *
 * After a failed write of a part of a buffer, the next job on it spans all of it: quoitd remembers
 * poison as one interval, whose extent would otherwise depend on which of two jobs ends first.
 */
#ifndef TORTURE_PLAN_H
#define TORTURE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/abi.h>

#define PLAN_SESSIONS 2u
#define PLAN_RINGS    4u /* in both sessions together */
#define PLAN_OPERANDS 3u
#define PLAN_NONE     UINT32_MAX /* no step, no tensor */

/* The last: in the memory of a tensor with a name, which no function and no device reaches. */
enum plan_place { PLAN_HOST, PLAN_PINNED, PLAN_SHARED, PLAN_DEVICE, PLAN_NAMED, PLAN_PLACES };

enum plan_kind {
	/* tensors */
	PLAN_CREATE, /* number[0]: the place */
	PLAN_VIEW,   /* operand 1: of which */
	PLAN_FREE,
	/* quoit's own operations; number[0]: the scalar */
	PLAN_FILL,
	PLAN_COPY, /* refused if the sizes differ */
	PLAN_ADD,
	PLAN_MUL,
	PLAN_MAX,
	PLAN_SUM,
	PLAN_NOP,
	/* messages to the other session: each ring sends to one there, by a queue of its own */
	PLAN_SEND,
	PLAN_RECEIVE, /* what a SEND has sent */
	/* the program's own functions (enum plan_function) */
	PLAN_CALL,
	/* the program itself, which changes each element if the acquire is for writing */
	PLAN_ASK, /* number[0]: enum quoit_access */
	PLAN_USE,
	PLAN_RELEASE,
	PLAN_READ,
	PLAN_WRITE, /* what a READ of the other session has found */
	/* order */
	PLAN_RECORD,
	PLAN_AWAIT,
	PLAN_KINDS
};

/* What they do is in plan_model.c and, a second time, in play_functions.c. */
enum plan_function {
	PLAN_BUMP,       /* M: x = plan_change(x) */
	PLAN_MIX,        /* W, R, r: x = y * number[0] + z, or + number[1] */
	PLAN_CUT,        /* M, R: x += y * number[0], in number[1] pieces */
	PLAN_TOTAL,      /* W, R */
	PLAN_COUNT,      /* R: its result is the number of elements */
	PLAN_FAIL,       /* W: -EDOM, when half is written */
	PLAN_FAIL_PIECE, /* M: pieces from number[0] on fail, of number[1] */
	PLAN_NEST,       /* M: waits for jobs of its own; then as BUMP */
	PLAN_FUNCTIONS
};
#define PLAN_PIECE_FAILS 100 /* piece i fails with minus this and i */

struct plan_step {
	uint8_t ring;
	uint8_t kind;     /* enum plan_kind */
	uint8_t function; /* enum plan_function, of a CALL */
	uint8_t priority;
	bool named;     /* its result is looked at; else it is pushed, and failures are counted */
	bool marked;    /* the event "this job has ended" is taken for another ring */
	uint32_t after; /* it waits for the event of this step; or PLAN_NONE */
	uint32_t of;    /* USE, RELEASE: the ASK; WRITE: the READ; RECEIVE: the SEND */
	uint32_t operand[PLAN_OPERANDS]; /* tensors by their number in the plan; or PLAN_NONE */
	int64_t number[2];
	int32_t result; /* how it must end; of a failure: */
	int32_t code;   /* that of the first cause, */
	uint32_t cause; /* and which step that was */
	int32_t *found; /* READ, ASK, SEND: the elements that are found there */
	uint32_t n;     /* their number */
};

/* A vector of i32: elements first, first + stride, ... of its buffer. */
struct plan_tensor {
	struct plan_buffer *buffer; /* NULL: it was freed */
	int64_t first, stride;
	uint32_t n;
	uint32_t made;                 /* the step that made it */
	uint32_t last_use[PLAN_RINGS]; /* the last step of each ring that used it */
};

struct plan_options {
	uint64_t seed;
	uint32_t steps; /* about so many */
	uint32_t rings[PLAN_SESSIONS];
	bool device; /* there is one */
	bool acquires;
};

struct plan {
	struct plan_options options;
	uint32_t rings; /* of both sessions */
	struct plan_step *step;
	uint32_t steps;
	struct plan_tensor *tensor;
	uint32_t tensors;
	/* The most bytes that a session's buffers have at a time, and one shared buffer. */
	uint64_t peak[PLAN_SESSIONS][PLAN_PLACES];
	uint64_t largest;
};

/* Make one; aborts if there is no memory. */
void plan_make(struct plan *p, const struct plan_options *options);
void plan_free(struct plan *p);

/* The session of a ring, and the ring of the other one that gets its messages. */
uint32_t plan_session(const struct plan *p, uint32_t ring);
uint32_t plan_receiver(const struct plan *p, uint32_t ring);

/* What functions and the program do to an element. */
static inline int32_t plan_change(int32_t x)
{
	return (int32_t)((uint32_t)x * 3u + 1u);
}

/* a * b + c, modulo 2^32 */
static inline int32_t plan_multiply_add(int32_t a, int32_t b, int32_t c)
{
	return (int32_t)((uint32_t)a * (uint32_t)b + (uint32_t)c);
}

/* One line for a step; returns the text. */
const char *plan_say(const struct plan *p, uint32_t step, char *text, uint32_t size);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * validate.h - what an SQE may say.
 *
 * Pure functions of the private copy of an SQE and of the session's tables: they change nothing,
 * allocate nothing, and end in constant time.  They stand between a hostile client and everything
 * else, and are fuzzed as such (tests/fuzz/fuzz_validate.c).
 */
#ifndef QUOITD_VALIDATE_H
#define QUOITD_VALIDATE_H

#include <stdint.h>

#include "base/fault.h"
#include "session/session.h"

/* A job that is predicted to run for longer is refused with -E2BIG. */
#define VALIDATE_MAX_NS UINT64_C(600000000000)

/* The same for a piece that only one core can compute: not even its client's death stops it. */
#define VALIDATE_MAX_PIECE_NS UINT64_C(2500000000)

struct op_row;

/* What a valid job needs to know of its SQE. */
struct plan {
	const struct op_row *row; /* the operation's row */
	uint8_t tensors;          /* bit i: sqe.tensor[i] is used */
	uint8_t reads;
	uint8_t writes;
	bool refused;                                    /* no valid job: only outputs are known */
	uint32_t view[QUOIT_MAX_TENSORS_PER_JOB];        /* views of the tensors used */
	const struct view *t[QUOIT_MAX_TENSORS_PER_JOB]; /* the same; NULL: not used */
	uint8_t on_device;                               /* bit i: tensor[i] is on a device */
	uint8_t device;                                  /* which device, from 1; 0: none */
	uint8_t executor;                                /* runs the job (session.h) */
	uint64_t elements;                               /* of the largest tensor */
	uint64_t cost;                                   /* predicted nanoseconds on one core */
	uint64_t piece;                                  /* ns of its largest indivisible piece */
};

/*
 * Has a job no flag but QUIET (and INT), no device, link or priority, and nothing in reserved
 * bytes?  Nearly all are like that.
 */
bool validate_is_plain(const struct quoit_sqe *sqe);

/* Check a job (any operation but CREATE, VIEW and FREE).  0, or fault->code. */
int validate_job(const struct session *s, const struct quoit_sqe *sqe, struct plan *ret,
		 struct fault *fault);

/*
 * Find what an SQE that validate_job has refused would have written, as far as that can be told:
 * the outputs of its operation that name a tensor.  The plan takes no bytes and runs nothing.
 */
void validate_outputs(const struct session *s, const struct quoit_sqe *sqe, struct plan *ret);

/*
 * Check CREATE and fill in the view of all of a new buffer, which has ret->hi bytes.  The caller
 * fills in ret->buffer and refs.  0, or fault->code.
 */
int validate_create(const struct session *s, const struct quoit_sqe *sqe, struct view *ret,
		    struct fault *fault);

/* Check VIEW against the view of base[1]; sets all of *ret but refs.  0, or fault->code. */
int validate_view(const struct session *s, const struct quoit_sqe *sqe, struct view *ret,
		  struct fault *fault);

/* Check FREE; *ret_view is the view that the handle names.  0, or fault->code. */
int validate_free(const struct session *s, const struct quoit_sqe *sqe, uint32_t *ret_view,
		  struct fault *fault);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * validate.h - what an SQE may say.
 *
 * Pure functions of the private copy of an SQE and of the session's tables: they
 * change nothing, allocate nothing, and terminate in constant time.  They are what
 * stands between a hostile client and everything else, and are fuzzed as such
 * (tests/fuzz/fuzz_validate.c).
 */
#ifndef QUOITD_VALIDATE_H
#define QUOITD_VALIDATE_H

#include <stdint.h>

#include "fault.h"
#include "session/session.h"

/* A predicted run time beyond this is refused with -E2BIG. */
#define VALIDATE_MAX_NS UINT64_C(600000000000)

/*
 * And beyond this of a piece that only one core can do: nobody takes a core from it, not even its
 * client's death.
 */
#define VALIDATE_MAX_PIECE_NS UINT64_C(2500000000)

struct op_row;

/* What a valid job needs to know of its SQE. */
struct plan {
	const struct op_row *row; /* of its operation */
	uint8_t tensors;          /* bit i: sqe.tensor[i] is used */
	uint8_t reads;
	uint8_t writes;
	bool refused;                             /* it is no job: only its outputs are known */
	uint32_t view[QUOIT_MAX_TENSORS_PER_JOB]; /* of the tensors that are used */
	const struct view *t[QUOIT_MAX_TENSORS_PER_JOB]; /* the same; NULL: not used */
	uint8_t on_device;                               /* bit i: tensor[i] is on one, */
	uint8_t device;                                  /* on this one; 0: none is */
	uint8_t executor;                                /* who runs it (session.h) */
	uint64_t elements;                               /* of the largest tensor */
	uint64_t cost;                                   /* nanoseconds on one core, predicted, */
	uint64_t piece; /* and of the largest piece that cannot be shared among cores */
};

/*
 * Does a job carry no flag but QUIET, no device, link or priority, and nothing in
 * reserved bytes?  Nearly all are like that.
 */
bool validate_is_plain(const struct quoit_sqe *sqe);

/* Check a job (any operation but CREATE, VIEW and FREE).  0, or fault->code. */
int validate_job(const struct session *s, const struct quoit_sqe *sqe, struct plan *ret,
		 struct fault *fault);

/*
 * What an SQE that validate_job has refused would have written, as far as that can be told: the
 * outputs of its operation that name a tensor, as a plan that takes no bytes and runs nothing.
 */
void validate_outputs(const struct session *s, const struct quoit_sqe *sqe, struct plan *ret);

/*
 * Check CREATE and fill in the view of all of a new buffer, which has ret->hi bytes.  The
 * caller fills in ret->buffer and refs.  0, or fault->code.
 */
int validate_create(const struct session *s, const struct quoit_sqe *sqe, struct view *ret,
		    struct fault *fault);

/* Check VIEW against the view of base[1]; all of *ret but refs is set. */
int validate_view(const struct session *s, const struct quoit_sqe *sqe, struct view *ret,
		  struct fault *fault);

/* Check FREE; *ret_view is what the handle names. */
int validate_free(const struct session *s, const struct quoit_sqe *sqe, uint32_t *ret_view,
		  struct fault *fault);

#endif

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

#include "session.h"

/* Why something was refused: goes into the error record. */
struct fault {
	int32_t code;  /* -errno */
	uint8_t field; /* enum quoit_field */
	uint64_t value[2];
};

/* A predicted run time beyond this is refused with -E2BIG. */
#define VALIDATE_MAX_NS UINT64_C(600000000000)

/* What a valid job needs to know of its SQE. */
struct plan {
	uint8_t tensors; /* bit i: sqe.tensor[i] is used */
	uint8_t reads;
	uint8_t writes;
	uint32_t view[QUOIT_MAX_TENSORS_PER_JOB]; /* of the tensors that are used */
	uint64_t elements;                        /* of the largest tensor */
	uint64_t cost;                            /* nanoseconds on one core, predicted */
};

/* Check a job (any operation but CREATE, VIEW and FREE).  0, or fault->code. */
int validate_job(const struct session *s, const struct quoit_sqe *sqe, struct plan *ret,
		 struct fault *fault);

/*
 * Check CREATE: the view of a new buffer and the size of that buffer.  The caller fills
 * in ret->buffer.  0, or fault->code.
 */
int validate_create(const struct session *s, const struct quoit_sqe *sqe, struct view *ret,
		    uint64_t *ret_size, struct fault *fault);

/* Check VIEW against the view of tensor[1]; ret->buffer is set. */
int validate_view(const struct session *s, const struct quoit_sqe *sqe, struct view *ret,
		  struct fault *fault);

/* Check FREE; *ret_view is what the handle names. */
int validate_free(const struct session *s, const struct quoit_sqe *sqe, uint32_t *ret_view,
		  struct fault *fault);

#endif

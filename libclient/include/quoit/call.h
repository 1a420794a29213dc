/* SPDX-License-Identifier: MIT */
/*
 * call.h - what a function of one's own is given: a function of a team (quoit/team.h), or an
 * operation of a plug-in module (quoit/exec.h).
 */
#ifndef QUOIT_CALL_H
#define QUOIT_CALL_H

#include <quoit/abi.h>

/*
 * A view on memory: element (i, j, k, l) is at data + the sum of index times stride, in elements.
 */
struct quoit_exec_tensor {
	void *data; /* NULL: an optional tensor that was not given */
	uint32_t dim[QUOIT_MAX_DIMS];
	int32_t stride[QUOIT_MAX_DIMS];
	uint8_t dtype; /* enum quoit_dtype */
};

union quoit_exec_scalar {
	double f;
	int64_t i;
	uint64_t u;
};

/*
 * One job.  quoitd has checked that every element lies within the session's memory, that no two
 * elements of an output share bytes, and that outputs overlap no input.  The function itself must
 * check types, dims, arg and scalars.  In a module the contents of inputs may change while it runs:
 * copy an element, check the copy, and use only the copy.
 */
struct quoit_exec_call {
	struct quoit_exec_tensor tensor[QUOIT_MAX_TENSORS_PER_JOB];
	union quoit_exec_scalar scalar[2];
	uint8_t arg;
	/* The client's error record: a function that fails fills these in. */
	uint8_t field; /* enum quoit_field */
	/*
	 * what they mean depends on the field, see there; of most: what was found, what is allowed
	 */
	uint64_t value[2];
	/* a function of a team that is cut into pieces: which piece, of how many; else 0 of 1 */
	uint32_t piece, pieces;
	/* of a team: a function that fails may say why in a sentence; "": it does not */
	char text[QUOIT_CALL_TEXT_BYTES];
	uint32_t uid, pid; /* of a service: the user and the process that call; else 0 */
};

#endif

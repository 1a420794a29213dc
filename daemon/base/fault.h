/* SPDX-License-Identifier: MIT */
/* fault.h - why an SQE was refused: what goes into its error record */
#ifndef QUOITD_FAULT_H
#define QUOITD_FAULT_H

#include <stdint.h>

#include <quoit/abi.h>

struct fault {
	int32_t code;      /* -errno */
	uint8_t field;     /* enum quoit_field */
	uint64_t value[2]; /* what was found and what is allowed */
};

/* Fill in *f; returns the code. */
static inline int refuse(struct fault *f, int code, uint8_t field, uint64_t found, uint64_t allowed)
{
	*f = (struct fault){.code = code, .field = field, .value = {found, allowed}};
	return code;
}

/* As refuse, for the tensor at this place. */
static inline int refuse_tensor(struct fault *f, int code, unsigned tensor, uint64_t found,
				uint64_t allowed)
{
	return refuse(f, code, (uint8_t)(QUOIT_FIELD_TENSOR0 + tensor), found, allowed);
}

#endif

/* SPDX-License-Identifier: MIT */
/* sqe_header.h - checks the first word of an SQE, which jobs and control operations share */
#ifndef QUOITD_SQE_HEADER_H
#define QUOITD_SQE_HEADER_H

#include <errno.h>
#include <stdbool.h>

#include "base/fault.h"

/* The first word of nearly every SQE: opcode, QUIET and arg. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "where its fields are in it");
#define SQE_HEADER_PLAIN (UINT64_C(0xff) | (uint64_t)QUOIT_SQE_QUIET << 8 | UINT64_C(0xff) << 24)

/* Has it no flag but QUIET, no device, and nothing in reserved bytes? */
static inline bool sqe_header_is_plain(const struct quoit_sqe *sqe)
{
	return !(*(const uint64_t *)sqe & ~SQE_HEADER_PLAIN);
}

/* Check flags and reserved bytes; opcode, device and arg are checked elsewhere. */
static inline int sqe_header_check(const struct quoit_sqe *sqe, struct fault *f)
{
	uint8_t flags = sqe->flags;

	if (flags & ~QUOIT_SQE_FLAGS)
		return refuse(f, -EINVAL, QUOIT_FIELD_FLAGS, flags, QUOIT_SQE_FLAGS);
	if (flags & QUOIT_SQE_AFTER_ALL && sqe->opcode != QUOIT_OP_NOP)
		return refuse(f, -EINVAL, QUOIT_FIELD_FLAGS, flags,
			      QUOIT_SQE_FLAGS & ~QUOIT_SQE_AFTER_ALL);
	if (sqe->reserved0)
		return refuse(f, -EINVAL, QUOIT_FIELD_RESERVED, sqe->reserved0, 0);
	return 0;
}

#endif

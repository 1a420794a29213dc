/* SPDX-License-Identifier: MIT */
/*
 * dense.h - copies between the tensors of a job and dense bytes: results of a call come from the
 * memory of the process that served it, a message of a queue goes into the queue or comes out of it.
 *
 * The reactor copies, part by part: workers might not begin for as long as the other works of the
 * session take, and others wait for those bytes.
 */
#ifndef QUOITD_DENSE_H
#define QUOITD_DENSE_H

#include "session/services.h"
#include "session/session.h"

/* Where the next tensor's bytes begin, behind so many of the one before. */
static inline uint64_t dense_padded(uint64_t bytes)
{
	return (bytes + QUOIT_LINE - 1) / QUOIT_LINE * QUOIT_LINE;
}

/* Bytes of these tensors of a job (bit i: tensor i). */
uint64_t dense_bytes(const struct session *s, const struct job *job, uint8_t tensors);

/*
 * Copy the next part of call->moves, the tensors of its job: from call->dense to them, or there from
 * them if the call sends.  True: it was the last.
 */
bool dense_copy_part(struct session *s, const struct job *job, struct service_call *call);

/* Copy a whole tensor of a job, which has no gaps. */
void dense_read(struct session *s, const struct job *job, unsigned tensor, void *to);

#endif

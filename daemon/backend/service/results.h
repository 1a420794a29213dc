/* SPDX-License-Identifier: MIT */
/*
 * results.h - copies the results of a call from the memory of the process that served it.
 *
 * The reactor copies, part by part: workers might not begin for as long as the other works of the
 * session take, and the process waits for its memory.
 */
#ifndef QUOITD_RESULTS_H
#define QUOITD_RESULTS_H

#include "session/services.h"
#include "session/session.h"

/* The reactor copies so many bytes in one go, fewer if they lie apart. */
#define RESULTS_PART_BYTES UINT64_C(65536)

/* Bytes of the results of a job: each dense, each from a multiple of QUOIT_LINE. */
uint64_t results_bytes(const struct session *s, const struct job *job);

/* Copy the next part; true: it was the last. */
bool results_copy_part(struct session *s, const struct job *job, struct service_call *call);

#endif

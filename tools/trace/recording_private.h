/* SPDX-License-Identifier: MIT */
/* recording_private.h - functions that the files which read a recording share */
#ifndef QUOIT_TOOLS_TRACE_RECORDING_PRIVATE_H
#define QUOIT_TOOLS_TRACE_RECORDING_PRIVATE_H

#include "recording.h"

/* Limit a number to the 63 bits that JSON readers have; a larger one is not a real count. */
static inline void recording_limit(uint64_t *n)
{
	if (*n > INT64_MAX)
		*n = INT64_MAX;
}

/* Take such a chunk; one of an unknown session is counted.  0 or -ENOMEM. */
void recording_take_session(struct recording *rec, const struct trace_chunk *chunk,
			    const void *payload);
int recording_take_sites(struct recording *rec, const struct trace_chunk *chunk,
			 const void *payload);
int recording_take_names(struct recording *rec, const struct trace_chunk *chunk,
			 const void *payload);

#endif

/* SPDX-License-Identifier: MIT */
/* recording_private.h - what the files that read a recording have in common */
#ifndef QUOIT_TOOLS_TRACE_RECORDING_PRIVATE_H
#define QUOIT_TOOLS_TRACE_RECORDING_PRIVATE_H

#include "trace/recording.h"

/* No count of anything: JSON's readers have 63 bits. */
static inline void recording_limit(uint64_t *n)
{
	if (*n > INT64_MAX)
		*n = INT64_MAX;
}

/* What such a chunk says; one of a session that there is not is counted.  0 or -ENOMEM. */
void recording_take_session(struct recording *rec, const struct trace_chunk *chunk,
			    const void *payload);
int recording_take_sites(struct recording *rec, const struct trace_chunk *chunk,
			 const void *payload);

#endif

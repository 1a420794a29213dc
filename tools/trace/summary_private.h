/* SPDX-License-Identifier: MIT */
/* summary_private.h - what the files that make a summary have in common */
#ifndef QUOIT_TOOLS_TRACE_SUMMARY_PRIVATE_H
#define QUOIT_TOOLS_TRACE_SUMMARY_PRIVATE_H

#include "trace/summary.h"

/* The track, made where there was none; NULL: there are too many. */
struct summary_track *summary_track_of_ring(struct summary *s,
					    const struct recording_session *session, unsigned ring,
					    enum summary_track_kind kind);
struct summary_track *summary_track_of_place(struct summary *s, const struct recording_job *job);

/* One more from then until then, ns. */
void summary_add_density(const struct summary *s, struct summary_density *d, int64_t from,
			 int64_t to);

#endif

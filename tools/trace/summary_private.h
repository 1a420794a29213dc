/* SPDX-License-Identifier: MIT */
/* summary_private.h - functions that the files which make a summary share */
#ifndef QUOIT_TOOLS_TRACE_SUMMARY_PRIVATE_H
#define QUOIT_TOOLS_TRACE_SUMMARY_PRIVATE_H

#include "summary.h"

/* The ring's track, which is made if it does not exist; NULL: there are too many tracks. */
struct summary_track *summary_track_of_ring(struct summary *s,
					    const struct recording_session *session, unsigned ring,
					    enum summary_track_kind kind);
struct summary_track *summary_track_of_place(struct summary *s, const struct recording_job *job);

/* Add one item that lasted from `from` to its end, in ns. */
void summary_add_density(const struct summary *s, struct summary_density *d, int64_t from,
			 int64_t to);

/* ---- summary_named.c ---- */

void summary_take_named(struct summary *s, const struct recording_named *named);

#endif

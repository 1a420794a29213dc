/* SPDX-License-Identifier: MIT */
/* notes.h - look up when a client submitted and reaped, by its own notes */
#ifndef QUOIT_TOOLS_TRACE_NOTES_H
#define QUOIT_TOOLS_TRACE_NOTES_H

#include "recording.h"

struct note {
	int64_t at;
	uint32_t index; /* everything before this index is submitted, or reaped */
};

struct note_list {
	struct note *note;
	size_t count, room;
};

struct notes {
	unsigned sessions;
	/* By session and ring: its submits and its reaps. */
	struct note_list (*list)[QUOIT_MAX_RINGS][2];
	bool failed; /* out of memory */
};

/* Read all notes.  0, -ENOMEM or the reader's error; call notes_free in any case. */
int notes_load(struct notes *n, struct trace_reader *r, struct recording *rec);
void notes_free(struct notes *n);

/* When this job was submitted, and when its CQE was reaped; false: the client did not note it. */
bool notes_submit(const struct notes *n, const struct recording *rec,
		  const struct recording_job *job, int64_t *ret);
bool notes_reap(const struct notes *n, const struct recording *rec, const struct recording_job *job,
		int64_t *ret);

#endif

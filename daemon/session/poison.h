/* SPDX-License-Identifier: MIT */
/*
 * poison.h - bytes that a failed job should have written: jobs that read them fail with its error.
 */
#ifndef QUOITD_POISON_H
#define QUOITD_POISON_H

#include "session.h"

/* Does it read what a failed job should have written?  Fills job->error with the first cause. */
bool job_is_poisoned(const struct session *s, struct job *job);
bool view_is_poisoned(const struct session *s, const struct view *v, struct quoit_error *ret);

/* Update a buffer's poison after a write of this view, which succeeded or failed (res < 0). */
void view_written(struct session *s, const struct view *v, bool was_read, int32_t res,
		  const struct quoit_error *cause);

#endif

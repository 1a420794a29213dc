/* SPDX-License-Identifier: MIT */
/* call_entry.h - what a call hands to its function */
#ifndef QUOITD_CALL_ENTRY_H
#define QUOITD_CALL_ENTRY_H

#include "session/session.h"

/*
 * Fill in an entry for this job.  Of the tensors only those are written that the function takes:
 * each line costs its reader a miss.
 */
void call_entry_fill(const struct session *s, const struct job *job, struct quoit_call_entry *e);

#endif

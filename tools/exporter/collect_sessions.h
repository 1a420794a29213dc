/* SPDX-License-Identifier: MIT */
/* collect_sessions.h - write the metrics of single sessions; private to collect.c */
#ifndef QUOIT_TOOLS_EXPORTER_COLLECT_SESSIONS_H
#define QUOIT_TOOLS_EXPORTER_COLLECT_SESSIONS_H

#include "exposition.h"
#include "read/sessions.h"
#include "read/user_sums.h"

/*
 * Write the busiest sessions, at most `most`.  0 or -ENOMEM.  directory: where they were read.
 * known: sums that include this reading.
 */
int collect_sessions(struct exposition *e, const struct sessions *s, int directory,
		     const struct user_sums *known, unsigned most);

#endif

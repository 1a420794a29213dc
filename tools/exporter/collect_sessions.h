/* SPDX-License-Identifier: MIT */
/* collect_sessions.h - the metrics of sessions, one by one; private to collect.c */
#ifndef QUOIT_TOOLS_EXPORTER_COLLECT_SESSIONS_H
#define QUOIT_TOOLS_EXPORTER_COLLECT_SESSIONS_H

#include "exporter/exposition.h"
#include "sessions.h"
#include "user_sums.h"

/*
 * The busiest of them, `most` at most.  0 or -ENOMEM.  directory: where they were read.  known:
 * this reading is in it.
 */
int collect_sessions(struct exposition *e, const struct sessions *s, int directory,
		     const struct user_sums *known, unsigned most);

#endif

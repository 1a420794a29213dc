/* SPDX-License-Identifier: MIT */
/* collect_sessions.h - the metrics of sessions, one by one; private to collect.c */
#ifndef QUOIT_TOOLS_EXPORTER_COLLECT_SESSIONS_H
#define QUOIT_TOOLS_EXPORTER_COLLECT_SESSIONS_H

#include "exporter/exposition.h"
#include "sessions.h"

/* 0 or -ENOMEM.  directory: where they were read. */
int collect_sessions(struct exposition *e, const struct sessions *s, int directory);

#endif

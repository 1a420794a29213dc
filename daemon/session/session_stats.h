/* SPDX-License-Identifier: MIT */
/*
 * session_stats.h - a session's counter file.
 */
#ifndef QUOITD_SESSION_STATS_H
#define QUOITD_SESSION_STATS_H

#include "session.h"

/*
 * Make the session's file in the runtime directory, for its user and us to read; -errno: there
 * is none, or its user cannot read it.  The daemon works without.
 * Control thread, before the reactor has the session.
 */
int session_stats_open(struct session *s, int directory, uint32_t reactor, int32_t node);

/*
 * Copy the counters out, as of this TSC; running_ticks: in tiles of works that have not come
 * back; look: at its rings, too, which are still guarded (guard.h).  The session's reactor.
 */
void session_stats_publish(struct session *s, uint64_t now, uint64_t running_ticks, bool look);

/* Mark the session as over and remove the file.  Control thread, after the reactor. */
void session_stats_close(struct session *s, int directory);

#endif

/* SPDX-License-Identifier: MIT */
/* session_stats.h - a session's counter file. */
#ifndef QUOITD_SESSION_STATS_H
#define QUOITD_SESSION_STATS_H

#include "session/session.h"

/*
 * Make the session's file in the socket's directory.  -errno: there is no file; the daemon works
 * without.  Control thread, before the reactor has the session.
 */
int session_stats_open(struct session *s, int directory, uint32_t reactor, int32_t node);

/*
 * Copy the counters out, as of this TSC.  running_ticks: those of works that are not retired yet.
 * look: read the rings, too, which must be guarded (sigbus_guard.h).  The session's reactor.
 */
void session_stats_publish(struct session *s, uint64_t now, uint64_t running_ticks, bool look);

/* Mark the session as over and remove the file.  Control thread, after the reactor. */
void session_stats_close(struct session *s, int directory);

#endif

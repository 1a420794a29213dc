/* SPDX-License-Identifier: MIT */
/*
 * drain.h - the end of all sessions: what was fetched may end, for a time, and the rest is
 * cancelled.
 *
 * Each session is told to fetch nothing more.  It comes back, and its connection ends, when
 * its last job has ended.  At the deadline every job that is left has its CQE, -ECANCELED, and only
 * then do connections end.  CQEs are in memory that stays the client's.  Control thread only.
 */
#ifndef QUOITD_DRAIN_H
#define QUOITD_DRAIN_H

#include "connection.h"

/* The listener is closed: begin it. */
void drain_begin(struct control *c);

/* There are sessions with jobs, and time for them. */
bool drain_goes_on(const struct control *c);

/* The time is over: cancel what is left.  Connections end as reactors have done so. */
void drain_cut(struct control *c);

/* Clients whose session has ended, and who have not hung up, are ended: again until all are gone.
 */
void drain_end_closed(struct control *c);

/* A reactor's answer about a session: it is back (MAIL_DRAIN, before the session is given back), or
 * its jobs are cancelled (MAIL_CUT). */
void drain_answer(struct connection *c, const struct mail *m);

/* Say how it went. */
void drain_tell(const struct control *c);

#endif

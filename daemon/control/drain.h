/* SPDX-License-Identifier: MIT */
/*
 * drain.h - ends all sessions: jobs that were fetched may end until a deadline, then they are
 * cancelled.
 *
 * Each session is told to fetch nothing more.  When its last job has ended, it comes back and its
 * connection ends.  At the deadline every job that is left gets a CQE with -ECANCELED, and only
 * then do connections end.  The CQEs are in memory that the client keeps.  Control thread only.
 */
#ifndef QUOITD_DRAIN_H
#define QUOITD_DRAIN_H

#include "connection.h"

/* Begin the drain.  The listener is closed already. */
void drain_begin(struct control *c);

/* True: there are sessions with jobs, and time is left. */
bool drain_goes_on(const struct control *c);

/* The time is over: cancel all jobs.  Each connection ends when its reactor has done so. */
void drain_cut(struct control *c);

/* End clients that have not hung up after their session ended.  Call it until all are gone. */
void drain_end_closed(struct control *c);

/* Are all connections gone? */
bool drain_is_over(const struct control *c);

/* How many sessions are not back, if all of these have transfers of files under way; else 0. */
unsigned drain_count_hanging(const struct control *c);

/* Log a line about each of them: its transfers are left to the kernel. */
void drain_say_hanging(const struct control *c);

/*
 * Handle a reactor's answer about a session: it is back (MAIL_DRAIN; the session is given back
 * afterwards), or its jobs are cancelled (MAIL_CUT).
 */
void drain_answer(struct connection *c, const struct mail *m);

/* Log how the drain went. */
void drain_tell(const struct control *c);

#endif

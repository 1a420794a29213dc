/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - lets connections record sessions, and keeps the files that this makes.
 *
 * A connection that records is not a client: it has no session, and when it ends, so does what it
 * records.  One recorder at a time can record a session.  Control thread only.
 *
 *	LENT ──the recorder leaves──► ASKED BACK ──reactor's answer, or session's end──► GOING
 *	  └──the session ends──► ENDED ──the recorder leaves──► GOING ──its turn──► gone
 */
#ifndef QUOITD_RECORDER_H
#define QUOITD_RECORDER_H

#include "connection.h"
#include "counters.h"

/*
 * The most bytes that the traces of one user's recorders may take; those of any one other user's
 * sessions may take a quarter of it.
 */
#define RECORDER_UID_BYTES (UINT64_C(32) << 20)

/* A recorder keeps the files of so many ended sessions of each user; then the oldest file goes. */
#define RECORDER_ENDED 16u

/* QUOIT_CTL_TRACE: refuse it, or begin. */
void recorder_request(struct connection *c, const struct quoit_ctl *m);

/*
 * Files for recorders of all sessions are made and removed one at a time, since a large one takes
 * milliseconds and the control thread has other work, too.  After a look for sessions, the
 * recorders of that user rest (rests.h).
 *
 * recorder_timeout_ms: milliseconds until the next file is due; -1: none is.  recorder_advance:
 * make or remove the next file if it is due, and answer a recorder that has all it can have.
 */
int recorder_timeout_ms(struct control *c);
void recorder_advance(struct control *c);

/* A session is about to go to its reactor: lend it a trace if a recorder wants it. */
void recorder_meet(struct control *c, struct session *s);

/* A session has come back from its reactor, with its trace. */
void recorder_session_ended(struct control *c, const struct session *s);

/* A reactor has let go of the trace with this number. */
void recorder_answer(struct control *c, uint32_t id);

/*
 * The traces of a user's own sessions, whoever records them: list their sessions, or find a
 * session's file, a read-only descriptor that stays the trace's; -1: there is none.
 */
void recorder_list(const struct control *c, uid_t uid, struct counters_list *list);
int recorder_trace_fd(const struct control *c, uid_t uid, uint64_t session);

/* A connection that records has ended. */
void recorder_leave(struct connection *c);

/* quoitd ends: remove the files that are left. */
void recorder_done(struct control *c);

#endif

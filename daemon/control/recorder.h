/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - who records which sessions, and the files that this makes.
 *
 * A connection that asks to record is no client: it has no session, and its end is the end of what
 * it records.  A session is recorded by one at a time.  Control thread only.
 *
 *	LENT ──the recorder leaves──► ASKED BACK ──reactor's answer, or session's end──► GOING
 *	  └──the session ends──► ENDED ──the recorder leaves──► GOING ──its turn──► gone
 */
#ifndef QUOITD_RECORDER_H
#define QUOITD_RECORDER_H

#include "connection.h"

/*
 * What the traces of a user's recorders may take, a quarter of it those of one other user's
 * sessions.
 */
#define RECORDER_UID_BYTES (UINT64_C(32) << 20)

/* So many sessions of a user that have ended leave their files to a recorder; the oldest goes. */
#define RECORDER_ENDED 16u

/* QUOIT_CTL_TRACE: refuse it, or begin. */
void recorder_request(struct connection *c, const struct quoit_ctl *m);

/*
 * Files are made for who records all, and removed, one at a time: a large one takes milliseconds,
 * and others want something of us, too.  The user of a recorder that looks for sessions rests
 * between two looks (rests.h).  How long until there is one, -1: there is none.  The next, if there
 * is one now; whoever has all that it can have is answered.
 */
int recorder_timeout_ms(struct control *c);
void recorder_advance(struct control *c);

/* A session is about to be given to its reactor: lend it a trace if somebody records all. */
void recorder_meet(struct control *c, struct session *s);

/* A session has come back from its reactor, with its trace. */
void recorder_session_ended(struct control *c, const struct session *s);

/* A reactor has let go of the trace with this number. */
void recorder_answer(struct control *c, uint32_t id);

/* A connection that records has ended. */
void recorder_leave(struct connection *c);

/* At the end of all: files of recorders that are still there. */
void recorder_done(struct control *c);

#endif

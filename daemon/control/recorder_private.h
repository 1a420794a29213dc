/* SPDX-License-Identifier: MIT */
/*
 * recorder_private.h - declares what the files behind recorder.h share: recorder.c (connections
 * that record) and recorder_traces.c (the traces that are lent for them).  Control thread only.
 */
#ifndef QUOITD_RECORDER_PRIVATE_H
#define QUOITD_RECORDER_PRIVATE_H

#include "observe/trace.h"
#include "recorder.h"

enum lent_state {
	LENT,
	ASKED_BACK, /* its recorder has left, but its reactor still has it */
	ENDED,      /* its session has gone, its recorder has not */
	GOING,      /* recorder and reactor have gone: its file is to be removed */
};

/* A trace, its state, and its recorder. */
struct lent {
	struct lent *next;
	struct connection *recorder; /* ASKED_BACK, GOING: NULL */
	struct trace *trace;
	enum lent_state state;
};

/* ---- recorder_traces.c ---- */

/*
 * Make a trace of the session, and note it as lent; the recorder's user pays for it.  0, or -errno:
 * -EDQUOT, that user may not have so much.
 */
int recorder_make_trace(struct connection *recorder, struct session *s, struct trace **ret);

/* The link to a trace that is GOING; it points to NULL if there is none. */
struct lent **recorder_find_going(struct control *c);

/* Free this trace, remove its file, and give its bytes back. */
void recorder_remove_trace(struct control *c, struct lent **link);

#endif

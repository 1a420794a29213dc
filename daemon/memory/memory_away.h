/* SPDX-License-Identifier: MIT */
/*
 * memory_away.h - pages of a session's arena that lie on another node than its memory should.
 *
 * A client can bind its arena to any node, and have its pages migrated there.  Its jobs are none
 * the worse for it but slower, and the time that they take is the user's own.  So that it does not
 * go unseen, the memory thread looks at a part of the arena now and then, counts what lies
 * elsewhere and has the kernel bring it back, which it does with pages that only we have mapped:
 * for the others it would have to be asked by who may move everybody's (CAP_SYS_NICE).
 */
#ifndef QUOITD_MEMORY_AWAY_H
#define QUOITD_MEMORY_AWAY_H

#include "memory_pages.h"
#include "session/session.h"

/* On the reactor, once a second or so: have the next part looked at, if there is another node. */
void memory_away_ask(struct session *s);

/* On the reactor: what was found. */
void memory_away_answer(struct session *s, const struct memory_message *m);

/* On the memory thread: the next part of the request; true: that was all. */
bool memory_away_part(struct memory_work *w);

#endif

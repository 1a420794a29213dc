/* SPDX-License-Identifier: MIT */
/*
 * lease.h - leases that grow: a session that asks for no lease is promised little, and gets more.
 *
 * A session that asks for a lease at HELLO is promised all of it, and its lease never changes.  A
 * session that asks for none (hello_limits.c) is promised a part.  The theorem of memory.h holds
 * for that part, whatever other sessions do.  Beyond it:
 *
 * - A job at the head of the queue that does not fit asks for more.  Up to `soft` it asks at once,
 *   so that a queue need not wait for its own jobs.  Beyond `soft` it asks only once everything
 *   before it has ended and it still does not fit.
 * - The control thread charges the bytes to the session's user, as at HELLO, or refuses.
 * - A session that is refused waits only for older jobs of its own to give bytes back.  If there
 *   are none left, it asks once more, and gets -ENOMEM.  So no session waits for another, none
 *   holds what others wait for, and there is no deadlock.
 * - For REFUSED_NS after a refusal, requests for more than was left are refused without a letter,
 *   and for NO_TABLES_NS requests for larger tables.  Otherwise a session could keep the control
 *   thread busy with letters.
 * - Bytes that have not been used for a while go back, down to the promise.
 *
 * The same holds for entries of the tables (tables_grow): a part is promised, and more is asked
 * for.  A CREATE or VIEW that finds no entry while no job of the session is left is refused.
 * Entries do not go back, since their pages do not.
 *
 * Owned by the session's reactor.
 */
#ifndef QUOITD_LEASE_H
#define QUOITD_LEASE_H

#include "session/session.h"

struct mail;

/* What a MAIL_LEASE letter is about (mail.a). */
enum lease_letter {
	LEASE_MORE,   /* wants `bytes` more, or at least `least`; answered */
	LEASE_LESS,   /* gives `bytes` back; not answered */
	LEASE_TABLES, /* wants `b` parts of the tables in all; answered */
};

/*
 * Ask for so many bytes that the head of the queue lacks.  last: no job of its own session will
 * free any.  True: they may come; call memory_advance after the answer.  False: they will not.
 */
bool lease_ask(struct session *s, uint64_t lack, bool last);

/*
 * Ask for larger tables: one has no free entry.  True: one may be free later, after the answer or
 * when jobs have ended.  False: none will be.
 */
bool lease_ask_tables(struct session *s);

/* Take the control thread's answer; then jobs that wait may go on. */
void lease_answer(struct session *s, const struct mail *m);

/* The arena has grown to so many bytes; the new ones are charged on top of all else. */
void lease_arena(struct session *s, uint64_t bytes);

/* Give bytes back, once a second or so.  peak: the most that was used since the last call. */
void lease_trim(struct session *s, uint64_t peak);

#endif

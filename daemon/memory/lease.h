/* SPDX-License-Identifier: MIT */
/*
 * lease.h - leases that grow: a session that asks for no lease is promised little, and gets more.
 *
 * Who asks for a lease at hello is promised all of it, and it stays as large as it is.  Of who asks
 * for none (hello.c) a part is promised, and stays promised: what the theorem of memory.h says
 * holds for that part, whatever others do.  Beyond it:
 *
 *   - a job at the head of the queue that does not fit asks for more: up to `soft` at once, so that
 *     a queue need not wait for its own jobs; beyond that only once everything before it has ended
 *     and it still does not fit;
 *   - the control thread charges what is asked for to the session's user, as at hello, or refuses;
 *   - who is refused waits for older jobs of its own session to give bytes back, and for nothing
 *     else; if there is none left, it asks once more, and gets -ENOMEM.  So no session waits for
 *     another one, and none holds what others wait for: there is no deadlock;
 *   - for REFUSED_NS after a refusal, all who ask for more than was left are refused without a
 *     letter, and for NO_TABLES_NS all who ask for larger tables: else a session could keep the
 *     control thread busy with letters;
 *   - what has not been used for a while goes back, down to the promise.
 *
 * It is the same with entries of the tables (tables_grow): a part is promised, more is asked for,
 * and a CREATE or VIEW that finds none when no job of the session is left is refused.  They do not
 * go back, since their pages do not.
 *
 * Owned by the session's reactor.
 */
#ifndef QUOITD_LEASE_H
#define QUOITD_LEASE_H

#include "session/session.h"

struct mail;

/* What MAIL_LEASE says (mail.a). */
enum lease_letter {
	LEASE_MORE,   /* bytes of the lease, as few and as many as it says; answered */
	LEASE_LESS,   /* they are given back; not answered */
	LEASE_TABLES, /* `parts` of the tables in all; answered */
};

/*
 * The head of the queue lacks so many bytes of the lease.  last: nothing of its own session will
 * free any.  True: they may come, memory_advance is to be called after the answer; false: they
 * do not.
 */
bool lease_ask(struct session *s, uint64_t lack, bool last);

/*
 * Some table has no free entry.  True: one may be free later, after the answer or when jobs have
 * ended; false: none will be.
 */
bool lease_ask_tables(struct session *s);

/* An answer of the control thread; what waits may go on. */
void lease_answer(struct session *s, const struct mail *m);

/* The arena has so many bytes now, more than before, which are charged beside all else. */
void lease_arena(struct session *s, uint64_t bytes);

/* Once a second or so, with the most that was used since the last time. */
void lease_trim(struct session *s, uint64_t peak);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * hostile.pml - the daemon against a client that stores anything, at any time,
 * into every word that it can write: SQ tail, SQEs, CQ head.
 *
 * Such a client needs no process: every load of one of its words may give any
 * value.  Indices have three bits, so that all lies about a ring of N slots are
 * among eight values; of the SQEs, 0 and 1 are good and 2 is not.
 *
 * Mistakes, each of which must be found:
 *   NO_RANGE_CHECK  the SQ tail is believed
 *   NO_HEAD_CHECK   the CQ head is believed
 *   REREAD_TAIL     the tail is loaded again inside the batch
 *   DOUBLE_FETCH    the slot is checked, then loaded again and used
 *   NO_CREDIT       a job is fetched without room for its completion
 */
#define N                  2
#define DISTANCE(to, from) (((to) - (from)) & 7)
#define VALID(sqe)         ((sqe) < 2)

#define load_index(ret) select(ret : 0..7)
#define load_sqe(ret)   select(ret : 0..2)

/* The daemon's private words. */
byte head, tail;    /* of the SQ, of the CQ */
byte seen_head;     /* the last CQ head that was believed */
byte in_flight;
bool killed;

#define UNREAD DISTANCE(tail, seen_head)

#ifdef NO_CREDIT
#define CREDIT true
#else
#define CREDIT (in_flight + UNREAD < N)
#endif

/* The CQ head must lie between the last one seen and our tail. */
inline look_at_cq()
{
	load_index(value);
	if
#ifndef NO_HEAD_CHECK
	:: DISTANCE(value, seen_head) > UNREAD -> killed = true
#endif
	:: else -> seen_head = value
	fi
}

inline look_at_sq()
{
	load_index(value);
	n = DISTANCE(value, head);
	if
#ifndef NO_RANGE_CHECK
	:: n > N -> killed = true; n = 0
#endif
	:: else
	fi;
	assert(n <= N)
}

inline fetch_one()
{
	load_sqe(value);
	if
	:: VALID(value) ->
#ifdef DOUBLE_FETCH
		load_sqe(value);
#endif
		assert(VALID(value))
	:: else /* complete it with an error, which takes a credit, too */
	fi;
	head = (head + 1) & 7;
	in_flight++;
	taken++;
	n--;
	assert(taken <= N) /* bounded work per poll */
}

inline fetch()
{
	taken = 0;
	look_at_sq();
	do
	:: n && CREDIT ->
		fetch_one();
#ifdef REREAD_TAIL
		look_at_sq()
#endif
	:: n && CREDIT && in_flight -> post() /* a short job runs at once */
	:: n && CREDIT -> look_at_cq()
	:: !n || !CREDIT -> break
	od;
	n = 0;
	taken = 0
}

inline post()
{
	assert(UNREAD < N); /* a credit was taken, so there is room */
	tail = (tail + 1) & 7;
	in_flight--
}

active proctype daemon()
{
	byte value, n, taken;

	do
	:: killed -> break
	:: !killed -> look_at_cq()
	:: !killed -> fetch()
	:: !killed && in_flight -> post()
	:: assert(killed || in_flight + UNREAD <= N)
	od
}

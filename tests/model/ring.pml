/* SPDX-License-Identifier: MIT */
/*
 * ring.pml - a client and the daemon over both rings, with sleep and wake.
 *
 * The client submits ITEMS jobs and reaps their completions; each ring has N
 * slots and its indices wrap half-way.  The daemon sleeps on a doorbell, a socket
 * that holds one byte; the client on the CQ tail, a futex.  A lost wake-up is a
 * client that is stuck: an invalid end state.
 *
 * Mistakes, each of which must be found:
 *   NO_FENCE_CLIENT     SQ tail stored, need_wake loaded, nothing between them
 *   NO_FENCE_DAEMON     need_wake stored, SQ tail loaded, nothing between them
 *   NO_RECHECK          the daemon sleeps without a look after raising the flag
 *   CLEAR_BEFORE_DRAIN  the doorbell of the last wake is drained before the next sleep
 *   PUBLISH_FIRST       the SQ tail is stored before the slot
 *   RELEASE_FIRST       the SQ head is stored before the slots are copied
 *   NO_FENCE_POST       CQ tail stored, cq_wait loaded, nothing between them
 *   NO_FENCE_WAIT       cq_wait stored, CQ tail loaded, nothing between them
 *   NO_COMPARE          the client sleeps without comparing the CQ tail
 *   RUNG_ONCE_FOR_ALL   the bell is not rung again although what it was rung for has been fetched
 *   STARVED_SLEEP       the daemon sleeps while jobs wait for a credit
 *   STARVED_SLEEP + REAP_KICK + NO_FENCE_REAP
 *                       as below, nothing between CQ head stored, need_wake loaded
 * and variants that are correct:
 *   ARM                 the client waits for a byte on its socket, not on the CQ tail;
 *                       CQ_WAIT is its arm flag then
 *   CLEAR_FIRST         flag down, then the doorbell drained, then the tails read
 *   STARVED_SLEEP + REAP_KICK
 *                       a client that reaps looks at need_wake as one that submits does
 */
#define N     2
#define ITEMS 4
#define FIRST 254
#define LAST  2 /* FIRST + ITEMS, wrapped */

#define SQ_TAIL   0
#define SQ_HEAD   1
#define CQ_TAIL   2
#define CQ_HEAD   3
#define NEED_WAKE 4
#define CQ_WAIT   5
#define SQE(i)    (6 + (i) % N)
#define CQE(i)    (8 + (i) % N)
#define WORDS     10

#include "tso.pml"

#define CLIENT 0
#define DAEMON 1

chan doorbell = [1] of { bit };
chan readable = [1] of { bit }; /* the client's end of the same socket */
bool asleep;                    /* the client, in futex(2) */

/* send(MSG_DONTWAIT): a full socket is success, the daemon has yet to read it. */
inline send_byte()
{
	if
	:: atomic { nfull(doorbell) -> doorbell!1 }
	:: full(doorbell)
	fi
}

/* Once for each sleep: not again while a job that it was rung for has not been fetched. */
inline kick()
{
	if
	:: mem[NEED_WAKE] ->
		if
#ifdef RUNG_ONCE_FOR_ALL
		:: rung
#else
		:: rung && DISTANCE(tail, mem[SQ_HEAD]) > DISTANCE(tail, rung_for)
#endif
		:: else -> send_byte(); rung = true; rung_for = tail
		fi
	:: else -> rung = false
	fi
}

/* A client that reaps has submitted nothing, so the head does not tell whether it rang. */
inline kick_always()
{
	if
	:: mem[NEED_WAKE] -> send_byte()
	:: else
	fi
}

inline submit()
{
#ifdef PUBLISH_FIRST
	store(CLIENT, SQ_TAIL, DISTANCE(tail + 1, 0));
	store(CLIENT, SQE(tail), tail);
#else
	store(CLIENT, SQE(tail), tail);
	store(CLIENT, SQ_TAIL, DISTANCE(tail + 1, 0));
#endif
	tail++;
#ifndef NO_FENCE_CLIENT
	drain(CLIENT);
#endif
#ifdef REAP_KICK
	kick_always()
#else
	kick()
#endif
}

inline reap()
{
	assert(mem[CQE(head)] == head);
	head++;
	store(CLIENT, CQ_HEAD, head);
#ifdef REAP_KICK
#ifndef NO_FENCE_REAP
	drain(CLIENT);
#endif
	kick_always()
#endif
}

inline sleep_on_tail()
{
#if defined(ARM)
	readable?_
#elif defined(NO_COMPARE)
	asleep = true;
	!asleep
#else
	atomic {
		if
		:: mem[CQ_TAIL] == head -> asleep = true
		:: else
		fi
	}
	!asleep
#endif
}

inline wake_client()
{
#ifdef ARM
	if
	:: atomic { nfull(readable) -> readable!1 }
	:: full(readable)
	fi
#else
	asleep = false
#endif
}

inline wait_on_tail()
{
	store(CLIENT, CQ_WAIT, 1);
#ifndef NO_FENCE_WAIT
	drain(CLIENT);
#endif
	if
	:: mem[CQ_TAIL] == head -> sleep_on_tail()
	:: else
	fi;
	store(CLIENT, CQ_WAIT, 0)
}

proctype client()
{
	byte tail = FIRST, head = FIRST, rung_for;
	bool stuck, rung;

	do
	:: head == LAST -> break
	:: else ->
		if
		:: tail != LAST && DISTANCE(tail, mem[SQ_HEAD]) < N -> submit(); stuck = false
		:: else -> stuck = true
		fi;
		if
		:: mem[CQ_TAIL] != head -> reap()
		:: else ->
			if
			:: stuck -> wait_on_tail()
			:: else
			fi
		fi
	od
}

/* Copy the jobs for which there are credits, give their slots back, and complete them. */
inline serve()
{
	i = 0;
#ifdef RELEASE_FIRST
	store(DAEMON, SQ_HEAD, DISTANCE(head + n, 0));
#endif
	do
	:: i < n -> job[i] = mem[SQE(head)]; assert(job[i] == head); head++; i++
	:: else -> break
	od;
#ifndef RELEASE_FIRST
	store(DAEMON, SQ_HEAD, head);
#endif
	i = 0;
	do
	:: i < n -> store(DAEMON, CQE(tail), job[i]); job[i] = 0; tail++; i++
	:: else -> break
	od;
	store(DAEMON, CQ_TAIL, tail);
#ifndef NO_FENCE_POST
	drain(DAEMON);
#endif
	if
	:: mem[CQ_WAIT] -> wake_client()
	:: else
	fi
}

/* The daemon looks at this again when the flag is up. */
#if defined(NO_RECHECK)
#define WORK false
#elif defined(STARVED_SLEEP)
#define WORK mem[SQ_TAIL] != head && DISTANCE(tail, mem[CQ_HEAD]) < N
#else
#define WORK mem[SQ_TAIL] != head
#endif

inline sleep()
{
	store(DAEMON, NEED_WAKE, 1);
#ifndef NO_FENCE_DAEMON
	drain(DAEMON);
#endif
	if
	:: WORK
	:: else ->
#ifdef CLEAR_BEFORE_DRAIN
		if
		:: atomic { nempty(doorbell) -> doorbell?_ }
		:: empty(doorbell)
		fi;
#endif
end_asleep:	nempty(doorbell);
#ifdef CLEAR_FIRST
		store(DAEMON, NEED_WAKE, 0);
#endif
#ifndef CLEAR_BEFORE_DRAIN
		doorbell?_
#endif
	fi;
#ifndef CLEAR_FIRST
	store(DAEMON, NEED_WAKE, 0)
#endif
}

proctype daemon()
{
	byte head = FIRST, tail = FIRST, job[N], n, i, credits;

	do
	:: n = DISTANCE(mem[SQ_TAIL], head);
	   credits = N - DISTANCE(tail, mem[CQ_HEAD]);
	   assert(n <= N && credits <= N);
	   if
	   :: n && credits ->
		n = (n < credits -> n : credits);
		serve()
#ifdef STARVED_SLEEP
	   :: !n || !credits -> sleep()
#else
	   :: n && !credits /* look again, since the client's reaping rings no bell */
	   :: !n -> sleep()
#endif
	   fi
	od
}

init {
	atomic {
		mem[SQ_TAIL] = FIRST;
		mem[SQ_HEAD] = FIRST;
		mem[CQ_TAIL] = FIRST;
		mem[CQ_HEAD] = FIRST;
		run client();
		run daemon()
	}
}

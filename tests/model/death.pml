/* SPDX-License-Identifier: MIT */
/*
 * death.pml - the producer dies between any two of its steps.
 *
 * What it stored before is in its store buffer and still gets to memory, in
 * order; what it did not store never will.  The consumer must see a prefix of
 * what was produced, every item whole, and nothing to repair.  Items have two
 * words, so that a torn one shows, and are published two per flush.
 *
 * Mistakes, each of which must be found:
 *   PUBLISH_FIRST  the tail is stored before the slots
 *   FILL_LAST      the tail is stored before the last word of the last slot
 */
#define N     2
#define ITEMS 4
#define FIRST 254

#define TAIL       0
#define HEAD       1
#define WORD(i, w) (2 + 2 * ((i) % N) + (w))
#define WORDS      6

#include "tso.pml"

#define PRODUCER 0
#define CONSUMER 1

bool dead;

inline publish()
{
	store(PRODUCER, TAIL, DISTANCE(tail + N, 0))
}

inline fill()
{
	store(PRODUCER, WORD(i, 0), i);
#ifdef FILL_LAST
	if
	:: i == DISTANCE(tail + N - 1, 0) -> publish()
	:: else
	fi;
#endif
	store(PRODUCER, WORD(i, 1), i)
}

/* Any step may be the last: `unless` leaves as soon as the process is dead. */
proctype producer()
{
	byte tail = FIRST, i;

	{
		do
		:: DISTANCE(tail, FIRST) == ITEMS -> break
		:: else ->
			mem[HEAD] == tail; /* both slots are free */
#ifdef PUBLISH_FIRST
			publish();
#endif
			i = tail;
			do
			:: i != DISTANCE(tail + N, 0) -> fill(); i++
			:: else -> break
			od;
#if !defined(PUBLISH_FIRST) && !defined(FILL_LAST)
			publish();
#endif
			tail = tail + N
		od
	} unless {
		dead
	}
}

proctype killer()
{
	dead = true
}

proctype consumer()
{
	byte head = FIRST, n;

end:	do
	:: n = DISTANCE(mem[TAIL], head);
	   assert(n <= N);
	   do
	   :: n ->
		assert(mem[WORD(head, 0)] == head);
		assert(mem[WORD(head, 1)] == head);
		head++;
		n--
	   :: else -> break
	   od;
	   store(CONSUMER, HEAD, head);
	   if
	   :: dead && empty(buffer[PRODUCER]) && mem[TAIL] == head -> break
	   :: else
	   fi
	od
}

init {
	atomic {
		mem[TAIL] = FIRST;
		mem[HEAD] = FIRST;
		run producer();
		run consumer();
		run killer()
	}
}

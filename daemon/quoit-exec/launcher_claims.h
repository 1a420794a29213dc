/* SPDX-License-Identifier: MIT */
/* launcher_claims.h - the stream time that users have used */
#ifndef QUOIT_EXEC_LAUNCHER_CLAIMS_H
#define QUOIT_EXEC_LAUNCHER_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "fair/ledger.h"
#include "launcher_queue.h"

struct flight;
struct launcher;
struct stream;

/* A user's holdings that have flights held, linked by next, and the stream time it has used. */
struct claim {
	struct ledger_page page;
	int64_t usual;           /* ticks that one flight has taken of a stream, of late */
	struct queue turns;      /* holdings that may still start a flight in this pass */
	struct queue stuck;      /* holdings that may not, and come first in the next one */
	struct queue progressed; /* holdings that started one, and come after those */
	bool waits;              /* it is among the users with turns */
	uint32_t next;           /* the next one of them */
};

/* A flight has come: note its user and share. */
void claim_take(struct launcher *l, struct flight *f);

/* _start: it goes into its stream.  _end: it is answered, whether it was in a stream or not. */
void claim_start(struct launcher *l, struct flight *f);
void claim_end(struct launcher *l, const struct flight *f);

/* The first flight of a stream waits for another stream: that time counts for no user. */
void claim_waits(struct stream *s);

/*
 * `count` flights were answered, from `index` on by their links.  Together they were at the head of
 * their stream since the last ones were, or since they came there, or could begin.
 */
void claim_passed(struct launcher *l, struct stream *s, uint32_t index, uint32_t count);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * syncing.h - locks, flags, semaphores, barriers, queues and keyspaces by hand.
 *
 * All follow the protocol as far as a case lets them; a case sends what breaks it.
 */
#ifndef TORTURE_SYNCING_H
#define TORTURE_SYNCING_H

#include "stage.h"

#define SYNC_PATIENCE_MS 20000
#define SYNC_ENTRIES     128u /* of a party's SQ */
#define SYNC_TENSOR      1u   /* a party's tensor, in its arena */
#define SYNC_FRESH       2u   /* the first one that a case makes itself */

/* What a SYNC says. */
struct sync_words {
	char name[QUOIT_NAME_BYTES];
	uint32_t uid; /* 0: the client's own; root's: SYNC_UID_ROOT */
	uint16_t kind, flags;
	uint32_t mode, gid;
	uint64_t value, most;
};
#define SYNC_UID_ROOT (UINT32_MAX - 1)

/* SYNC, with any words: 0 or quoitd's error. */
int sync_ask(struct raw_client *c, const struct sync_words *w, uint32_t *ret);

/* The same words with another kind, or with other flags. */
struct sync_words sync_thing(const char *name, enum quoit_sync_kind kind, uint64_t value);
struct sync_words sync_flagged(struct sync_words w, uint16_t flags);

/* What the bad user has of memory, and may have.  False: noted. */
bool sync_see_budget(struct stage *s, uint64_t *used, uint64_t *limit);

/* Wait until it has so much: things give it back when their homes have let go of them. */
void sync_await_budget(struct stage *s, uint64_t expected);

/* ---- parties ---- */

/* A session that has a thing open. */
struct sync_party {
	struct raw_client c;
	uint32_t number;
};

/* Open a new session and the thing.  False: noted. */
bool sync_open(struct stage *s, struct sync_party *p, struct sync_words w);
bool sync_open_wide(struct stage *s, struct sync_party *p, struct sync_words w, uint32_t entries);

/* The same once nothing has the name any more, so that it is a new thing. */
bool sync_open_new(struct stage *s, struct sync_party *p, struct sync_words w);

/*
 * A job of the thing: `n` is the condition of a lock's, how many of a semaphore's, the tensor of a
 * queue's, or the revision of a keyspace's, whose key and value are the party's tensor; what it gets
 * goes to SYNC_FRESH.
 */
struct quoit_sqe sync_job(const struct sync_party *p, enum quoit_sync_op op, uint64_t n);
struct quoit_sqe sync_notify(const struct sync_party *p, uint8_t condition, uint64_t n);

/* Submit it; take the next result that comes, or raw_reap's error; both, of the only job. */
void sync_put(struct stage *s, struct sync_party *p, struct quoit_sqe sqe);
int32_t sync_result(struct sync_party *p);
int32_t sync_run(struct sync_party *p, enum quoit_sync_op op, uint64_t n);

/* Begin a job that has to wait, and wait until `waiting` jobs of all sessions do. */
void sync_begin(struct stage *s, struct sync_party *p, enum quoit_sync_op op, uint64_t n,
		uint32_t waiting);
void sync_await_waiting(struct stage *s, struct sync_party *p, uint32_t waiting);

/* Leave politely. */
void sync_leave(struct stage *s, struct sync_party *p);
void sync_leave_two(struct stage *s, struct sync_party *a, struct sync_party *b);

/* Whatever happened before: new sessions make new things, which work. */
void sync_afresh(struct stage *s);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * keyspace.h - a keyspace (objects.h): its keys (store/key_table.h), and the calls that wait for a
 * change of some.
 *
 * A call that waits lies in a bucket, chosen by a hash of its key or prefix.  A change wakes the
 * buckets of its key and of each prefix of it that is waited for; all calls there are looked at,
 * some in each pass of the home's reactor (backend/service/key_watch.h).
 */
#ifndef QUOITD_KEYSPACE_H
#define QUOITD_KEYSPACE_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/abi.h>

#include "services.h"
#include "store/key_table.h"

#define KEY_BUCKETS 1024u

struct key_bucket {
	struct call_queue calls;
	uint32_t count;          /* of them */
	uint32_t to_look;        /* of its oldest calls, so many are to be looked at */
	bool is_woken;           /* it is in the keyspace's list of those: */
	struct key_bucket *next; /* the next one there */
};

/* The home's, but for `read_only`, which never changes. */
struct keyspace {
	struct key_table table;
	bool read_only;  /* for other users */
	uint64_t secret; /* so that nobody can choose keys that share a bucket */
	uint32_t prefix_waits[QUOIT_KEY_BYTES]; /* calls that wait for a prefix of so many bytes */
	struct key_bucket bucket[KEY_BUCKETS];
	struct key_bucket *woken, *last_woken;
	struct keyspace *next_woken; /* in the reactor's list of those with woken buckets */
	bool is_woken;               /* it is in that list */
};

/* Bytes of cells, whole ones, for as many keys; what both take of a budget. */
uint64_t keyspace_cost(uint32_t keys, uint64_t bytes);

/* NULL: there is no memory. */
struct keyspace *keyspace_new(uint32_t keys, uint64_t bytes, bool read_only);
void keyspace_free(struct keyspace *k);

/* ---- what calls bring and get ---- */

/* A value under way: calls that have one share a few places for them. */
struct key_value {
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_key_state state; /* the job's first output, */
	/* and the second one behind it */
	QUOIT_ALIGNED(QUOIT_LINE) uint8_t bytes[QUOIT_VALUE_BYTES];
};

#define KEY_VALUES 4u /* of one caller, at a time */

/* Of one call. */
struct key_words {
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_key_state state; /* if it has no value */
	QUOIT_ALIGNED(QUOIT_LINE) char key[QUOIT_KEY_BYTES];
	char after[QUOIT_KEY_BYTES];
	uint32_t key_bytes, after_bytes; /* of the tensors with these */
	uint32_t value_bytes;            /* of the tensor with the value */
	bool is_lost;                    /* the client's memory went while it was read */
	struct key_value *value;         /* NULL: none */
	struct key_bucket *bucket;       /* the home's: where it waits */
};

/* Of one caller of a keyspace; its reactor's, and of a call that is under way the home's. */
struct key_caller {
	uint32_t free_values; /* bit i: value[i] is free */
	struct key_words words[CALLER_CALLS];
	struct key_value value[KEY_VALUES];
};

/* Bytes of a budget; NULL: there is no memory. */
uint64_t key_caller_cost(void);
struct key_caller *key_caller_new(void);
void key_caller_free(struct key_caller *k);

#endif

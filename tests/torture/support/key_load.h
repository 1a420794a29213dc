/* SPDX-License-Identifier: MIT */
/*
 * key_load.h - processes that change the same few keys of a keyspace, and note in memory that they
 * share when each call began and ended, and what it said
 */
#ifndef TORTURE_KEY_LOAD_H
#define TORTURE_KEY_LOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <quoit.h>

#define KEY_WORKERS 5u
#define KEY_KEYS    6u
#define KEY_EVENTS  (1u << 18) /* of one worker, over all processes that it has been */
#define KEY_NAME    "keys"
#define KEY_LONG_MS 2000 /* a change is told long before */

enum key_op { KEY_PUT, KEY_DELETE, KEY_GET, KEY_WATCH };

/* A call. */
struct key_event {
	uint8_t op;         /* enum key_op */
	uint8_t key;        /* which one */
	int32_t result;     /* 0 or -errno */
	int32_t timeout_ms; /* of a WATCH */
	uint64_t expected;  /* a revision, QUOIT_ANY_REVISION; WATCH: since */
	uint64_t
		revision; /* PUT, DELETE: the new one; GET, WATCH: that of the key; refused: found */
	uint64_t now;     /* GET, WATCH: the keyspace's; else 0 */
	uint64_t value;   /* which one was put or got; 0: none */
	uint64_t began, ended; /* nanoseconds; ended 0: its process was killed meanwhile */
};

/* All processes share it. */
struct key_load {
	const char *socket;
	uint32_t longest; /* bytes of a value, at most */
	bool may_die;     /* workers are killed */
	atomic_bool stop;
	struct {
		_Atomic uint32_t events;
		char wrong[200]; /* "": nothing is */
	} hand[KEY_WORKERS];
	struct key_event event[KEY_WORKERS][KEY_EVENTS];
};

/* NULL: there is no memory.  key_load_free frees it. */
struct key_load *key_load_new(const char *socket, uint32_t longest, bool may_die);
void key_load_free(struct key_load *l);

/* Start one in a process of its own.  It exits with 0 once it is told to stop. */
pid_t key_load_start(struct key_load *l, unsigned i);

/* Calls that have ended. */
uint64_t key_load_ended(const struct key_load *l);

/*
 * When all have exited: is there one order of all calls, in which each is between its beginning and its
 * end, and says what is true there?  NULL: there is; else what is wrong.  Of each worker that was killed
 * one change at most is not known, `deaths` together.
 */
const char *key_load_check(const struct key_load *l, unsigned deaths);

#endif

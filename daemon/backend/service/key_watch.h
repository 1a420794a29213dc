/* SPDX-License-Identifier: MIT */
/*
 * key_watch.h - calls that wait for a change of a key, or of one that begins like this.
 *
 * A call says which revision it has seen, and is answered if there is a newer change; else it waits.
 * So a session that is not waiting just now misses no change, and nothing is kept for it.  A change
 * wakes a bucket of calls.  The home looks at these in the order in which they came, a few in each
 * pass, since thousands may wait for one key.
 */
#ifndef QUOITD_KEY_WATCH_H
#define QUOITD_KEY_WATCH_H

#include "session/keyspace.h"
#include "session/objects.h"
#include "session/owner.h"

/* A call has come. */
void key_watch(struct object *o, struct service_call *call);

/* It waits no more (answers.h). */
void key_watch_stopped(struct keyspace *k, const struct service_call *call);

/* The key has changed: let the home look at the calls that wait for it. */
void key_watch_wake(struct keyspace *k, struct reactor *home, struct key_text key);

/* The reactor calls this in each pass: it looks at some of those calls.  True: there were some. */
bool key_watch_look(struct reactor *r);

/* The keyspace goes; nothing waits there. */
void key_watch_end(struct reactor *r, const struct keyspace *k);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * key_watch.h - calls that wait for a change of a key, or of one that begins like this.
 *
 * A call says which revision it has seen, and is answered if there is a newer change; else it waits.
 * So nothing is kept for one that is not there just now, and it misses no change.  Those whose bucket
 * is woken are looked at in the order in which they came, a few in each pass: thousands may wait for
 * one key.
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

/* The key has changed: its home's reactor looks at those who wait for it. */
void key_watch_wake(struct keyspace *k, struct reactor *home, struct key_text key);

/* In each pass: look at some of the calls whose key may have changed; true: there were some. */
bool key_watch_look(struct reactor *r);

/* The keyspace goes; nothing waits there. */
void key_watch_end(struct reactor *r, const struct keyspace *k);

#endif

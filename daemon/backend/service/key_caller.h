/* SPDX-License-Identifier: MIT */
/*
 * key_caller.h - what a session's calls bring to a keyspace and get from there
 *
 * It is copied before the call goes to the keyspace's home, so that this can do all that a call asks
 * for at once; and what the home answers is copied to the job's tensors when the call is back.
 */
#ifndef QUOITD_KEY_CALLER_H
#define QUOITD_KEY_CALLER_H

#include "session/keyspace.h"
#include "session/session.h"

/* Of a call with a value: is there a place for it? */
static inline bool key_caller_has_place(const struct caller *c)
{
	return c->keys->free_values;
}

/* Copy what the call brings, with a place for its value if it may have one. */
void key_call_begin(struct session *s, const struct job *job, struct service_call *call);

/* Nothing needs it any more. */
void key_call_end(struct service_call *call);

#endif

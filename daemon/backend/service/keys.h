/* SPDX-License-Identifier: MIT */
/* keys.h - calls of keyspaces (session/keyspace.h), at their home */
#ifndef QUOITD_KEYS_H
#define QUOITD_KEYS_H

#include "session/keyspace.h"
#include "session/objects.h"

/* What calls ask for. */
void keys_put(struct object *o, struct service_call *call);
void keys_get(struct object *o, struct service_call *call);
void keys_delete(struct object *o, struct service_call *call);
void keys_list(struct object *o, struct service_call *call);

/* The call's key, or a prefix, which may be empty.  False: it is none, and the call has its answer. */
bool keys_read_key(struct service_call *call, struct key_text *ret);
bool keys_read_prefix(struct service_call *call, struct key_text *ret);

/* The call has done it: let it have this, if it has asked for it. */
void keys_answer(struct service_call *call, const struct quoit_key_state *state);

#endif

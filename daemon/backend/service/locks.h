/* SPDX-License-Identifier: MIT */
/* locks.h - calls of locks (session/objects.h), at their home */
#ifndef QUOITD_LOCKS_H
#define QUOITD_LOCKS_H

#include "session/objects.h"

/* What calls ask for. */
void lock_take(struct object *o, struct service_call *call);
void lock_unlock(struct object *o, struct service_call *call);
void lock_wait(struct object *o, struct service_call *call);
void lock_notify(struct object *o, struct service_call *call);

/* A call that was notified does not want the lock any more: notify another one in its place. */
void lock_notify_another(struct object *o, const struct service_call *call);

/* The session that holds it has ended, or let go of it: the next holder is told. */
void lock_holder_leaves(struct object *o);

#endif

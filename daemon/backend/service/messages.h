/* SPDX-License-Identifier: MIT */
/* messages.h - calls of queues between sessions (session/message_queue.h), at their home */
#ifndef QUOITD_MESSAGES_H
#define QUOITD_MESSAGES_H

#include "session/message_queue.h"
#include "session/objects.h"

/* A call has come.  It is answered as soon as it has a message to fill or to take. */
void message_send(struct object *o, struct service_call *call);
void message_receive(struct object *o, struct service_call *call);

/* The reactor of its caller has copied the message; or could not, and call->result says so. */
void message_moved(struct message_queue *q, struct service_call *call);

/* A call that waited has been withdrawn: it may have been in the way of others. */
void messages_go_on(struct message_queue *q);

/* How many wait for a receiver, or are being filled. */
uint32_t messages_waiting(const struct message_queue *q);

#endif

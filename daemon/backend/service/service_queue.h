/* SPDX-License-Identifier: MIT */
/*
 * service_queue.h - a service at its home: which call goes to which server, and when.
 *
 * The user that has had the least time of the service's threads, divided by its share, is next
 * (fair/ledger.h); of its calls the most urgent, then the oldest.  server_choice.h says which server
 * gets it.  No thread is kept free for a user that has no call there: it waits until the first one
 * returns.
 *
 * Only the home's thread calls these; each is what a letter asks for (exchange.h).
 */
#ifndef QUOITD_SERVICE_QUEUE_H
#define QUOITD_SERVICE_QUEUE_H

#include "session/owner.h"
#include "session/services.h"

/* A caller's call has come. */
void service_submit(struct reactor *r, struct service_call *call);

/* A server gives it back: it has returned, or is to go to another one (call->again). */
void service_return(struct reactor *r, struct service_call *call);

/* Its caller does not want it to begin. */
void service_withdraw(struct reactor *r, struct service_call *call);

/* The caller's reactor has copied a message of a queue, or could not; its call is free then. */
void service_moved(struct service_call *call);

/* A caller of an object lets go of it. */
void service_caller_leaves(struct reactor *r, struct caller *caller);

/* A server comes, has more threads or fewer, takes no more calls, and is not used any more. */
void service_comes(struct reactor *r, struct server *server);
void service_lanes(struct reactor *r, struct server *server);
void service_goes(struct reactor *r, struct server *server);
void service_server_ends(struct reactor *r, struct server *server);

/* Nobody serves or calls it any more: answer the control thread, which frees it. */
void service_end(struct reactor *r, struct service *service);

/* Fail the calls that have waited for too long for a server; true: there were some. */
bool service_expire(struct reactor *r);

/* The longest that the reactor may sleep because of such calls; UINT64_MAX: any. */
uint64_t service_sleep_ns(struct reactor *r);

#endif

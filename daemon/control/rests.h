/* SPDX-License-Identifier: MIT */
/*
 * rests.h - connections that are not read for a while, since what their clients have hung on their
 * ends of the sockets makes each message dear (host/dear.h).
 *
 * Messages are taken and sent by the control thread all the same, but a user for whom that is dear
 * rests after each for DEAR_REST times as long as it took, on all its connections.  Control thread
 * only.
 */
#ifndef QUOITD_RESTS_H
#define QUOITD_RESTS_H

#include "connection.h"

/* A message to or from this client was begun then (dear_cpu_now), and has ended. */
void rests_count(struct connection *conn, uint64_t begun);

/* How much longer a user's recorders rest after looking for sessions than that has taken. */
#define RESTS_RECORDS 4u

/* For a recorder of this user a session was looked for, or a trace made or removed, begun then
 * (dear_cpu_now). */
void rests_record(struct control *c, uid_t uid, uint64_t begun);

/* How much longer they rest, rounded up; 0: they do not. */
int rests_records_ms(struct control *c, uid_t uid);

/* Something has come of a connection.  True: it is to rest now, and is not to be served. */
bool rests_begin(struct connection *conn);

/* Whose rest is over is read again, one connection at a time. */
void rests_end(struct control *c);

/* How long until one is; -1: nobody rests. */
int rests_timeout_ms(struct control *c);

/* Have epoll tell of a connection, or no more. */
int rests_watch(struct connection *conn);
void rests_unwatch(const struct connection *conn);

#endif

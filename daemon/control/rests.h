/* SPDX-License-Identifier: MIT */
/*
 * rests.h - stops reading connections for a while if messages to or from them are dear.
 *
 * Messages are dear if a client has hung much on its end of the socket (base/dear.h).  The control
 * thread still takes and sends each message.  But after a dear one, all connections of the user
 * rest for DEAR_REST times as long as it took.  Control thread only.
 */
#ifndef QUOITD_RESTS_H
#define QUOITD_RESTS_H

#include "connection.h"

/* A message to or from this client began at `begun` (dear_cpu_now) and has ended. */
void rests_count(struct connection *conn, uint64_t begun);

/* After looking for sessions, a user's recorders rest for so many times as long as that took. */
#define RESTS_RECORDS 4u

/*
 * For a recorder of this user a session was looked for, or a trace made or removed.  That began at
 * `begun` (dear_cpu_now).
 */
void rests_record(struct control *c, uid_t uid, uint64_t begun);

/* How much longer they rest, in milliseconds, rounded up; 0: they do not. */
int rests_records_ms(struct control *c, uid_t uid);

/* epoll reports a connection.  True: it rests from now on, and must not be served. */
bool rests_begin(struct connection *conn);

/* Read one connection again, if its rest is over. */
void rests_end(struct control *c);

/* Milliseconds until the next rest is over; -1: no connection rests. */
int rests_timeout_ms(struct control *c);

/* Have epoll report a connection, or no longer.  -errno. */
int rests_watch(struct connection *conn);
void rests_unwatch(const struct connection *conn);

#endif

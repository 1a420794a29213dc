/* SPDX-License-Identifier: MIT */
/*
 * connections.h - the list of all connections, control->connections; admission.c adds to it.  Control
 * thread only.
 */
#ifndef QUOITD_CONNECTIONS_H
#define QUOITD_CONNECTIONS_H

#include "connection.h"

/* The connection of the session with this number, or of this session; NULL: there is none. */
struct connection *connections_find_session(struct control *c, uint64_t id);
struct connection *connections_find_owner(struct control *c, const struct session *s);

/*
 * Answer each request whose blocking call has returned.  Free each connection that has ended,
 * once neither its session, an answer nor a blocking call needs it.
 */
void connections_sweep(struct control *c);

/* End connections that did not send HELLO in time. */
void connections_end_silent(struct control *c);

#endif

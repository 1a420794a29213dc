/* SPDX-License-Identifier: MIT */
/* connections.c - finds connections in the list of all, ends silent ones, and frees gone ones */
#include "connections.h"

#include <stdlib.h>

struct connection *connections_find_session(struct control *c, uint64_t id)
{
	for (struct connection *conn = c->connections; conn; conn = conn->next)
		if (conn->session && conn->session->id == id && conn->state != CONNECTION_GONE)
			return conn;
	return NULL;
}

struct connection *connections_find_owner(struct control *c, const struct session *s)
{
	for (struct connection *conn = c->connections; conn; conn = conn->next)
		if (conn->session == s)
			return conn;
	return NULL;
}

void connections_sweep(struct control *c)
{
	for (struct connection **link = &c->connections; *link;) {
		struct connection *conn = *link;

		connection_look_at_waiting(conn);
		if (!connection_is_gone(conn) || !blocking_idle(&conn->blocking)) {
			link = &conn->next;
			continue;
		}
		*link = conn->next;
		if (conn->counted)
			budget_disconnect(c->budget, conn->uid);
		free(conn);
	}
}

void connections_end_silent(struct control *c)
{
	uint64_t now = totals_now_ns();

	for (struct connection *conn = c->connections; conn; conn = conn->next)
		if (conn->state == CONNECTION_NEW && now > conn->patience_ns &&
		    !connection_hello_waits(conn))
			connection_end(conn, QUOIT_DAEMON_KILL_HANDSHAKE,
				       "the client did not send HELLO in time (option hello-ms)");
}

/* SPDX-License-Identifier: MIT */
/* servers_private.h - what servers.c and servers_look.c do for each other */
#ifndef QUOITD_SERVERS_PRIVATE_H
#define QUOITD_SERVERS_PRIVATE_H

#include "session/services.h"

/* May a CQE be posted that leaves `kept` slots free? */
bool server_has_room(struct reactor *r, struct ring *ring, int kept);

/* Look again in a while whether there is some, since a process that reads its CQ says nothing. */
void server_lacks_room(struct reactor *r);

/* Post the calls that wait for room, as far as there is some. */
void server_post_pending(struct reactor *r, struct server *server);

/* The process says how many threads serve; its service's home hears of it if that has changed. */
void server_look_at_lanes(struct reactor *r, struct server *server);

/* Tell the process of the callers that have left, as far as there is room; true: of some. */
bool server_tell_left(struct reactor *r, struct server *server);

#endif

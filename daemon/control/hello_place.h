/* SPDX-License-Identifier: MIT */
/* hello_place.h - chooses where a new session lives */
#ifndef QUOITD_HELLO_PLACE_H
#define QUOITD_HELLO_PLACE_H

#include "connection.h"

/*
 * Choose the reactor, near the client or the device that it asks for, count the session there, and
 * bind its memory to the node.  The result is the reactor's core in the plan.
 */
const struct placement_core *hello_place(struct connection *c, struct session *s,
					 const struct quoit_hello *h);

#endif

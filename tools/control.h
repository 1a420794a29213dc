/* SPDX-License-Identifier: MIT */
/* control.h - requests on quoitd's control socket that need no session */
#ifndef QUOIT_TOOLS_CONTROL_H
#define QUOIT_TOOLS_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#include <quoit/ctl.h>

/* Room for what quoitd says, escaped. */
#define CONTROL_TEXT_BYTES (4 * QUOIT_TEXT_BYTES + 1)

/* Connect; a descriptor, or a negative errno with a sentence in `text`. */
int control_connect(const char *socket, char text[CONTROL_TEXT_BYTES]);

/*
 * Send this request on the connection, and put the reply in its place.  Its result, 0 or a negative
 * errno, with quoitd's words or our own in `text`, which can be printed.
 */
int control_ask(int fd, const char *socket, struct quoit_ctl *m, char text[CONTROL_TEXT_BYTES]);

/* End a session, on a connection of its own; as control_ask. */
int control_end_session(const char *socket, uint64_t session, char text[CONTROL_TEXT_BYTES]);

#endif

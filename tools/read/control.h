/* SPDX-License-Identifier: MIT */
/* control.h - send requests on quoitd's control socket that need no session */
#ifndef QUOIT_TOOLS_CONTROL_H
#define QUOIT_TOOLS_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#include <quoit/ctl.h>

/* Room for quoitd's text, escaped. */
#define CONTROL_TEXT_BYTES (4 * QUOIT_TEXT_BYTES + 1)

/* Connect; a descriptor, or a negative errno with a sentence in `text`. */
int control_connect(const char *socket, char text[CONTROL_TEXT_BYTES]);

/*
 * Send this request on the connection; the reply replaces it.  Returns the reply's result, 0 or a
 * negative errno.  `text` then has quoitd's words or our own, and can be printed.
 */
int control_ask(int fd, const char *socket, struct quoit_ctl *m, char text[CONTROL_TEXT_BYTES]);

/* End a session, on a connection of its own; result and text as for control_ask. */
int control_end_session(const char *socket, uint64_t session, char text[CONTROL_TEXT_BYTES]);

#endif

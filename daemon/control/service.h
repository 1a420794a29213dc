/* SPDX-License-Identifier: MIT */
/*
 * service.h - what a service manager passes to us, and what it is told: by systemd's protocols.
 *
 * Without one, nothing is passed, and telling it does nothing.
 */
#ifndef QUOITD_SERVICE_H
#define QUOITD_SERVICE_H

#include "control.h"

/*
 * The listening socket that was passed: the descriptor, for the caller to close, and its path
 * becomes config->socket.  -ENOENT: none was; another negative errno after a log line: what was
 * passed is no socket of ours, or not the one that the options name.  Before there are threads.
 */
int service_take_socket(struct config *config);

/* That path becomes config->socket; false, after a log line: the options name another. */
bool service_pass_socket(struct config *config, const char *path);

/* Connections are accepted. */
void service_say_ready(struct control *c);

/* Once a pass of the control thread: what it is doing, once a second if that has changed. */
void service_say_status(struct control *c);

/* Has it something to say that must wait until that second is over? */
bool service_has_news(const struct control *c);

/* It is told to end, which may take that long. */
void service_say_stopping(uint64_t most_ns);

/* How long it waits for the next time that all is well; 0: it does not. */
uint64_t service_watchdog_ns(void);

/* All is well.  Any thread. */
void service_feed_watchdog(void);

/* Around a new reading of the options: between the two it is not taken for hung. */
void service_say_reloading(void);
void service_say_reloaded(struct control *c);

#endif

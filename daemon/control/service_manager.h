/* SPDX-License-Identifier: MIT */
/*
 * service_manager.h - takes a socket from a service manager and notifies it, by systemd's protocols.
 *
 * Without a service manager no socket is passed, and notifications do nothing.
 */
#ifndef QUOITD_SERVICE_MANAGER_H
#define QUOITD_SERVICE_MANAGER_H

#include "control.h"

/*
 * Take the listening socket that was passed, which the caller closes; its path becomes
 * config->socket.  -ENOENT: none was passed.  Another negative errno, after a log line: it is not
 * such a socket, or not the one that the options name.  Call it before there are threads.
 */
int service_manager_take_socket(struct config *config);

/* Make this path config->socket.  False, after a log line: the options name another. */
bool service_manager_pass_socket(struct config *config, const char *path);

/* Say that connections are accepted. */
void service_manager_say_ready(struct control *c);

/* Once a pass of the control thread: send the status if it has changed, at most once a second. */
void service_manager_say_status(struct control *c);

/* True: a change of the status waits for that second to pass. */
bool service_manager_has_news(const struct control *c);

/* Say that quoitd is ending, which may take so long. */
void service_manager_say_stopping(uint64_t most_ns);

/* The interval at which the service manager expects a sign of life; 0: it expects none. */
uint64_t service_manager_watchdog_ns(void);

/* Send that sign of life.  Any thread. */
void service_manager_feed_watchdog(void);

/* Call them around a reload of the options: between them quoitd is not taken for hung. */
void service_manager_say_reloading(void);
void service_manager_say_reloaded(struct control *c);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * service.h - run a private quoitd with the test as its service manager.
 *
 * Like systemd, the test passes it a listening socket and reads its messages.
 */
#ifndef TESTS_SERVICE_H
#define TESTS_SERVICE_H

#include <stdbool.h>

#include "daemon.h"

struct service {
	struct daemon d;
	char folder[64]; /* of the socket, if one is passed */
	int listener[2]; /* passed sockets, -1: none */
	int notify;
	unsigned watchdog_ms; /* told to quoitd; 0: no watchdog */
	char said[1024];      /* its last messages together */
};

/* Pass nothing yet; its messages are read. */
void service_init(struct service *s);

/* Listen with a socket of this type at d.socket, in a folder of its own, to be passed. */
void service_listen(struct service *s, int type);

/* Starts like daemon_start. */
int service_start(struct service *s, const char *const *options);

/* Start one that must not become ready; returns its exit status and its log. */
int service_fail(struct service *s, const char *const *options, char *ret_log, size_t size);

/* Wait, at most a minute, for a message with these words; it is then in `said`. */
bool service_hears(struct service *s, const char *words);

/* Does it send that within this time?  Reads all its messages until then. */
bool service_hears_in(struct service *s, const char *words, unsigned ms);

/* Call daemon_stop, and free the rest. */
void service_stop(struct service *s);

/* Free the rest only. */
void service_done(struct service *s);

#endif

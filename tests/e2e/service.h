/* SPDX-License-Identifier: MIT */
/*
 * service.h - a private quoitd that takes us for its service manager.
 *
 * As systemd does, we pass it a socket that listens and hear what it says of itself.
 */
#ifndef TESTS_SERVICE_H
#define TESTS_SERVICE_H

#include <stdbool.h>

#include "daemon.h"

struct service {
	struct daemon d;
	char folder[64]; /* of the socket, where one is passed */
	int listener[2]; /* what is passed, -1: nothing */
	int notify;
	unsigned watchdog_ms; /* that it is told; 0: none */
	char said[1024];      /* last, all at once */
};

/* Nothing passed yet; what it says is heard. */
void service_init(struct service *s);

/* Listen with a socket of this type at d.socket, in a folder of its own: to be passed. */
void service_listen(struct service *s, int type);

/* As daemon_start. */
int service_start(struct service *s, const char *const *options);

/* The exit status of one that does not become ready, and its log. */
int service_fail(struct service *s, const char *const *options, char *ret_log, size_t size);

/* Wait, a minute at most, until it says something with these words: they are in said. */
bool service_hears(struct service *s, const char *words);

/* Has it said that in the time to come?  All that it says by then is read. */
bool service_hears_in(struct service *s, const char *words, unsigned ms);

/* daemon_stop, and let go of the rest. */
void service_stop(struct service *s);

/* The rest alone. */
void service_done(struct service *s);

#endif

/* SPDX-License-Identifier: MIT */
/* services.h - ask quoitd for the services and their callers that it shows us */
#ifndef QUOIT_TOOLS_SERVICES_H
#define QUOIT_TOOLS_SERVICES_H

#include <stdbool.h>
#include <stddef.h>

#include "control.h"

/* Room for "user/name", escaped. */
#define SERVICES_NAME_BYTES 256

struct services {
	struct quoit_service_reply *list; /* in the order of their numbers */
	size_t count, room;
	bool is_cut; /* there may be more */
};

struct service_callers {
	struct quoit_caller_reply *list;
	size_t count, room;
};

/*
 * Ask on this connection for all services, or add the callers of one to the list.  0, or -errno
 * with a sentence in `text`.  The caller frees the list in either case.
 */
int services_read(int fd, const char *socket, struct services *ret, char text[CONTROL_TEXT_BYTES]);

/* The same, but end after so many; then ret->is_cut is true. */
int services_read_some(int fd, const char *socket, size_t most, struct services *ret,
		       char text[CONTROL_TEXT_BYTES]);
int services_read_callers(int fd, const char *socket, uint64_t service, struct service_callers *ret,
			  char text[CONTROL_TEXT_BYTES]);

/* The service as a user names it: "fft", or "alice/fft" if it is another user's. */
void services_name(const struct quoit_service_reply *s, char ret[SERVICES_NAME_BYTES]);

/* What has the name: "service", "lock", ... */
const char *services_kind(const struct quoit_service_reply *s);

/* Who may call it: "own", "group:NAME" or "all". */
void services_mode(const struct quoit_service_reply *s, char *ret, size_t size);

#endif

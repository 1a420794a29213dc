/* SPDX-License-Identifier: MIT */
/* service.h - services that the session calls; names of services; what they said of failures */
#ifndef LIBQUOIT_SERVICE_H
#define LIBQUOIT_SERVICE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quoit/ctl.h>

struct quoit_error;
struct quoit_session;

/* A function that was looked up. */
struct known_function {
	char name[QUOIT_NAME_BYTES];
	uint8_t number;
};

struct quoit_service {
	struct quoit_session *session;
	struct quoit_service *next; /* in the session's list, which session->list guards */
	uint32_t number;            /* in the session */
	pthread_mutex_t lock;       /* guards what follows */
	unsigned count;
	struct known_function known[QUOIT_MAX_FUNCTIONS];
};

/* ---- service_name.c ---- */

/* Without a user.  Refuse: -EINVAL, with a text for quoit_open_text. */
bool libquoit_is_service_name(const char *name);
__attribute__((cold)) int libquoit_refuse_service_name(const char *name);

/*
 * ---- service_user.c ----
 *
 * It and service_open.c need getpwnam_r, of which the linker warns in static programs; so other
 * files call nothing of them, and only programs that call services have them.
 */

/* A service's name in its parts. */
struct service_name {
	char name[QUOIT_NAME_BYTES]; /* ended by zeros */
	uint32_t uid;                /* QUOIT_SERVICE_OWN: the caller's own user */
};

/* "NAME" or "USER/NAME".  -EINVAL; -ENOENT: there is no such user; with a text. */
int libquoit_service_parse(const char *whole, struct service_name *ret);

/* ---- service.c ---- */

/* The name of the function of a service that failed; false: it was not looked up here. */
bool libquoit_service_function(struct quoit_session *s, const struct quoit_error *e,
			       char ret[QUOIT_NAME_BYTES]);

/* Free one, which is in no list. */
void libquoit_service_free(struct quoit_service *service);

/* Free all services of the session; does not tell quoitd. */
void libquoit_service_free_all(struct quoit_session *s);

/* ---- service_text.c ---- */

/*
 * The words that a service's function gave to this failure; false: there are none (any more).
 */
bool libquoit_service_text(struct quoit_session *s, const struct quoit_error *e,
			   char ret[QUOIT_CALL_TEXT_BYTES]);

#endif

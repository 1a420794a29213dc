/* SPDX-License-Identifier: MIT */
/* services_private.h - what the files behind services.h share */
#ifndef QUOITD_SERVICES_PRIVATE_H
#define QUOITD_SERVICES_PRIVATE_H

#include "services.h"
#include "session/objects.h"

/* ---- services.c: what there is ---- */

/* The service of this name and user; NULL: there is none. */
struct service *services_find(const struct control *c, uid_t uid, const char *name);

/* The user that a request means by uid. */
static inline uid_t services_user(const struct connection *c, uint32_t uid)
{
	return uid == QUOIT_SERVICE_OWN ? c->uid : uid;
}

/* May the connection's user call it? */
bool services_may_call(const struct connection *c, const struct service *service);

/*
 * May the user see what all users' services and callers do?  Those may who can read all sessions'
 * counters; others see their own.
 */
bool services_may_look_at_all(const struct connection *c);

/* -EINVAL, with a text: no service can have this name. */
int services_check_name(const char name[QUOIT_NAME_BYTES], char *text, size_t size);

/* Does a ring serve it now? */
bool service_is_served(const struct service *service);

/* A new one at this reactor, without functions; NULL: there is no memory. */
struct service *service_new(struct control *c, uid_t uid, const char *name, struct reactor *home);

/* If nobody serves and calls it any more, it ends. */
void service_look(struct service *service);

/* -ENFILE, with a text: the user has as many as one may have. */
int services_check_count(const struct control *c, uid_t uid, char *text, size_t size);

/* Charge a user for what may outlive its sessions. */
int services_charge(struct control *c, uid_t uid, uint64_t bytes, uint64_t *ret_left);
void services_return(struct control *c, uid_t uid, uint64_t bytes);

/* May the client let others in like this?  -EINVAL, -EPERM. */
int services_check_mode(const struct connection *c, uint32_t mode, gid_t gid, char *text,
			size_t size);

/* ---- services_serve.c, services_call.c ---- */

/*
 * Let the session call the service; the answer to the request comes when its reactor knows it, or at
 * once if the session has it open already.
 */
void services_attach(struct connection *c, struct service *service, uint32_t wait_ms,
		     const struct quoit_ctl *m);

/* The session's caller of this number, and of this service; NULL: it has none open. */
struct caller *services_caller(const struct connection *c, uint32_t number);
struct caller *services_same(const struct connection *c, const struct service *service);

/* May the session open this tensor as SYNC asks for?  0 or -EACCES, with a text. */
int services_check_tensor(const struct connection *c, const struct service *service,
			  const struct quoit_ctl *m, char *text, size_t size);

/* Take it out of its service and free it; free one that is in none. */
void server_free(struct control *c, struct server *server);

/* Its home knows it. */
void server_begun(struct control *c, struct server *server);
void server_release(struct server *server);

/* The caller goes: let the processes that have mapped its memory know. */
void servers_forget(struct service *service, const struct caller *caller);

void caller_free(struct control *c, struct caller *caller);

#endif

/* SPDX-License-Identifier: MIT */
/* services_private.h - what the files behind services.h share */
#ifndef QUOITD_SERVICES_PRIVATE_H
#define QUOITD_SERVICES_PRIVATE_H

#include "services.h"
#include "session/objects.h"

/* ---- services.c: what there is ---- */

/* The service of this name and user; NULL: there is none. */
struct service *services_find(const struct control *c, uid_t uid, const char *name);

/* Is the process that has connected a member of this group? */
bool services_is_member(const struct connection *c, gid_t gid);

/* Does a ring serve it now? */
bool service_is_served(const struct service *service);

/* A new one at this reactor, without functions; NULL: there is no memory. */
struct service *service_new(struct control *c, uid_t uid, const char *name, struct reactor *home);

/* If nobody serves and calls it any more, it ends. */
void service_look(struct control *c, struct service *service);

/* Has the user as many as one may have? */
bool services_are_many(const struct control *c, uid_t uid);

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

/* Take it out of its service and free it; free one that is in none. */
void server_free(struct control *c, struct server *server);

/* Its home knows it. */
void server_begun(struct control *c, struct server *server);
void server_release(struct server *server);

/* The caller goes: let the processes that have mapped its memory know. */
void servers_forget(struct service *service, const struct caller *caller);

void caller_free(struct control *c, struct caller *caller);

#endif

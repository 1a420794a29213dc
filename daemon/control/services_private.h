/* SPDX-License-Identifier: MIT */
/* services_private.h - what the files behind services.h share */
#ifndef QUOITD_SERVICES_PRIVATE_H
#define QUOITD_SERVICES_PRIVATE_H

#include "services.h"

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

/* Charge a user for what may outlive its sessions. */
int services_charge(struct control *c, uid_t uid, uint64_t bytes, uint64_t *ret_left);
void services_return(struct control *c, uid_t uid, uint64_t bytes);

/* ---- services_serve.c, services_call.c ---- */

/* Take it out of its service and free it; free one that is in none. */
void server_free(struct control *c, struct server *server);

/* Its home knows it. */
void server_begun(struct control *c, struct server *server);
void server_release(struct server *server);

/* The caller goes: let the processes that have mapped its memory know. */
void servers_forget(struct service *service, const struct caller *caller);

void caller_free(struct control *c, struct caller *caller);

#endif

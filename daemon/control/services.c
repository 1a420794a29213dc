/* SPDX-License-Identifier: MIT */
/* services.c - the list of services: finds, makes and frees them, and says who may call them */
#include "services_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "charge.h"
#include "connection_functions.h"
#include "peer.h"
#include "session/keyspace.h"
#include "session/message_queue.h"
#include "session/named_tensor.h"

int services_check_name(const char name[QUOIT_NAME_BYTES], char *text, size_t size)
{
	if (connection_is_name(name, QUOIT_NAME_BYTES) && !strchr(name, '/'))
		return 0;
	snprintf(text, size,
		 "a name must have 1 to %u characters, printable ASCII without blanks and '/', and "
		 "zeros behind them",
		 QUOIT_NAME_BYTES - 1);
	return -EINVAL;
}

/* ---- who may ---- */

static bool is_member(const struct connection *c, gid_t gid)
{
	gid_t *gids;
	size_t count;
	bool is = false;

	if (peer_groups(c->fd, &gids, &count) < 0)
		return false;
	for (size_t i = 0; i < count; i++)
		is |= gids[i] == gid;
	free(gids);
	return is;
}

bool services_may_look_at_all(const struct connection *c)
{
	const gid_t group = c->control->config->stats_group.gid;

	return connection_is_in_charge(c) || (group != (gid_t)-1 && is_member(c, group));
}

bool services_may_call(const struct connection *c, const struct service *service)
{
	return c->uid == service->uid || c->uid == 0 || service->mode & QUOIT_SERVE_OTHERS ||
	       (service->mode & QUOIT_SERVE_GROUP && is_member(c, service->gid));
}

int services_check_mode(const struct connection *c, uint32_t mode, gid_t gid, char *text,
			size_t size)
{
	const bool group = mode & QUOIT_SERVE_GROUP;

	if (mode & ~QUOIT_SERVE_MODE || (!group && gid)) {
		snprintf(text, size,
			 "mode %#o, gid %u: allowed are %#o (a group), %#o (others), both and 0; a "
			 "gid only with a group",
			 mode, gid, QUOIT_SERVE_GROUP, QUOIT_SERVE_OTHERS);
		return -EINVAL;
	}
	if (!group || is_member(c, gid))
		return 0;
	snprintf(text, size, "group %u is not one of the process's own", gid);
	return -EPERM;
}

/* ---- charges ---- */

int services_charge(struct control *c, uid_t uid, uint64_t bytes, uint64_t *ret_left)
{
	int err = budget_lease(c->budget, uid, bytes, ret_left);

	if (err < 0)
		totals_count(c->totals, QUOIT_DAEMON_REFUSED_LEASE);
	charge_show(c);
	return err;
}

void services_return(struct control *c, uid_t uid, uint64_t bytes)
{
	budget_return(c->budget, uid, bytes);
	charge_show(c);
}

/* ---- the list ---- */

static bool has_lost_memory(const struct service *s)
{
	return s->object && s->object->tensor && named_tensor_is_lost(s->object->tensor);
}

struct service *services_find(const struct control *c, uid_t uid, const char *name)
{
	struct service *s = c->services.first;

	while (s && (s->ending || s->superseded || has_lost_memory(s) || s->uid != uid ||
		     strcmp(s->name, name) != 0))
		s = s->next;
	return s;
}

bool service_is_served(const struct service *service)
{
	for (const struct server *s = service->servers; s; s = s->next)
		if (s->begun && !atomic_load_explicit(&s->closed, memory_order_relaxed))
			return true;
	return false;
}

struct service *service_new(struct control *c, uid_t uid, const char *name, struct reactor *home)
{
	struct service *s = calloc(1, sizeof *s), **last = &c->services.first;

	if (!s)
		return NULL;
	s->id = ++c->services.last_id;
	s->uid = uid;
	strcpy(s->name, name);
	s->home = home;
	while (*last) /* in the order of their numbers */
		last = &(*last)->next;
	*last = s;
	return s;
}

static void service_free(struct service *s)
{
	struct guest *g = s->guests, *next;

	if (s->object) {
		message_queue_free(s->object->queue);
		named_tensor_free(s->object->tensor);
		keyspace_free(s->object->keyspace);
	}
	free(s->object);
	for (; g; g = next) {
		next = g->next;
		free(g);
	}
	free(s);
}

/* Services and objects of one user at a time. */
#define SERVICES_MOST 256u

int services_check_count(const struct control *c, uid_t uid, char *text, size_t size)
{
	uint32_t n = 0;

	for (const struct service *s = c->services.first; s; s = s->next)
		n += s->uid == uid;
	if (n < SERVICES_MOST)
		return 0;
	snprintf(text, size, "a user has at most %u services and things with names", SERVICES_MOST);
	return -ENFILE;
}

/* Its home may be looking at it: it is freed when that has answered. */
void service_look(struct service *service)
{
	const struct mail end = {.type = MAIL_SERVICE_END, .service = service};

	if (service->servers || service->callers || service->ending)
		return;
	service->ending = true;
	mailbox_send(&service->home->inbox, &end);
}

static void remove_service(struct control *c, struct service *service)
{
	struct service **at = &c->services.first;

	while (*at != service)
		at = &(*at)->next;
	*at = service->next;
	if (service->charged) /* else the user may be gone */
		services_return(c, service->uid, service->charged);
	service_free(service);
}

static void remove_callers(struct control *c, struct caller *caller)
{
	struct caller *next;

	for (; caller; caller = next) {
		next = caller->goes;
		caller_free(c, caller);
	}
}

bool services_mail(struct control *c, const struct mail *m)
{
	struct reactor *reactor;

	switch (m->type) {
	case MAIL_CALLERS_GONE:
		reactor = m->caller->reactor;
		remove_callers(c, m->caller);
		mailbox_send(&reactor->inbox, &(struct mail){.type = MAIL_CALLERS_GONE});
		return true;
	case MAIL_SERVE:
		server_begun(c, m->server);
		return true;
	case MAIL_SERVER_GONE:
		server_free(c, m->server);
		return true;
	case MAIL_SERVICE_END:
		remove_service(c, m->service);
		return true;
	default:
		return false;
	}
}

void services_session_ended(struct connection *c)
{
	for (; c->servers; c->servers = c->servers->of_connection)
		c->servers->connection = NULL;
	for (uint32_t i = 0; i < QUOIT_MAX_SERVICES; i++)
		if (c->callers[i])
			c->callers[i]->connection = NULL;
	memset(c->callers, 0, sizeof c->callers);
}

void services_done(struct control *c)
{
	struct service *s, *next;

	for (s = c->services.first; s; s = next) {
		next = s->next;
		s->ending = true;
		while (s->servers)
			server_free(c, s->servers);
		while (s->callers)
			caller_free(c, s->callers);
		service_free(s);
	}
	c->services.first = NULL;
}

/* SPDX-License-Identifier: MIT */
/* services_serve.c - lets rings serve services, and hands out the memory of those who call them */
#include "services_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "charge.h"
#include "reactor/reactor_idle.h"

#ifndef F_SEAL_FUTURE_WRITE /* Linux 5.1 */
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* ---- SERVE ---- */

void services_serve(struct connection *c, const struct quoit_ctl *m)
{
	struct mail mail = {.type = MAIL_SERVE_ASK, .session = c->session, .serve = &c->serve_ask};
	char text[QUOIT_TEXT_BYTES];
	int err = 0;

	if (m->serve.reserved) {
		snprintf(text, sizeof text, "SERVE has unknown fields");
		err = -EINVAL;
	}
	if (!err)
		err = services_check_name(m->serve.name, text, sizeof text);
	if (!err)
		err = services_check_mode(c, m->serve.mode, m->serve.gid, text, sizeof text);
	if (err < 0) {
		connection_reply_result(c, m->type, m->seq, err, "%s", text);
		return;
	}
	c->held = *m;
	c->serve_ask.ring = m->serve.ring;
	c->serve_ask.text[0] = '\0';
	c->pending = m->type;
	mailbox_send(&c->control->reactors[c->reactor].inbox, &mail);
}

static bool same_function(const struct function *a, const struct function *b)
{
	return !strcmp(a->name, b->name) &&
	       !memcmp(a->row.access, b->row.access, QUOIT_MAX_TENSORS_PER_JOB);
}

/* A service has the functions of all that serve it; the newest may have more. */
static int check_functions(const struct service *service, const struct serve_ask *ask, char *text,
			   size_t size)
{
	const struct service_functions *f = &service->functions;
	const uint32_t known = COUNT_OF(f->count);

	for (uint32_t i = 0; i < known; i++) {
		if (i < ask->count && same_function(&f->function[i], &ask->function[i]))
			continue;
		snprintf(text, size, "function %u is '%.31s' \"%.4s\", not '%.31s' \"%.4s\"", i,
			 f->function[i].name, f->function[i].row.access,
			 i < ask->count ? ask->function[i].name : "",
			 i < ask->count ? ask->function[i].row.access : "");
		return -EINVAL;
	}
	return 0;
}

static void add_functions(struct service *service, const struct serve_ask *ask)
{
	struct service_functions *f = &service->functions;

	for (uint32_t i = COUNT_OF(f->count); i < ask->count; i++) {
		f->function[i] = ask->function[i];
		atomic_store_explicit(&f->count, i + 1, memory_order_release);
	}
}

static uint64_t cost_of(const struct serve_ask *ask)
{
	return sizeof(struct server) + sizeof(struct service) +
	       ask->entries * (sizeof(struct service_call *) + sizeof(uint32_t));
}

void server_release(struct server *s)
{
	free(s->at);
	free(s->spare);
	free(s);
}

static struct server *server_new(const struct connection *c, const struct serve_ask *ask)
{
	struct server *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->entries = ask->entries;
	s->at = calloc(ask->entries, sizeof(struct service_call *));
	s->spare = malloc(ask->entries * sizeof *s->spare);
	if (!s->at || !s->spare) {
		server_release(s);
		return NULL;
	}
	while (s->spares < s->entries) {
		s->spare[s->spares] = s->spares;
		s->spares++;
	}
	s->begin_letter.of = s->lanes_letter.of = s->go_letter.of = s->end_letter.of = s;
	s->reactor = &c->control->reactors[c->reactor];
	s->ring_index = ask->ring;
	s->pid = c->pid;
	return s;
}

/* Or one that is about to serve. */
static bool has_server(const struct service *service)
{
	for (const struct server *s = service->servers; s; s = s->next)
		if (!atomic_load_explicit(&s->closed, memory_order_relaxed))
			return true;
	return false;
}

/* Find or make the service, and have the ring serve it. */
static int serve(struct connection *c, char *text, size_t size)
{
	struct control *control = c->control;
	const struct quoit_ctl *m = &c->held;
	const struct serve_ask *ask = &c->serve_ask;
	struct service *service = services_find(control, c->uid, m->serve.name), *before = NULL;
	uint64_t left, cost = cost_of(ask);
	struct server *server;
	int err;

	if (service && service->object) {
		snprintf(text, size, "'%s' is no service but a %s", service->name,
			 object_kind(service->object->kind));
		return -EEXIST;
	}
	err = service ? check_functions(service, ask, text, size) : 0;
	if (err && !has_server(service)) { /* those who still call it get no more of it */
		before = service;
		service = NULL;
		err = 0;
	}
	if (!service)
		err = services_check_count(control, c->uid, text, size);
	if (!err && services_charge(control, c->uid, cost, &left) < 0) {
		snprintf(text, size, "a service needs %llu KiB of %llu left; close sessions",
			 (unsigned long long)cost >> 10, (unsigned long long)left >> 10);
		err = -EDQUOT;
	}
	if (err)
		return err;
	server = server_new(c, ask);
	if (server && !service)
		service = service_new(control, c->uid, m->serve.name, server->reactor);
	if (!server || !service) {
		services_return(control, c->uid, cost);
		if (server)
			server_release(server);
		snprintf(text, size, "quoitd has no memory for a service");
		return -ENOMEM;
	}
	if (before)
		before->superseded = true;
	add_functions(service, ask);
	service->mode = m->serve.mode;
	service->gid = m->serve.gid;
	server->charged = cost;
	server->functions = ask->count;
	server->service = service;
	server->connection = c;
	server->of_connection = c->servers;
	c->servers = server;
	server->next = service->servers;
	service->servers = server;
	mailbox_send(&server->reactor->inbox, &(struct mail){.type = MAIL_SERVE,
							     .session = c->session,
							     .a = ask->ring,
							     .server = server});
	log_session(c->session, "session %llu serves '%s' of uid %u",
		    (unsigned long long)c->session->id, service->name, service->uid);
	return 0;
}

void services_answer_serve(struct connection *c, const struct mail *m)
{
	const struct quoit_ctl *ask = &c->held;
	char *text = c->serve_ask.text;
	int err = m->result;

	c->pending = 0;
	if (c->state != CONNECTION_OPEN)
		return;
	if (!err) {
		err = serve(c, text, sizeof c->serve_ask.text);
		if (err < 0) /* the ring is a team's as before */
			connection_send_mail(c, MAIL_SERVE, c->serve_ask.ring, 0);
	}
	if (err < 0)
		connection_reply_result(c, ask->type, ask->seq, err, "%s", text);
	else
		c->pending = ask->type; /* until server_begun */
}

static void answer_begun(struct server *server, int err)
{
	struct connection *c = server->connection;

	server->begun = true;
	if (!c || c->pending != QUOIT_CTL_SERVE)
		return;
	c->pending = 0;
	if (c->state == CONNECTION_OPEN)
		connection_reply_result(c, QUOIT_CTL_SERVE, c->held.seq, err,
					err ? "the ring was closed" : NULL);
}

/* Only now is the client told: calls that wait for nobody would not find it before. */
void server_begun(struct control *c, struct server *server)
{
	answer_begun(server, 0);
	c->services.news++;
}

static void leave_connection(struct server *server)
{
	struct server **at = server->connection ? &server->connection->servers : NULL;

	while (at && *at != server)
		at = &(*at)->of_connection;
	if (at)
		*at = server->of_connection;
}

void server_free(struct control *c, struct server *server)
{
	struct service *service = server->service;
	struct server **at = &service->servers;

	while (*at != server)
		at = &(*at)->next;
	*at = server->next;
	if (!server->begun)
		answer_begun(server, -EBADF);
	leave_connection(server);
	services_return(c, service->uid, server->charged);
	server_release(server);
	service_look(service);
}

/* ---- CALLER ---- */

static struct server *find_server(const struct connection *c, uint32_t ring)
{
	struct server *s = c->servers;

	while (s && (s->ring_index != ring || COUNT_OF(s->closed)))
		s = s->of_connection;
	return s;
}

static struct caller *find_caller(const struct service *service, uint32_t number)
{
	for (struct caller *i = service->callers; i; i = i->next)
		if (i->number == number)
			return i;
	return NULL;
}

/* One user's callers may take at most a quarter of those that a server can have. */
#define CALLERS_OF_USER (SERVER_CALLERS / 4)

/* Note that the process gets this caller's memory.  False: it has too many. */
static bool note_mapped(struct server *server, const struct caller *caller)
{
	/* Of these, too, the process was not told yet that they have left. */
	uint32_t untold = COUNT_OF(server->left_count) -
			  atomic_load_explicit(&server->left_told, memory_order_acquire);
	uint32_t of_user = 0;

	for (uint32_t i = 0; i < server->mapped_count; i++) {
		if (server->mapped[i].number == caller->number)
			return true;
		of_user +=
			server->mapped[i].uid == caller->uid && caller->uid != server->service->uid;
	}
	if (server->mapped_count + untold >= SERVER_CALLERS || of_user >= CALLERS_OF_USER)
		return false;
	server->mapped[server->mapped_count].number = caller->number;
	server->mapped[server->mapped_count++].uid = caller->uid;
	return true;
}

/*
 * Another user's process may only read it.  The seal sees to that; a descriptor of our own for
 * reading cannot be had, since the file is the client's.
 */
static bool may_map(const struct connection *c, const struct session *s)
{
	int seals = c->uid == s->uid ? 0 : fcntl(s->arena_memory.fd, F_GET_SEALS);

	return c->uid == s->uid || (seals >= 0 && seals & F_SEAL_FUTURE_WRITE);
}

static void refuse_caller(struct connection *c, const struct quoit_ctl *m, int err, const char *why)
{
	connection_reply_result(c, m->type, m->seq, err, "ring %u, caller %u: %s", m->caller.ring,
				m->caller.caller, why);
}

void services_give_memory(struct connection *c, const struct quoit_ctl *m)
{
	struct quoit_ctl answer = {.type = m->type, .seq = m->seq};
	struct server *server = find_server(c, m->caller.ring);
	struct caller *caller = server ? find_caller(server->service, m->caller.caller) : NULL;
	struct session *s = caller && caller->connection ? caller->connection->session : NULL;

	if (!s || !s->arena) {
		refuse_caller(c, m, -ENOENT, "it has left, or never called");
		return;
	}
	if (!may_map(c, s)) {
		refuse_caller(c, m, -EPERM,
			      "memory of another user's session cannot be shared for reading only "
			      "where quoitd has modules or devices");
		return;
	}
	if (!note_mapped(server, caller)) {
		connection_reply_result(
			c, m->type, m->seq, -ENFILE,
			"ring %u, caller %u: a ring serves at most %u callers, %u of "
			"one user",
			m->caller.ring, m->caller.caller, SERVER_CALLERS, CALLERS_OF_USER);
		return;
	}
	answer.caller.ring = m->caller.ring;
	answer.caller.caller = caller->number;
	answer.caller.bytes = s->arena_memory.bytes;
	connection_reply(c, &answer, &s->arena_memory.fd, 1);
}

void servers_forget(struct service *service, const struct caller *caller)
{
	for (struct server *s = service->servers; s; s = s->next)
		for (uint32_t i = 0; i < s->mapped_count; i++) {
			uint32_t count = COUNT_OF(s->left_count);

			if (s->mapped[i].number != caller->number)
				continue;
			s->mapped[i] = s->mapped[--s->mapped_count];
			s->left[count % SERVER_CALLERS] = caller->number;
			atomic_store_explicit(&s->left_count, count + 1, memory_order_release);
			atomic_fetch_add(&s->reactor->callers_left, 1);
			reactor_wake(s->reactor);
			break;
		}
}

/* SPDX-License-Identifier: MIT */
/* services_call.c - lets sessions call services */
#include "services_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "charge.h"
#include "session/keyspace.h"
#include "session/named_tensor.h"

/* ---- SERVICE ---- */

static struct guest *find_guest(struct service *service, uid_t uid)
{
	struct guest *g = service->guests;

	while (g && g->uid != uid)
		g = g->next;
	if (g)
		return g;
	g = calloc(1, sizeof *g);
	if (!g)
		return NULL;
	g->uid = uid;
	g->next = service->guests;
	atomic_store_explicit(&service->guests, g, memory_order_release);
	return g;
}

static void prepare_calls(struct caller *caller)
{
	for (uint32_t i = 0; i < QUOIT_PRIO_NR; i++)
		caller->ready[i].head = NIL;
	for (uint32_t i = 0; i < CALLER_CALLS; i++) {
		struct service_call *call = &caller->call[i];

		call->letter.of = call->withdrawal.of = call;
		call->caller = caller;
		call->number = i;
		call->job = NIL;
		call->next = i + 1 < CALLER_CALLS ? i + 1 : NIL;
		call->key = caller->keys ? &caller->keys->words[i] : NULL;
	}
	caller->prompt.head = caller->buffer = NIL;
	for (uint32_t i = 0; i < QUOIT_MAX_RINGS; i++)
		caller->order[MESSAGE_SENT][i].head = caller->order[MESSAGE_RECEIVED][i].head = NIL;
	caller->leave_letter.of = caller;
	caller->free = 0;
}

static bool is_keyspace(const struct service *service)
{
	return service->object && service->object->kind == QUOIT_SYNC_KEYSPACE;
}

static uint64_t caller_cost(const struct service *service)
{
	return sizeof(struct caller) + (is_keyspace(service) ? key_caller_cost() : 0);
}

static struct caller *caller_new(struct connection *c, struct service *service, uint32_t index,
				 uint32_t wait_ms, bool read_only)
{
	struct guest *guest = find_guest(service, c->uid);
	struct caller *caller = guest ? calloc(1, sizeof *caller) : NULL;

	if (caller && is_keyspace(service)) {
		caller->keys = key_caller_new();
		if (!caller->keys) {
			free(caller);
			caller = NULL;
		}
	}
	if (!caller)
		return NULL;
	caller->service = service;
	caller->guest = guest;
	caller->reactor = &c->control->reactors[c->reactor];
	caller->number = ++c->control->services.last_caller;
	caller->index = index;
	caller->session_id = c->session->id;
	caller->uid = c->uid;
	caller->pid = c->pid;
	caller->wait_ms = wait_ms;
	caller->read_only = read_only;
	caller->seen_deaths = service->object ? COUNT_OF(service->object->deaths) : 0;
	caller->connection = c;
	caller->opened = 1;
	prepare_calls(caller);
	return caller;
}

/* A session has one caller of a service, however often it looks that up. */
struct caller *services_same(const struct connection *c, const struct service *service)
{
	for (uint32_t i = 0; i < QUOIT_MAX_SERVICES; i++)
		if (c->callers[i] && c->callers[i]->service == service && c->callers[i]->opened)
			return c->callers[i];
	return NULL;
}

static int find_index(const struct connection *c)
{
	for (uint32_t i = 0; i < QUOIT_MAX_SERVICES; i++)
		if (!c->callers[i])
			return (int)i;
	return -ENFILE;
}

static void append(struct service *service, struct caller *caller)
{
	caller->before = service->last_caller;
	*(caller->before ? &caller->before->next : &service->callers) = caller;
	service->last_caller = caller;
}

static void take_out(struct service *service, struct caller *caller)
{
	*(caller->before ? &caller->before->next : &service->callers) = caller->next;
	*(caller->next ? &caller->next->before : &service->last_caller) = caller->before;
}

/* 0: the reactor is told, and its answer is the client's; -errno with a text. */
static int call(struct connection *c, struct service *service, uint32_t wait_ms, bool read_only,
		struct quoit_ctl *answer)
{
	const uint64_t cost = caller_cost(service);
	int index = find_index(c);
	struct caller *caller;
	uint64_t left;

	if (index < 0) {
		snprintf(answer->text, sizeof answer->text,
			 "a session calls at most %u services: close some", QUOIT_MAX_SERVICES);
		return index;
	}
	if (services_charge(c->control, c->uid, cost, &left) < 0) {
		snprintf(answer->text, sizeof answer->text,
			 "calling a service needs %llu KiB of %llu left; close sessions",
			 (unsigned long long)cost >> 10, (unsigned long long)left >> 10);
		return -EDQUOT;
	}
	caller = caller_new(c, service, (uint32_t)index, wait_ms, read_only);
	if (!caller) {
		services_return(c->control, c->uid, cost);
		snprintf(answer->text, sizeof answer->text, "quoitd has no memory for a caller");
		return -ENOMEM;
	}
	append(service, caller);
	c->callers[index] = caller;
	mailbox_send(
		&caller->reactor->inbox,
		&(struct mail){.type = MAIL_CALLER_ADD, .session = c->session, .caller = caller});
	return 0;
}

static void refuse(struct connection *c, const struct quoit_ctl *m)
{
	connection_reply_result(c, m->type, m->seq, -ENOENT,
				"nobody serves '%.31s' of uid %u, or uid %u may not call it",
				m->service.name, services_user(c, m->service.uid), c->uid);
}

static bool seeks(const struct connection *c)
{
	return c->pending == QUOIT_CTL_SERVICE && c->seeks_until_ns;
}

/* A reply that cannot be sent ends the connection, which has then stopped already. */
void services_hung_up(struct connection *c)
{
	if (!seeks(c))
		return;
	c->pending = 0;
	c->seeks_until_ns = 0;
	c->control->services.seekers--;
}

static bool is_for_reading(const struct quoit_ctl *m)
{
	return m->type == QUOIT_CTL_SYNC && m->sync.flags & QUOIT_SYNC_READ_ONLY;
}

static void fill_opened(const struct caller *caller, struct quoit_ctl *ret)
{
	const struct named_tensor *t = caller->service->object->tensor;

	ret->sync.number = caller->index;
	if (!t)
		return;
	ret->sync.dtype = t->dtype;
	memcpy(ret->sync.dim, t->dim, sizeof ret->sync.dim);
}

static void tell_opened(struct connection *c, const struct caller *caller, uint16_t type,
			uint32_t seq)
{
	struct quoit_ctl reply = {.type = type, .seq = seq};

	if (type != QUOIT_CTL_SERVICE) {
		fill_opened(caller, &reply);
	} else {
		memcpy(reply.service.name, caller->service->name, sizeof reply.service.name);
		reply.service.uid = caller->service->uid;
		reply.service.number = caller->index;
	}
	connection_reply(c, &reply, NULL, 0);
}

void services_attach(struct connection *c, struct service *service, uint32_t wait_ms,
		     const struct quoit_ctl *m)
{
	struct quoit_ctl reply = {.type = m->type, .seq = m->seq};
	struct caller *same = services_same(c, service);

	if (same) {
		same->opened++;
		tell_opened(c, same, m->type, m->seq);
		return;
	}
	reply.result = call(c, service, wait_ms, is_for_reading(m), &reply);
	if (reply.result < 0) {
		connection_reply(c, &reply, NULL, 0);
		return;
	}
	c->pending = m->type;
	c->pending_seq = m->seq;
}

/* Answer, if something has the name that the client may use; false: not yet. */
static bool answer(struct connection *c, const struct quoit_ctl *m)
{
	struct service *service =
		services_find(c->control, services_user(c, m->service.uid), m->service.name);

	if (!service || !(service->object || service_is_served(service)) ||
	    !services_may_call(c, service))
		return false;
	services_hung_up(c); /* it seeks no more */
	if (service->object)
		connection_reply_result(c, m->type, m->seq, -EINVAL, "'%s' is a %s, not a service",
					service->name, object_kind(service->object->kind));
	else
		services_attach(c, service, m->service.wait_ms, m);
	return true;
}

/* Only now may the client call: before, the reactor would not know the service's number. */
void services_answer_open(struct connection *c, const struct mail *m)
{
	const uint16_t type = c->pending;

	c->pending = 0;
	if (c->state != CONNECTION_GONE)
		tell_opened(c, c->callers[m->result], type, c->pending_seq);
}

void services_open(struct connection *c, const struct quoit_ctl *m)
{
	char text[QUOIT_TEXT_BYTES];

	if (services_check_name(m->service.name, text, sizeof text) < 0) {
		connection_reply_result(c, m->type, m->seq, -EINVAL, "%s", text);
		return;
	}
	if (m->service.wait_ms > QUOIT_SERVICE_MOST_MS ||
	    m->service.reply_ms > QUOIT_SERVICE_MOST_MS) {
		connection_reply_result(c, m->type, m->seq, -EINVAL,
					"wait_ms %u, reply_ms %u: allowed are up to %u",
					m->service.wait_ms, m->service.reply_ms,
					QUOIT_SERVICE_MOST_MS);
		return;
	}
	if (answer(c, m))
		return;
	if (!m->service.reply_ms) {
		refuse(c, m);
		return;
	}
	c->pending = m->type;
	c->held = *m;
	c->seeks_until_ns = totals_now_ns() + m->service.reply_ms * UINT64_C(1000000);
	c->control->services.seekers++;
}

void services_advance(struct control *c)
{
	uint64_t now;
	const bool news = c->services.told != c->services.news;

	c->services.told = c->services.news;
	if (!c->services.seekers)
		return;
	now = totals_now_ns();
	for (struct connection *conn = c->connections; conn; conn = conn->next) {
		if (!seeks(conn) || conn->state != CONNECTION_OPEN)
			continue;
		if (!(news && answer(conn, &conn->held)) && now >= conn->seeks_until_ns) {
			services_hung_up(conn);
			refuse(conn, &conn->held);
		}
	}
}

int services_timeout_ms(const struct control *c)
{
	uint64_t first = UINT64_MAX, now = totals_now_ns();

	if (!c->services.seekers)
		return -1;
	for (const struct connection *conn = c->connections; conn; conn = conn->next)
		if (seeks(conn) && conn->state == CONNECTION_OPEN && conn->seeks_until_ns < first)
			first = conn->seeks_until_ns;
	if (first == UINT64_MAX)
		return -1;
	return first <= now ? 0 : (int)((first - now + 999999) / 1000000);
}

/* ---- SERVICE_FUNCTION, SERVICE_CLOSE ---- */

struct caller *services_caller(const struct connection *c, uint32_t number)
{
	struct caller *caller = number < QUOIT_MAX_SERVICES ? c->callers[number] : NULL;

	return caller && caller->opened ? caller : NULL;
}

static void refuse_number(struct connection *c, const struct quoit_ctl *m)
{
	connection_reply_result(c, m->type, m->seq, -EBADF, "the session has no service %u",
				m->service_function.service);
}

void services_find_function(struct connection *c, const struct quoit_ctl *m)
{
	const struct caller *caller = services_caller(c, m->service_function.service);
	struct quoit_ctl reply = {.type = m->type, .seq = m->seq};
	const struct service_functions *f;
	uint32_t count;

	if (!caller) {
		refuse_number(c, m);
		return;
	}
	f = &caller->service->functions;
	count = COUNT_OF(f->count);
	for (uint32_t i = 0; i < count; i++) {
		if (strncmp(f->function[i].name, m->service_function.name, QUOIT_NAME_BYTES) != 0)
			continue;
		reply.service_function.number = i;
		memcpy(reply.service_function.access, f->function[i].row.access,
		       QUOIT_MAX_TENSORS_PER_JOB);
		connection_reply(c, &reply, NULL, 0);
		return;
	}
	connection_reply_result(c, m->type, m->seq, -ENOENT, "service '%s' has no function '%.31s'",
				caller->service->name, m->service_function.name);
}

void services_close(struct connection *c, const struct quoit_ctl *m)
{
	struct caller *caller = services_caller(c, m->service_function.service);

	if (!caller) {
		refuse_number(c, m);
		return;
	}
	if (--caller->opened) {
		connection_reply_result(c, m->type, m->seq, 0, NULL);
		return;
	}
	c->pending = m->type; /* the reactor answers */
	c->pending_seq = m->seq;
	connection_send_mail(c, MAIL_CALLER_CLOSE, caller->index, 0);
}

void caller_free(struct control *c, struct caller *caller)
{
	struct service *service = caller->service;

	take_out(service, caller);
	servers_forget(service, caller);
	if (caller->connection && caller->connection->callers[caller->index] == caller)
		caller->connection->callers[caller->index] = NULL;
	services_return(c, caller->uid, caller_cost(service));
	key_caller_free(caller->keys);
	free(caller);
	service_look(service);
}

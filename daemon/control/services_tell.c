/* SPDX-License-Identifier: MIT */
/* services_tell.c - describes services and their callers, for the tools */
#include "services_private.h"

#include <errno.h>
#include <string.h>

static void fill_service(const struct service *s, struct quoit_service_reply *r)
{
	r->service = s->id;
	memcpy(r->name, s->name, sizeof r->name);
	r->uid = s->uid;
	r->gid = s->gid;
	r->mode = s->mode;
	r->kind = s->object ? s->object->kind : 0;
	for (const struct server *i = s->servers; i; i = i->next) {
		if (atomic_load_explicit(&i->closed, memory_order_relaxed))
			continue;
		r->servers++;
		r->lanes += COUNT_OF(i->lanes);
	}
}

static uint32_t kib_of(uint64_t bytes)
{
	const uint64_t kib = (bytes + 1023) / 1024;

	return kib < UINT32_MAX ? (uint32_t)kib : UINT32_MAX;
}

/* What others do with it is not for everybody who may call it. */
static void fill_counts(const struct service *s, struct quoit_service_reply *r)
{
	r->waiting = COUNT_OF(s->waiting);
	for (const struct caller *i = s->callers; i; i = i->next) {
		r->callers++;
		r->waiting += COUNT_OF(i->waiting);
	}
	r->running = COUNT_OF(s->running);
	r->calls = COUNT_OF(s->calls);
	r->failed = COUNT_OF(s->failed);
	r->again = COUNT_OF(s->again);
	r->ticks = COUNT_OF(s->ticks);
	if (!s->object)
		return;
	r->value = atomic_load_explicit(&s->object->shown_value, memory_order_relaxed);
	r->holder = atomic_load_explicit(&s->object->shown_holder, memory_order_relaxed);
	r->kib = kib_of(atomic_load_explicit(&s->object->shown_bytes, memory_order_relaxed));
}

void services_tell(struct connection *c, const struct quoit_ctl *m)
{
	struct quoit_ctl answer = {.type = m->type, .seq = m->seq};
	const bool all = services_may_look_at_all(c);

	for (const struct service *s = c->control->services.first; s; s = s->next) {
		const bool may_look = all || s->uid == c->uid;

		if (s->id < m->services.service || s->ending ||
		    !(may_look || services_may_call(c, s)))
			continue;
		fill_service(s, &answer.service_reply);
		answer.service_reply.known = may_look;
		if (answer.service_reply.known)
			fill_counts(s, &answer.service_reply);
		connection_reply(c, &answer, NULL, 0);
		return;
	}
	connection_reply_result(c, m->type, m->seq, -ENOENT, "no further service");
}

static void fill_caller(const struct caller *i, struct quoit_caller_reply *r)
{
	uint32_t queued = COUNT_OF(i->queued), out = COUNT_OF(i->running);

	r->service = i->service->id;
	r->caller = i->number;
	r->session = i->session_id;
	r->uid = i->uid;
	r->pid = (uint32_t)i->pid;
	r->waiting = COUNT_OF(i->waiting) + queued;
	r->running = out > queued ? out - queued : 0;
	r->calls = COUNT_OF(i->calls);
	r->failed = COUNT_OF(i->failed);
	r->ticks = COUNT_OF(i->ticks);
	r->wait_ticks = COUNT_OF(i->wait);
	r->longest = COUNT_OF(i->longest);
}

void services_tell_callers(struct connection *c, const struct quoit_ctl *m)
{
	struct quoit_ctl answer = {.type = m->type, .seq = m->seq};
	const bool all = services_may_look_at_all(c);

	for (const struct service *s = c->control->services.first; s; s = s->next)
		for (const struct caller *i = s->id == m->services.service ? s->callers : NULL; i;
		     i = i->next) {
			if (i->number < m->services.caller ||
			    !(all || i->uid == c->uid || s->uid == c->uid))
				continue;
			fill_caller(i, &answer.caller_reply);
			connection_reply(c, &answer, NULL, 0);
			return;
		}
	connection_reply_result(c, m->type, m->seq, -ENOENT, "no further caller");
}

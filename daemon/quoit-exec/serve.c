/* SPDX-License-Identifier: MIT */
/* serve.c - run a module's requests from all channels, one at a time, by their users' shares */
#include "serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <quoit/pause.h>

#include "base/tsc.h"
#include "channel.h"
#include "fair/ledger.h"

/* Looks at all rings before a sleep, about 20 us, the cost of a sleep and a wake-up. */
#define SPIN_LOOKS 500u

/* ---- requests ---- */

static bool fill_call(const struct quoit_exec_request *q, const struct memory *m,
		      struct quoit_exec_call *ret)
{
	*ret = (struct quoit_exec_call){.arg = q->arg, .pieces = 1};
	for (unsigned i = 0; i < 2; i++)
		ret->scalar[i].u = q->scalar[i];
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct quoit_exec_view *v = &q->view[i];
		struct quoit_exec_tensor *t = &ret->tensor[i];

		if (!v->given)
			continue;
		if (v->region >= QUOIT_EXEC_REGIONS || v->offset > m->bytes[v->region])
			return false;
		t->data = m->base[v->region] + v->offset;
		t->dtype = v->dtype;
		memcpy(t->dim, v->dim, sizeof t->dim);
		memcpy(t->stride, v->stride, sizeof t->stride);
	}
	return true;
}

static void run(const struct module *module, const struct quoit_exec_request *q,
		const struct memory *m, struct quoit_exec_answer *a)
{
	struct quoit_exec_call call;

	if (m->err || q->op >= module->api->count || !fill_call(q, m, &call)) {
		a->res = m->err ? m->err : -EPROTO;
		return;
	}
	a->res = module->api->ops[q->op].run(module->state, &call);
	a->field = call.field;
	a->value[0] = call.value[0];
	a->value[1] = call.value[1];
}

static void say_running(struct channels *c, uint64_t what)
{
	__atomic_store_n(&c->words->running[0], what, __ATOMIC_RELAXED);
}

/* ---- turns ---- */

#define NOBODY UINT32_MAX

struct waiting {
	struct quoit_exec_request q;
	uint32_t next; /* the next one of the same user */
};

/* A user's requests, and the module's time that it has used. */
struct claim {
	struct ledger_page page;
	uint32_t head, tail; /* head NOBODY: none waits */
	uint32_t share;
	uint32_t next; /* the next user with requests */
};

struct server {
	struct channels *channels;
	const struct module *module;
	struct waiting *waiting; /* by channel and id */
	uint32_t first;          /* the first user with requests; NOBODY: none waits */
	_Atomic uint64_t clock;  /* fair/ledger.h */
	struct claim claim[QUOIT_EXEC_USERS];
};

static void hold(struct server *s, uint32_t channel, const struct quoit_exec_request *q)
{
	const struct quoit_exec_owner *owner =
		&s->channels->channel[channel].daemon->owner[q->slot];
	uint32_t user = __atomic_load_n(&owner->user, __ATOMIC_RELAXED) % QUOIT_EXEC_USERS;
	uint32_t share = __atomic_load_n(&owner->share, __ATOMIC_RELAXED);
	uint32_t index = channel * QUOIT_EXEC_ENTRIES + q->id;
	struct claim *c = &s->claim[user];

	s->waiting[index] = (struct waiting){*q, NOBODY};
	c->share = share ? share : SHARE_NORMAL;
	ledger_open(&c->page, &s->clock);
	if (c->head == NOBODY) {
		c->head = index;
		c->next = s->first;
		s->first = user;
	} else {
		s->waiting[c->tail].next = index;
	}
	c->tail = index;
}

/* Take out the user's first request. */
static uint32_t release(struct server *s, uint32_t user)
{
	struct claim *c = &s->claim[user];
	uint32_t index = c->head, *link = &s->first;

	c->head = s->waiting[index].next;
	if (c->head != NOBODY)
		return index;
	while (*link != user)
		link = &s->claim[*link].next;
	*link = c->next;
	return index;
}

/* The user with requests that has used least. */
static uint32_t choose(const struct server *s)
{
	uint32_t best = s->first;

	for (uint32_t i = best; i != NOBODY; i = s->claim[i].next)
		if (ledger_lead(&s->claim[i].page, &s->clock) <
		    ledger_lead(&s->claim[best].page, &s->clock))
			best = i;
	return best;
}

/* ---- serving ---- */

static int run_next(struct server *s)
{
	uint32_t user = choose(s), index = release(s, user), channel = index / QUOIT_EXEC_ENTRIES;
	const struct quoit_exec_request *q = &s->waiting[index].q;
	struct channel *c = &s->channels->channel[channel];
	struct quoit_exec_answer a = {.id = q->id, .type = q->type};
	int64_t ticks = (int64_t)tsc_now();
	int err;

	ledger_choose(&s->claim[user].page, &s->clock);
	say_running(s->channels, channel_name(channel, q->id));
	run(s->module, q, &c->slots[q->slot], &a);
	ticks = (int64_t)tsc_now() - ticks;
	channel_count(c, q->slot, ticks);
	ledger_count(&s->claim[user].page, ticks, s->claim[user].share);
	ledger_close(&s->claim[user].page);
	err = channel_answer(c, &a);
	say_running(s->channels, 0);
	return err;
}

/* A session that leaves has no requests waiting. */
static int unmap(struct server *s, uint32_t channel, const struct quoit_exec_request *q)
{
	struct channel *c = &s->channels->channel[channel];
	struct quoit_exec_answer a = {.id = q->id, .type = q->type};
	int err;

	say_running(s->channels, channel_name(channel, QUOIT_EXEC_ASKED));
	memory_unmap(&c->slots[q->slot]);
	err = channel_answer(c, &a);
	say_running(s->channels, 0);
	return err;
}

static int take_channel(struct server *s, uint32_t channel)
{
	struct channel *c = &s->channels->channel[channel];
	int ready = channel_ready(c), err = 0;

	for (int i = 0; i < ready && !err; i++) {
		struct quoit_exec_request q;

		err = channel_take(c, &q);
		if (err)
			break;
		if (q.type == QUOIT_EXEC_UNMAP)
			err = unmap(s, channel, &q);
		else if (q.id >= QUOIT_EXEC_ENTRIES)
			err = -EPROTO;
		else
			hold(s, channel, &q);
	}
	return err ? err : ready;
}

/* Take all requests, and run one.  1: there was something to do; 0: there was not; -errno. */
static int pass(struct server *s)
{
	bool any = false;
	int n;

	for (uint32_t i = 0; i < s->channels->count; i++) {
		n = take_channel(s, i);
		if (n < 0)
			return n;
		any |= n > 0;
	}
	if (s->first == NOBODY)
		return any;
	n = run_next(s);
	return n < 0 ? n : 1;
}

static int loop(struct server *s)
{
	uint32_t looks = 0;

	for (;;) {
		int n = pass(s);

		if (n < 0)
			return n;
		if (n) {
			looks = 0;
		} else if (looks++ < SPIN_LOOKS) {
			quoit_pause();
		} else {
			n = channels_sleep(s->channels, CHANNELS_FOREVER);
			if (n) /* on that socket a module gets only the hang-up */
				return n < 0 ? n : -ECONNRESET;
		}
	}
}

static int open_server(struct server *s, int socket)
{
	int err = channels_open(s->channels, socket);

	s->first = NOBODY;
	for (uint32_t i = 0; i < QUOIT_EXEC_USERS; i++)
		s->claim[i].head = NOBODY;
	if (!err)
		s->waiting =
			calloc((size_t)s->channels->count * QUOIT_EXEC_ENTRIES, sizeof *s->waiting);
	return err || s->waiting ? err : -ENOMEM;
}

int serve(int socket, const struct module *module)
{
	struct server *s = calloc(1, sizeof *s);
	int err = -ENOMEM;

	if (s) {
		s->module = module;
		s->channels = calloc(1, sizeof *s->channels);
	}
	if (s && s->channels) {
		err = open_server(s, socket);
		if (!err)
			err = loop(s);
		channels_close(s->channels);
		free(s->waiting);
		free(s->channels);
	}
	free(s);
	return err == -ECONNRESET ? 0 : err;
}

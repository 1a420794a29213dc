/* SPDX-License-Identifier: MIT */
/* serve.c - requests of all channels, one at a time, in order */
#include "serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"

/* Looks at all rings before it sleeps, about 20 us: about what a sleep and a wake-up cost. */
#define SPIN_LOOKS 500u

/* ---- requests ---- */

static bool fill_call(const struct quoit_exec_request *q, const struct memory *m,
		      struct quoit_exec_call *ret)
{
	*ret = (struct quoit_exec_call){.arg = q->arg};
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

static int serve_request(struct channels *all, uint32_t index, const struct module *module,
			 const struct quoit_exec_request *q)
{
	struct channel *c = &all->channel[index];
	struct quoit_exec_answer a = {.id = q->id, .type = q->type};
	int err;

	if (q->type == QUOIT_EXEC_UNMAP) {
		say_running(all, channel_name(index, QUOIT_EXEC_ASKED));
		memory_unmap(&c->slots[q->slot]);
	} else {
		say_running(all, channel_name(index, q->id));
		run(module, q, &c->slots[q->slot], &a);
	}
	err = channel_answer(c, &a);
	say_running(all, 0);
	return err;
}

/* How many requests were served, or -errno. */
static int serve_channel(struct channels *all, uint32_t index, const struct module *module)
{
	struct channel *c = &all->channel[index];
	int ready = channel_ready(c), err = 0;

	for (int i = 0; i < ready && !err; i++) {
		struct quoit_exec_request q;

		err = channel_take(c, &q);
		if (!err)
			err = serve_request(all, index, module, &q);
	}
	return err ? err : ready;
}

static int serve_all(struct channels *all, const struct module *module)
{
	int served = 0;

	for (uint32_t i = 0; i < all->count; i++) {
		int n = serve_channel(all, i, module);

		if (n < 0)
			return n;
		served += n;
	}
	return served;
}

static int loop(struct channels *all, const struct module *module)
{
	uint32_t looks = 0;

	for (;;) {
		int n = serve_all(all, module);

		if (n < 0)
			return n;
		if (n) {
			looks = 0;
		} else if (looks++ < SPIN_LOOKS) {
			__builtin_ia32_pause();
		} else {
			n = channels_sleep(all, CHANNELS_FOREVER);
			if (n) /* a module hears nothing but the end */
				return n < 0 ? n : -ECONNRESET;
		}
	}
}

int serve(int socket, const struct module *module)
{
	struct channels *all = calloc(1, sizeof *all);
	int err;

	if (!all)
		return -ENOMEM;
	err = channels_open(all, socket);
	if (!err)
		err = loop(all, module);
	channels_close(all);
	free(all);
	return err == -ECONNRESET ? 0 : err;
}

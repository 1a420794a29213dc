/* SPDX-License-Identifier: MIT */
/* team_tensors.c - where the tensors of a call are in this process */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "named.h"
#include "team.h"

/* A tensor with a name has memory of its own, which stays mapped until the call has ended. */
static int use_named(struct quoit_team *t, uint32_t number, char access, struct quoit_exec_call *c,
		     struct shared *ret)
{
	int err;

	if (number >= QUOIT_MAX_SERVICES)
		return -EPROTO;
	err = libquoit_named_use(t->session, number, access != 'R', &ret->base, &ret->bytes);
	if (err)
		snprintf(c->text, sizeof c->text, "%s", quoit_open_text());
	return err == -EPROTO ? -EIO : err; /* of the control socket: no fault of this ring */
}

static int fill(const struct shared *memory, const struct quoit_call_tensor *from,
		struct quoit_exec_tensor *ret)
{
	if (from->place > memory->bytes)
		return -EPROTO;
	ret->data = memory->base + from->place;
	memcpy(ret->dim, from->dim, sizeof ret->dim);
	memcpy(ret->stride, from->stride, sizeof ret->stride);
	ret->dtype = from->dtype;
	return 0;
}

int libquoit_team_fill(struct quoit_team *t, const struct taken *k, struct quoit_exec_call *c,
		       unsigned *ret_named)
{
	*ret_named = 0;
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct quoit_call_tensor *from = &k->entry.tensor[i];
		const char access = k->function->access[i];
		const struct shared *memory = &t->session->shared;
		struct shared named;
		int err = 0;

		c->tensor[i] = (struct quoit_exec_tensor){0};
		if (access == '-' || !from->given)
			continue;
		if (UNLIKELY(from->named)) {
			err = use_named(t, from->named - 1u, access, c, &named);
			*ret_named |= !err << i;
			memory = &named;
		}
		if (!err)
			err = fill(memory, from, &c->tensor[i]);
		if (UNLIKELY(err))
			return err;
	}
	return 0;
}

void libquoit_team_unfill(struct quoit_team *t, const struct taken *k, unsigned named)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (named & 1u << i)
			libquoit_named_give_back(t->session, k->entry.tensor[i].named - 1u);
}

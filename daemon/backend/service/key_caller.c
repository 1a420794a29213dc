/* SPDX-License-Identifier: MIT */
/* key_caller.c - what a session's calls bring to a keyspace and get from there */
#include "key_caller.h"

#include <assert.h>

#include "dense.h"
#include "memory/sigbus_guard.h"
#include "session/extent.h"
#include "session/objects.h"

static uint32_t bytes_of(const struct session *s, const struct job *job, unsigned tensor)
{
	const struct view *v = &s->views[job->view[tensor]];

	return job->tensors & 1u << tensor ? (uint32_t)view_bytes(v) : 0;
}

static struct key_value *take_place(struct key_caller *k)
{
	unsigned i = (unsigned)__builtin_ctz(k->free_values);

	k->free_values &= ~(1u << i);
	return &k->value[i];
}

/* job/rules.c has checked how large they are. */
static void read_tensors(struct session *s, const struct job *job, struct key_words *w)
{
	assert(w->key_bytes <= sizeof w->key && w->after_bytes <= sizeof w->after &&
	       w->value_bytes <= sizeof w->value->bytes);
	if (w->key_bytes)
		dense_read(s, job, 1, w->key);
	if (w->after_bytes)
		dense_read(s, job, 3, w->after);
	if (job->sqe.function == QUOIT_SYNC_PUT && w->value_bytes)
		dense_read(s, job, 2, w->value->bytes);
}

void key_call_begin(struct session *s, const struct job *job, struct service_call *call)
{
	struct key_words *w = call->key;
	struct quoit_error lost;

	w->value = NULL;
	if (object_is_prompt(job->sqe.function))
		w->value = take_place(call->caller->keys);
	/* Tensors of other things' functions are of any size; the home refuses the call. */
	if (!object_has_op(call->caller->service->object, job->sqe.function))
		return;
	w->key_bytes = bytes_of(s, job, 1);
	w->value_bytes = bytes_of(s, job, 2);
	w->after_bytes = bytes_of(s, job, 3);
	read_tensors(s, job, w);
	w->is_lost = sigbus_guard_result(s, job->tensors, job->view, &lost) < 0;
}

void key_call_end(struct service_call *call)
{
	struct key_caller *k = call->caller->keys;

	if (call->key->value)
		k->free_values |= 1u << (call->key->value - k->value);
	call->key->value = NULL;
}

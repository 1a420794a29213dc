/* SPDX-License-Identifier: MIT */
/* call_entry.c - fills in call entries, and checks what returns */
#include "call_entry.h"

#include "session/session_team.h"
#include "session/tensor_bits.h"

static void fill_tensor(const struct session *s, const struct view *v, struct quoit_call_tensor *t)
{
	const struct buffer *b = &s->buffers[v->buffer];

	t->place = b->offset + v->offset;
	t->named = b->place == PLACE_NAMED ? b->named + 1 : 0;
	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++) {
		t->dim[d] = v->dim[d];
		t->stride[d] = v->stride[d];
	}
	t->dtype = v->dtype;
	t->given = 1;
}

void call_entry_fill(const struct session *s, const struct job *job, struct quoit_call_entry *e)
{
	const struct function *f = team_function_of(s, job);

	e->user_data = job->sqe.user_data;
	e->ring = job->ring;
	e->function = job->sqe.function;
	e->arg = job->sqe.arg;
	e->scalar[0] = job->sqe.scalar[0];
	e->scalar[1] = job->sqe.scalar[1];
	for_each_tensor (i, f->row.takes)
		if (job->tensors & 1u << i)
			fill_tensor(s, &s->views[job->view[i]], &e->tensor[i]);
		else
			e->tensor[i] = (struct quoit_call_tensor){0};
}

int call_return_check(const struct quoit_sqe *sqe, struct fault *f)
{
	const uint64_t known = QUOIT_OP_RETURN | (uint64_t)QUOIT_SQE_QUIET << 8;
	const uint64_t unknown = *(const uint64_t *)sqe & ~known;

	return unknown ? refuse(f, -EINVAL, QUOIT_FIELD_FLAGS, unknown, 0) : 0;
}

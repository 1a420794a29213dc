/* SPDX-License-Identifier: MIT */
/* small.c - short element-wise jobs that ask for nothing unusual */
#include "small.h"

#include "guard.h"
#include "memory.h"
#include "shape.h"
#include "validate.h"

/* A third tensor where the operation has one, or the scalar where it may stand for it. */
static bool arg_fits(const struct op_row *row, const struct quoit_sqe *sqe)
{
	bool third = sqe->tensor[2] != QUOIT_NO_TENSOR;

	if (sqe->tensor[3] != QUOIT_NO_TENSOR)
		return false;
	if (!sqe->arg)
		return third == ((row->takes & 1u << 2) != 0);
	return !third && row->takes & ~row->needs & 1u << 2 &&
	       (sqe->arg | QUOIT_EW_REVERSE) == (QUOIT_EW_SCALAR | QUOIT_EW_REVERSE) &&
	       sqe->arg & QUOIT_EW_SCALAR;
}

static const struct view *find(const struct session *s, uint32_t handle)
{
	uint32_t view = session_view(s, handle);

	return view == NIL ? NULL : &s->views[view];
}

/* All of a buffer that no open job touches. */
static bool output_fits(const struct session *s, const struct view *v, const struct op_row *row)
{
	const struct buffer *b;

	if (!v || !v->dense || v->elements > OP_SHORT || !(row->types & 1u << v->dtype))
		return false;
	b = &s->buffers[v->buffer];
	return v->hi - v->lo == b->size && (b->writers & b->readers) == NIL;
}

/* Like the output, in another buffer, which has its bytes and is not being written. */
static bool input_fits(const struct session *s, const struct view *v, const struct view *out)
{
	const struct buffer *b;

	if (!v || !v->dense || v->dtype != out->dtype || v->buffer == out->buffer ||
	    !shape_same_dims(v, out))
		return false;
	b = &s->buffers[v->buffer];
	return b->zeroed && b->writers == NIL;
}

bool small_fits(const struct session *s, const struct quoit_sqe *sqe, struct small_job *ret)
{
	const struct op_impl *impl = ops_find(sqe->opcode);

	if (!impl || !impl->run_short || !validate_is_plain(sqe) || s->any_poison)
		return false;
	ret->impl = impl;
	ret->row = optable_find(sqe->opcode);
	if (ret->row->absent || !arg_fits(ret->row, sqe))
		return false;
	ret->t[0] = find(s, sqe->tensor[0]);
	if (!output_fits(s, ret->t[0], ret->row))
		return false;
	ret->out = &s->buffers[ret->t[0]->buffer];
	ret->t[1] = find(s, sqe->tensor[1]);
	ret->t[2] = sqe->tensor[2] ? find(s, sqe->tensor[2]) : NULL;
	return input_fits(s, ret->t[1], ret->t[0]) &&
	       (!sqe->tensor[2] || input_fits(s, ret->t[2], ret->t[0]));
}

static void *data_of(const struct session *s, const struct view *v)
{
	return buffer_data(s, &s->buffers[v->buffer]) + v->offset;
}

bool small_run(struct session *s, const struct quoit_sqe *sqe, const struct small_job *job)
{
	struct op_args args;
	void *data[OP_SHORT_TENSORS];
	struct session *outer;

	if (!job->out->reserved && !memory_take_one(s, job->out))
		return false;
	args.opcode = sqe->opcode;
	args.arg = sqe->arg;
	args.scalar[0].u = sqe->scalar[0];
	args.scalar[1].u = sqe->scalar[1];
	data[0] = data_of(s, job->t[0]);
	data[1] = data_of(s, job->t[1]);
	data[2] = job->t[2] ? data_of(s, job->t[2]) : NULL;
	outer = guard_enter(s);
	job->impl->run_short(&args, data, job->t[0]->dtype, (uint32_t)job->t[0]->elements);
	guard_leave(outer);
	if (guard_has_hit(s))
		return false;
	job->out->zeroed = true;
	return true;
}

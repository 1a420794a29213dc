/* SPDX-License-Identifier: MIT */
/* validate.c - words of an SQE that mean the same for every job, and tensors' overlaps */
#include "validate.h"

#include <errno.h>

#include "optable.h"
#include "shape.h"

static int refuse(struct fault *f, int code, uint8_t field, uint64_t found, uint64_t allowed)
{
	*f = (struct fault){.code = code, .field = field, .value = {found, allowed}};
	return code;
}

static int check_header(const struct quoit_sqe *sqe, struct fault *f)
{
	uint8_t flags = sqe->flags;

	if (flags & ~QUOIT_SQE_FLAGS)
		return refuse(f, -EINVAL, QUOIT_FIELD_FLAGS, flags, QUOIT_SQE_FLAGS);
	if (flags & QUOIT_SQE_AFTER_ALL && sqe->opcode != QUOIT_OP_NOP)
		return refuse(f, -EINVAL, QUOIT_FIELD_FLAGS, flags,
			      QUOIT_SQE_FLAGS & ~QUOIT_SQE_AFTER_ALL);
	if (sqe->lap)
		return refuse(f, -EINVAL, QUOIT_FIELD_LAP, sqe->lap, 0);
	return 0;
}

static int check_words(const struct quoit_sqe *sqe, struct fault *f)
{
	uint64_t reserved;

	if (sqe->device)
		return refuse(f, -ENODEV, QUOIT_FIELD_DEVICE, sqe->device, 0);
	if (!(sqe->flags & QUOIT_SQE_LINK) != !sqe->link)
		return refuse(f, -EINVAL, QUOIT_FIELD_LINK, sqe->link, sqe->flags & QUOIT_SQE_LINK);
	if (sqe->priority >= QUOIT_PRIO_NR)
		return refuse(f, -EINVAL, QUOIT_FIELD_PRIORITY, sqe->priority, QUOIT_PRIO_NR - 1);
	reserved = sqe->word[5] & ~(uint64_t)UINT8_MAX; /* all but priority */
	if (reserved)
		return refuse(f, -EINVAL, QUOIT_FIELD_RESERVED, reserved, 0);
	return 0;
}

/* Resolve the handles; how each tensor is accessed comes from the operation's row. */
static int check_tensors(const struct session *s, const struct quoit_sqe *sqe,
			 const struct op_row *row, struct plan *p, struct fault *f)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		uint8_t bit = (uint8_t)(1u << i);
		uint32_t handle = sqe->tensor[i];

		if (!(row->takes & bit) && handle)
			return refuse(f, -EINVAL, (uint8_t)(QUOIT_FIELD_TENSOR0 + i), handle, 0);
		if (!handle && !(row->needs & bit))
			continue;
		p->view[i] = session_view(s, handle);
		if (p->view[i] == NIL)
			return refuse(f, -EBADF, (uint8_t)(QUOIT_FIELD_TENSOR0 + i), handle,
				      s->max_tensors);
		p->tensors |= bit;
	}
	p->reads = p->tensors & row->reads;
	p->writes = p->tensors & row->writes;
	return 0;
}

static int same_view(const struct view *a, const struct view *b)
{
	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++)
		if (a->dim[d] != b->dim[d] || (a->dim[d] > 1 && a->stride[d] != b->stride[d]))
			return 0;
	return a->offset == b->offset && a->dtype == b->dtype;
}

/*
 * An output may be the very view of an input where elements are computed one by
 * one; any other overlap has no defined result and is refused.
 */
static int check_overlap(const struct session *s, const struct op_row *row, const struct plan *p,
			 struct fault *f)
{
	int elementwise = row->shape == SHAPE_SAME || row->shape == SHAPE_SELECT ||
			  row->shape == SHAPE_COMPARE || row->shape == SHAPE_LOSS;

	for (unsigned w = 0; w < QUOIT_MAX_TENSORS_PER_JOB; w++) {
		const struct view *out;

		if (!(p->writes & 1u << w))
			continue;
		out = &s->views[p->view[w]];
		if (!out->disjoint)
			return refuse(f, -EINVAL, QUOIT_FIELD_STRIDE, w, 0);
		for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
			const struct view *in;

			if (i == w || !(p->tensors & 1u << i))
				continue;
			in = &s->views[p->view[i]];
			if (in->buffer != out->buffer || in->lo >= out->hi || out->lo >= in->hi)
				continue;
			if (!elementwise || p->writes & 1u << i || !same_view(in, out))
				return refuse(f, -EINVAL, (uint8_t)(QUOIT_FIELD_TENSOR0 + i),
					      in->lo, out->lo);
		}
	}
	return 0;
}

int validate_job(const struct session *s, const struct quoit_sqe *sqe, struct plan *ret,
		 struct fault *f)
{
	const struct op_row *row = optable_find(sqe->opcode);
	int err;

	ret->tensors = ret->reads = ret->writes = 0;
	ret->elements = ret->cost = 0;
	if (!row || row->flags & OP_CONTROL)
		return refuse(f, -EINVAL, QUOIT_FIELD_OPCODE, sqe->opcode, 0);
	err = check_header(sqe, f);
	if (!err)
		err = check_words(sqe, f);
	if (!err)
		err = check_tensors(s, sqe, row, ret, f);
	if (!err)
		err = shape_check(s, sqe, row, ret, f);
	if (!err)
		err = check_overlap(s, row, ret, f);
	if (!err && ret->cost > VALIDATE_MAX_NS)
		return refuse(f, -E2BIG, QUOIT_FIELD_DIM, ret->cost, VALIDATE_MAX_NS);
	return err;
}

/* A control operation may carry QUIET and nothing else. */
static int check_control(const struct quoit_sqe *sqe, struct fault *f)
{
	int err = check_header(sqe, f);

	if (!err && sqe->flags & ~QUOIT_SQE_QUIET)
		err = refuse(f, -EINVAL, QUOIT_FIELD_FLAGS, sqe->flags, QUOIT_SQE_QUIET);
	return err;
}

/* The handle of a tensor to be: its index is in range and free. */
static int check_new_handle(const struct session *s, uint32_t handle, struct fault *f)
{
	uint32_t index = handle & QUOIT_HANDLE_INDEX_MASK;

	if (handle == QUOIT_NO_TENSOR || index == 0 || index >= s->max_tensors)
		return refuse(f, -EBADF, QUOIT_FIELD_TENSOR0, handle, s->max_tensors);
	if (s->tensors[index].handle)
		return refuse(f, -EEXIST, QUOIT_FIELD_TENSOR0, handle, s->tensors[index].handle);
	return 0;
}

int validate_create(const struct session *s, const struct quoit_sqe *sqe, struct view *ret,
		    uint64_t *ret_size, struct fault *f)
{
	uint8_t known = QUOIT_CREATE_DTYPE_MASK | QUOIT_CREATE_PINNED | QUOIT_CREATE_ARENA;
	int arena = sqe->arg & QUOIT_CREATE_ARENA;
	int err = check_control(sqe, f);

	if (!err && sqe->device)
		err = refuse(f, -ENODEV, QUOIT_FIELD_DEVICE, sqe->device, 0);
	if (!err && (sqe->arg & ~known || (arena && sqe->arg & QUOIT_CREATE_PINNED)))
		err = refuse(f, -EINVAL, QUOIT_FIELD_ARG, sqe->arg, known);
	if (!err && sqe->base[1])
		err = refuse(f, -EINVAL, QUOIT_FIELD_TENSOR1, sqe->base[1], 0);
	if (!err && !arena && sqe->offset)
		err = refuse(f, -EINVAL, QUOIT_FIELD_OFFSET, sqe->offset, 0);
	if (!err)
		err = check_new_handle(s, sqe->base[0], f);
	if (!err)
		err = shape_make(ret, sqe->arg & QUOIT_CREATE_DTYPE_MASK, sqe, 0, UINT64_MAX, 1, f);
	if (err)
		return err;
	*ret_size = ret->hi;
	if (arena) {
		uint32_t element = shape_dtype_size(ret->dtype);

		if (sqe->offset > s->arena_bytes || ret->hi > s->arena_bytes - sqe->offset)
			return refuse(f, -EINVAL, QUOIT_FIELD_OFFSET, sqe->offset, s->arena_bytes);
		if (sqe->offset % element)
			return refuse(f, -EINVAL, QUOIT_FIELD_OFFSET, sqe->offset, element);
	}
	return 0;
}

int validate_view(const struct session *s, const struct quoit_sqe *sqe, struct view *ret,
		  struct fault *f)
{
	const struct view *base;
	uint64_t size, first;
	uint32_t view;
	int err = check_control(sqe, f);

	if (!err && sqe->device)
		err = refuse(f, -EINVAL, QUOIT_FIELD_DEVICE, sqe->device, 0);
	if (!err && sqe->arg)
		err = refuse(f, -EINVAL, QUOIT_FIELD_ARG, sqe->arg, 0);
	if (!err)
		err = check_new_handle(s, sqe->base[0], f);
	if (err)
		return err;
	view = session_view(s, sqe->base[1]);
	if (view == NIL)
		return refuse(f, -EBADF, QUOIT_FIELD_TENSOR1, sqe->base[1], s->max_tensors);
	base = &s->views[view];
	size = s->buffers[base->buffer].size;
	/* Modulo 2^64: a tensor that steps backwards has elements before its first. */
	first = base->offset + sqe->offset;
	if (first > size)
		return refuse(f, -EINVAL, QUOIT_FIELD_OFFSET, sqe->offset, size - base->offset);
	err = shape_make(ret, base->dtype, sqe, first, size, 0, f);
	ret->buffer = base->buffer;
	return err;
}

int validate_free(const struct session *s, const struct quoit_sqe *sqe, uint32_t *ret_view,
		  struct fault *f)
{
	uint64_t rest = sqe->base[1] | sqe->offset;
	int err = check_control(sqe, f);

	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++)
		rest |= sqe->dim[d] | (uint32_t)sqe->stride[d];
	if (!err && (rest | sqe->device | sqe->arg))
		err = refuse(f, -EINVAL, QUOIT_FIELD_RESERVED, rest, 0);
	if (err)
		return err;
	*ret_view = session_view(s, sqe->base[0]);
	if (*ret_view == NIL)
		return refuse(f, -EBADF, QUOIT_FIELD_TENSOR0, sqe->base[0], s->max_tensors);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* validate_tensor.c - checks CREATE, VIEW and FREE */
#include <errno.h>

#include "session/named_tensor.h"
#include "session/objects.h"
#include "shape.h"
#include "sqe_header.h"
#include "validate.h"

/* A control operation may carry QUIET and no other flag. */
static int check_control(const struct quoit_sqe *sqe, struct fault *f)
{
	int err = sqe_header_is_plain(sqe) ? 0 : sqe_header_check(sqe, f);

	if (!err && sqe->flags & ~QUOIT_SQE_QUIET)
		err = refuse(f, -EINVAL, QUOIT_FIELD_FLAGS, sqe->flags, QUOIT_SQE_QUIET);
	return err;
}

/* Check the handle for a new tensor: its index is in range and free. */
static int check_new_handle(const struct session *s, uint32_t handle, struct fault *f)
{
	uint32_t index = handle & QUOIT_HANDLE_INDEX_MASK;

	if (index == 0 || index >= s->max_tensors)
		return refuse(f, -EBADF, QUOIT_FIELD_TENSOR0, handle, s->max_tensors);
	if (s->tensors[index].handle)
		return refuse(f, -EEXIST, QUOIT_FIELD_TENSOR0, handle, s->tensors[index].handle);
	return 0;
}

/* Check all of a CREATE but its handle and shape; most are plain and pass at the first test. */
static int check_create(const struct session *s, const struct quoit_sqe *sqe, struct fault *f)
{
	const uint8_t places =
		QUOIT_CREATE_PINNED | QUOIT_CREATE_ARENA | QUOIT_CREATE_SHARED | QUOIT_CREATE_NAMED;
	uint8_t known = QUOIT_CREATE_DTYPE_MASK | places, place = sqe->arg & places;
	int err;

	if (sqe_header_is_plain(sqe) && sqe->arg <= QUOIT_CREATE_DTYPE_MASK && !sqe->base[1] &&
	    !sqe->offset)
		return 0;
	err = check_control(sqe, f);
	if (!err && sqe->device > s->devices)
		err = refuse(f, -ENODEV, QUOIT_FIELD_DEVICE, sqe->device, s->devices);
	if (!err && sqe->device)
		known = QUOIT_CREATE_DTYPE_MASK;
	if (!err && (sqe->arg & ~known || place & (place - 1)))
		err = refuse(f, -EINVAL, QUOIT_FIELD_ARG, sqe->arg, known);
	if (!err && !(sqe->arg & QUOIT_CREATE_NAMED) && sqe->base[1])
		err = refuse_tensor(f, -EINVAL, 1, QUOIT_MISFIT_UNUSED, 0);
	if (!err && !(sqe->arg & QUOIT_CREATE_ARENA) && sqe->offset)
		err = refuse(f, -EINVAL, QUOIT_FIELD_OFFSET, sqe->offset, 0);
	return err;
}

/* The client's own bytes must be within its arena, and aligned there. */
static int check_arena(const struct session *s, const struct quoit_sqe *sqe, const struct view *v,
		       struct fault *f)
{
	const uint64_t bytes = s->arena_bytes - s->shared_bytes;
	uint32_t element = op_dtype_size(v->dtype);

	if (sqe->offset > bytes || v->hi > bytes - sqe->offset)
		return refuse(f, -EINVAL, QUOIT_FIELD_OFFSET, sqe->offset, bytes);
	if (sqe->offset % element)
		return refuse(f, -EINVAL, QUOIT_FIELD_OFFSET, sqe->offset, element);
	return 0;
}

/* It must be a tensor that the session has open, and of that one's type. */
static int check_named(const struct session *s, const struct quoit_sqe *sqe,
		       const struct named_tensor **ret, struct fault *f)
{
	const struct caller *c = session_named(s, sqe->base[1]);
	const uint8_t dtype = sqe->arg & QUOIT_CREATE_DTYPE_MASK;

	if (!c)
		return refuse(f, -EBADF, QUOIT_FIELD_NAMED, sqe->base[1], QUOIT_MAX_SERVICES);
	*ret = c->service->object->tensor;
	if (dtype != (*ret)->dtype)
		return refuse(f, -EINVAL, QUOIT_FIELD_ARG, dtype, (*ret)->dtype);
	return 0;
}

/* Of a buffer that the session only reads, a view is never written. */
static void limit_view(struct view *v, bool read_only)
{
	v->plain = v->dense && !v->device && !read_only;
	v->writable &= !read_only;
}

static bool has_strides(const struct quoit_sqe *sqe)
{
	return sqe->stride[0] | sqe->stride[1] | sqe->stride[2] | sqe->stride[3];
}

int validate_create(const struct session *s, const struct quoit_sqe *sqe, struct view *ret,
		    struct fault *f)
{
	uint8_t dtype = sqe->arg & QUOIT_CREATE_DTYPE_MASK;
	const struct named_tensor *named = NULL;
	int err = check_create(s, sqe, f);

	if (!err)
		err = check_new_handle(s, sqe->base[0], f);
	if (!err && sqe->arg & QUOIT_CREATE_NAMED)
		err = check_named(s, sqe, &named, f);
	if (err)
		return err;
	if (has_strides(sqe))
		err = shape_make(ret, dtype, sqe, 0, named ? named->bytes : UINT64_MAX, f);
	else if (named)
		err = shape_make_packed_at(ret, dtype, sqe->dim, 0, named->bytes, f);
	else
		err = shape_make_packed(ret, dtype, sqe->dim, f);
	if (!err && sqe->arg & QUOIT_CREATE_ARENA)
		err = check_arena(s, sqe, ret, f);
	ret->device = sqe->device;
	limit_view(ret, named && session_named(s, sqe->base[1])->read_only);
	return err;
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
	if (has_strides(sqe))
		err = shape_make(ret, base->dtype, sqe, first, size, f);
	else
		err = shape_make_packed_at(ret, base->dtype, sqe->dim, first, size, f);
	ret->device = base->device;
	limit_view(ret, s->buffers[base->buffer].read_only);
	ret->buffer = base->buffer;
	return err;
}

static bool says_more_than_handle(const struct quoit_sqe *sqe)
{
	const uint64_t *word = sqe->word;

	return sqe->arg | sqe->device | sqe->base[1] | word[1] | word[2] | word[3] | word[4] |
	       word[5];
}

int validate_free(const struct session *s, const struct quoit_sqe *sqe, uint32_t *ret_view,
		  struct fault *f)
{
	int err = sqe_header_is_plain(sqe) ? 0 : check_control(sqe, f);

	if (err)
		return err;
	if (says_more_than_handle(sqe))
		return refuse(f, -EINVAL, QUOIT_FIELD_RESERVED, 1, 0);
	*ret_view = session_view(s, sqe->base[0]);
	if (*ret_view == NIL)
		return refuse(f, -EBADF, QUOIT_FIELD_TENSOR0, sqe->base[0], s->max_tensors);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* tensor.c - create, view and free tensors: their handles and the jobs that bind these */
#include <errno.h>
#include <string.h>

#include "mine.h"
#include "refusal.h"
#include "region.h"
#include "slot.h"

const struct tensor_record *libquoit_tensor_find(const struct quoit_session *s, quoit_tensor t)
{
	uint32_t index = t & QUOIT_HANDLE_INDEX_MASK;

	if (t == QUOIT_NO_TENSOR || index >= s->info.max_tensors || s->tensors[index].handle != t)
		return NULL;
	return &s->tensors[index];
}

/* A shape as it stands in an SQE: dims, then strides, two to a word. */
struct shape_words {
	uint64_t pair[4];
};

SLOT_INLINE struct shape_words shape_words(const struct quoit_shape *s)
{
	return (struct shape_words){{slot_pair(&s->dim[0]), slot_pair(&s->dim[2]),
				     slot_pair(&s->stride[0]), slot_pair(&s->stride[2])}};
}

/* Write the words of a CREATE or VIEW; of: the tensor that is viewed. */
SLOT_INLINE void put_binding(struct quoit_ring *q, uint32_t index, uint64_t header, uint32_t handle,
			     quoit_tensor of, struct shape_words shape, uint64_t offset)
{
	uint64_t *to = slot_words(q, index);

	to[0] = header;
	to[1] = slot_user_data(q, index, 0);
	to[2] = handle | (uint64_t)of << 32;
#pragma GCC unroll 4
	for (unsigned i = 0; i < 4; i++)
		to[3 + i] = shape.pair[i];
	to[7] = offset;
	slot_done(q, index);
}

static quoit_tensor refuse_handle(struct quoit_ring *q, uint8_t dtype)
{
	if (!libquoit_is_mine(q->mine))
		libquoit_refuse_child(q);
	else if (dtype >= QUOIT_DTYPE_NR)
		libquoit_refuse(q, -EINVAL, "unknown element type %u: allowed are 0 to %u", dtype,
				QUOIT_DTYPE_NR - 1);
	else
		libquoit_refuse(
			q, -ENOMEM,
			"the session may have %u tensors, and all are alive: free some, or ask for "
			"more (quoit_open_params.max_tensors)",
			q->session->info.max_tensors - 1);
	return libquoit_unmade_refused(q);
}

/* As in its record.  of: of a view, a living tensor; of what has a name, that one's number. */
SLOT_INLINE uint8_t named_number(const struct quoit_session *s, bool is_create, uint8_t arg,
				 uint32_t of)
{
	if (!is_create)
		return s->tensors[of & QUOIT_HANDLE_INDEX_MASK].named;
	return arg & QUOIT_CREATE_NAMED ? (uint8_t)(of + 1) : 0;
}

/* Put a CREATE or VIEW under a new handle.  arg has no type: a view gets it from its buffer. */
SLOT_INLINE quoit_tensor bind_words(struct quoit_ring *q, uint8_t dtype, struct shape_words shape,
				    uint8_t opcode, uint8_t device, uint8_t arg, quoit_tensor of,
				    uint64_t offset)
{
	bool is_create = opcode == QUOIT_OP_CREATE;
	struct tensor_record *record;
	uint32_t sq_index, index, handle;

	if (UNLIKELY(!libquoit_is_mine(q->mine) || dtype >= QUOIT_DTYPE_NR ||
		     !libquoit_handle_take(&q->handles, q->sq.cached_head, &index)))
		return refuse_handle(q, dtype);
	if (UNLIKELY(slot_take(q, &sq_index))) {
		libquoit_handle_untake(&q->handles);
		return libquoit_unmade_refused(q);
	}
	record = &q->session->tensors[index];
	handle = (uint32_t)++record->generation << QUOIT_HANDLE_INDEX_BITS | index;
	put_binding(q, sq_index,
		    slot_header(opcode, 0, is_create ? arg | dtype : arg) | (uint64_t)device << 16,
		    handle, of, shape, offset);
	record->handle = handle;
	record->dense = !(shape.pair[2] | shape.pair[3]);
	record->named = named_number(q->session, is_create, arg, of);
	record->shape.dtype = dtype;
	memcpy(&record->shape.dim[0], &shape.pair[0], sizeof shape.pair[0]);
	memcpy(&record->shape.dim[2], &shape.pair[1], sizeof shape.pair[1]);
	memcpy(&record->shape.stride[0], &shape.pair[2], sizeof shape.pair[2]);
	memcpy(&record->shape.stride[2], &shape.pair[3], sizeof shape.pair[3]);
	return handle;
}

/*
 * Were dims left out?  Then a dim before or behind the given ones is 0 instead of 1.  A tensor that
 * is empty on purpose has 0 rows or 0 columns.
 */
static bool has_left_out(const uint32_t dim[QUOIT_MAX_DIMS])
{
	return !dim[0] || !dim[1] || (!dim[2] && !dim[3] && (dim[0] > 1 || dim[1] > 1));
}

static quoit_tensor bind(struct quoit_ring *q, const struct quoit_shape *shape, uint8_t opcode,
			 uint8_t device, uint8_t arg, quoit_tensor of, uint64_t offset)
{
	if (UNLIKELY(has_left_out(shape->dim))) {
		libquoit_refuse(
			q, -EINVAL,
			"dims are %u, %u, %u, %u: leading dims that are not used must be 1; an "
			"empty tensor has 0 rows (dim 2) or columns (dim 3)",
			shape->dim[0], shape->dim[1], shape->dim[2], shape->dim[3]);
		return libquoit_unmade_refused(q);
	}
	return bind_words(q, shape->dtype, shape_words(shape), opcode, device, arg, of, offset);
}

#define PLACES (QUOIT_CREATE_PINNED | QUOIT_CREATE_SHARED)

static quoit_tensor refuse_create(struct quoit_ring *q, unsigned flags, unsigned device)
{
	if (flags & 0xff & ~PLACES)
		libquoit_refuse(q, -EINVAL,
				"unknown flags %#x: allowed are %#x (QUOIT_CREATE_PINNED, "
				"QUOIT_CREATE_SHARED) and QUOIT_CREATE_ON",
				flags & 0xff & ~PLACES, PLACES);
	else if ((flags & PLACES) == PLACES)
		libquoit_refuse(q, -EINVAL,
				"a tensor is in the pinned or in the shared region, not in both");
	else if (flags & QUOIT_CREATE_SHARED && !q->session->info.shared_bytes)
		libquoit_refuse(q, -ENOMEM,
				"the session has no shared region: ask for one "
				"(quoit_open_params.shared_bytes)");
	else if (device > q->session->info.devices)
		libquoit_refuse(q, -ENODEV, "there is no device %u: the session has %u devices",
				device, q->session->info.devices);
	else
		libquoit_refuse(q, -EINVAL, "%s memory must be on the host, not on device %u",
				flags & QUOIT_CREATE_PINNED ? "pinned" : "shared", device);
	return libquoit_unmade_refused(q);
}

quoit_tensor quoit_create(struct quoit_ring *q, const struct quoit_shape *shape, unsigned flags)
{
	unsigned place = flags & PLACES;
	unsigned device = flags >> 8 ? (flags >> 8) - 1 : place ? 0 : q->device;

	if ((flags & 0xff & ~PLACES) || place == PLACES || device > q->session->info.devices ||
	    (device && place) || (place == QUOIT_CREATE_SHARED && !q->session->info.shared_bytes))
		return refuse_create(q, flags, device);
	return bind(q, shape, QUOIT_OP_CREATE, (uint8_t)device, (uint8_t)flags, QUOIT_NO_TENSOR, 0);
}

int quoit_use_device(struct quoit_ring *q, unsigned device)
{
	if (!libquoit_is_mine(q->mine))
		return libquoit_refuse_child(q);
	if (device > q->session->info.devices) {
		struct quoit_device_desc none;

		/* sets quoit_open_text, which says why */
		(void)quoit_query_device(q->session, device, &none);
		return libquoit_refuse(q, -ENODEV, "%s", quoit_open_text());
	}
	q->device = (uint8_t)device;
	return 0;
}

quoit_tensor quoit_create_vector(struct quoit_ring *q, enum quoit_dtype dtype, uint32_t n)
{
	return quoit_create_matrix(q, dtype, 1, n);
}

quoit_tensor quoit_create_matrix(struct quoit_ring *q, enum quoit_dtype dtype, uint32_t rows,
				 uint32_t cols)
{
	const struct shape_words shape = {{1 | (uint64_t)1 << 32, rows | (uint64_t)cols << 32}};

	/* Most tensors are made here, without a shape in memory. */
	return bind_words(q, (uint8_t)dtype, shape, QUOIT_OP_CREATE, q->device, 0, QUOIT_NO_TENSOR,
			  0);
}

quoit_tensor quoit_create_in(struct quoit_ring *q, const struct quoit_shape *shape, void *memory)
{
	const struct quoit_session *s = q->session;
	uint64_t offset = (uint64_t)((uint8_t *)memory - arena_base(s));

	if (offset >= libquoit_arena_bytes(s)) {
		libquoit_refuse(q, -EINVAL,
				"the memory must be from the session's arena (quoit_alloc)");
		return libquoit_unmade_refused(q);
	}
	return bind(q, shape, QUOIT_OP_CREATE, 0, QUOIT_CREATE_ARENA, QUOIT_NO_TENSOR, offset);
}

quoit_tensor libquoit_tensor_attach(struct quoit_ring *q, const struct quoit_shape *shape,
				    uint32_t number)
{
	return bind(q, shape, QUOIT_OP_CREATE, 0, QUOIT_CREATE_NAMED, number, 0);
}

quoit_tensor quoit_view(struct quoit_ring *q, quoit_tensor t, const struct quoit_shape *shape,
			uint64_t offset)
{
	const struct tensor_record *of = libquoit_tensor_find(q->session, t);

	if (!of) {
		libquoit_refuse_tensor(q, -EINVAL, t);
		/* the first reason stays: why t was not made */
		return t == QUOIT_NO_TENSOR ? QUOIT_NO_TENSOR : libquoit_unmade_refused(q);
	}
	if (of->shape.dtype != shape->dtype) {
		libquoit_refuse(q, -EINVAL,
				"the view has type %u, its tensor type %u: both must be the same",
				shape->dtype, of->shape.dtype);
		return libquoit_unmade_refused(q);
	}
	return bind(q, shape, QUOIT_OP_VIEW, 0, 0, t, offset);
}

SLOT_INLINE void put_free(struct quoit_ring *q, uint32_t index, quoit_tensor t)
{
	uint64_t *to = slot_words(q, index);

	to[0] = slot_header(QUOIT_OP_FREE, 0, 0);
	to[1] = slot_user_data(q, index, 0);
	to[2] = t;
#pragma GCC unroll 5
	for (unsigned i = 3; i < 8; i++)
		to[i] = 0;
	slot_done(q, index);
}

int quoit_free(struct quoit_ring *q, quoit_tensor t)
{
	uint32_t index = t & QUOIT_HANDLE_INDEX_MASK, sq_index;
	int err;

	if (!libquoit_is_mine(q->mine))
		return libquoit_refuse_child(q);
	if (!libquoit_tensor_find(q->session, t))
		return libquoit_refuse_tensor(q, -EINVAL, t);
	err = slot_take(q, &sq_index);
	if (err)
		return err;
	put_free(q, sq_index, t);
	q->session->tensors[index].handle = QUOIT_NO_TENSOR;
	if (UNLIKELY(libquoit_handle_give(&q->handles, (struct handle_entry){index, sq_index})) &&
	    quoit_ring_refresh(&q->sq))
		libquoit_handle_trim(&q->handles, q->sq.cached_head, q->sq.next);
	return 0;
}

bool quoit_get_shape(struct quoit_ring *q, quoit_tensor t, struct quoit_shape *ret)
{
	const struct tensor_record *record;

	if (!libquoit_is_mine(q->mine)) {
		(void)libquoit_refuse_child(q);
		return false;
	}
	record = libquoit_tensor_find(q->session, t);
	if (!record) {
		(void)libquoit_refuse_tensor(q, -EINVAL, t);
		return false;
	}
	*ret = record->shape;
	return true;
}

uint64_t libquoit_element_bytes(uint8_t dtype)
{
	static const uint8_t bytes[QUOIT_DTYPE_NR] = {
		[QUOIT_F32] = 4, [QUOIT_F64] = 8,  [QUOIT_I32] = 4,
		[QUOIT_I64] = 8, [QUOIT_BF16] = 2, [QUOIT_F16] = 2};

	return dtype < QUOIT_DTYPE_NR ? bytes[dtype] : 0;
}

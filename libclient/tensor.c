/* SPDX-License-Identifier: MIT */
/* tensor.c - create, view and free tensors: handles and the jobs that bind them */
#include <errno.h>
#include <string.h>

#include "slot.h"

const struct tensor_record *libquoit_tensor_find(const struct quoit_session *s, quoit_tensor t)
{
	uint32_t index = t & QUOIT_HANDLE_INDEX_MASK;

	if (t == QUOIT_NO_TENSOR || index >= s->info.max_tensors || s->tensors[index].handle != t)
		return NULL;
	return &s->tensors[index];
}

/* The words of a CREATE or VIEW; of: the tensor that it is a view of. */
SLOT_INLINE void put_binding(struct quoit_ring *q, uint32_t index, uint64_t header, uint32_t handle,
			     quoit_tensor of, const uint64_t shape[4], uint64_t offset)
{
	uint64_t *to = slot_words(q, index);

	to[0] = header;
	to[1] = slot_user_data(q, index, 0);
	to[2] = handle | (uint64_t)of << 32;
#pragma GCC unroll 4
	for (unsigned i = 0; i < 4; i++)
		to[3 + i] = shape[i];
	to[7] = offset;
	slot_done(q, index);
}

/*
 * Put a CREATE or VIEW under a new handle; arg without the type, which a view has from its
 * buffer.
 */
static quoit_tensor bind(struct quoit_ring *q, const struct quoit_shape *shape, uint8_t opcode,
			 uint8_t device, uint8_t arg, quoit_tensor of, uint64_t offset)
{
	/* dims, then strides */
	const uint64_t pair[] = {slot_pair(&shape->dim[0]), slot_pair(&shape->dim[2]),
				 slot_pair(&shape->stride[0]), slot_pair(&shape->stride[2])};
	bool is_create = opcode == QUOIT_OP_CREATE;
	struct tensor_record *record;
	struct handle_entry entry;
	uint32_t index, handle;

	if (!libquoit_is_mine(q->mine) || shape->dtype >= QUOIT_DTYPE_NR ||
	    !libquoit_handle_take(&q->handles, q->sq.cached_head, &entry))
		return QUOIT_NO_TENSOR;
	if (UNLIKELY(slot_take(q, &index))) {
		(void)libquoit_handle_give(&q->handles, entry);
		return QUOIT_NO_TENSOR;
	}
	record = &q->session->tensors[entry.index];
	handle = (uint32_t)++record->generation << QUOIT_HANDLE_INDEX_BITS | entry.index;
	put_binding(q, index,
		    slot_header(opcode, 0, is_create ? arg | shape->dtype : arg) | (uint64_t)device
											   << 16,
		    handle, of, pair, offset);
	record->handle = handle;
	record->dense = is_create && !(pair[2] | pair[3]);
	record->shape.dtype = shape->dtype;
	memcpy(&record->shape.dim[0], &pair[0], sizeof pair[0]);
	memcpy(&record->shape.dim[2], &pair[1], sizeof pair[1]);
	memcpy(&record->shape.stride[0], &pair[2], sizeof pair[2]);
	memcpy(&record->shape.stride[2], &pair[3], sizeof pair[3]);
	return handle;
}

quoit_tensor quoit_create(struct quoit_ring *q, const struct quoit_shape *shape, unsigned flags)
{
	unsigned device = flags >> 8 ? (flags >> 8) - 1 : q->device;

	if (flags & QUOIT_CREATE_PINNED && !(flags >> 8))
		device = 0;
	if ((flags & 0xff & ~QUOIT_CREATE_PINNED) || device > q->session->info.devices)
		return QUOIT_NO_TENSOR;
	return bind(q, shape, QUOIT_OP_CREATE, (uint8_t)device, (uint8_t)flags, QUOIT_NO_TENSOR, 0);
}

int quoit_use_device(struct quoit_ring *q, unsigned device)
{
	if (!libquoit_is_mine(q->mine))
		return -EOWNERDEAD;
	if (device > q->session->info.devices) {
		struct quoit_device_desc none;

		(void)quoit_device(q->session, device, &none); /* which says why */
		return -ENODEV;
	}
	q->device = (uint8_t)device;
	return 0;
}

quoit_tensor quoit_vector(struct quoit_ring *q, enum quoit_dtype dtype, uint32_t n)
{
	return quoit_matrix(q, dtype, 1, n);
}

quoit_tensor quoit_matrix(struct quoit_ring *q, enum quoit_dtype dtype, uint32_t rows,
			  uint32_t cols)
{
	const struct quoit_shape shape = {.dtype = (uint8_t)dtype, .dim = {1, 1, rows, cols}};

	return quoit_create(q, &shape, 0);
}

quoit_tensor quoit_create_at(struct quoit_ring *q, const struct quoit_shape *shape, void *memory)
{
	const struct quoit_session *s = q->session;
	uint64_t offset = (uint64_t)((uint8_t *)memory - (uint8_t *)s->arena_base);

	if (offset >= s->info.arena_bytes)
		return QUOIT_NO_TENSOR;
	return bind(q, shape, QUOIT_OP_CREATE, 0, QUOIT_CREATE_ARENA, QUOIT_NO_TENSOR, offset);
}

quoit_tensor quoit_view(struct quoit_ring *q, quoit_tensor t, const struct quoit_shape *shape,
			uint64_t offset)
{
	const struct tensor_record *of = libquoit_tensor_find(q->session, t);

	if (!of || of->shape.dtype != shape->dtype)
		return QUOIT_NO_TENSOR;
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
		return -EOWNERDEAD;
	if (!libquoit_tensor_find(q->session, t))
		return -EINVAL;
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

bool quoit_shape_of(struct quoit_ring *q, quoit_tensor t, struct quoit_shape *ret)
{
	const struct tensor_record *record;

	if (!libquoit_is_mine(q->mine))
		return false;
	record = libquoit_tensor_find(q->session, t);
	if (!record)
		return false;
	*ret = record->shape;
	return true;
}

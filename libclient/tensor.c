/* SPDX-License-Identifier: MIT */
/* tensor.c - create, view and free tensors: handles and the jobs that bind them */
#include <errno.h>
#include "library.h"

const struct tensor_record *libquoit_tensor_find(const struct quoit_session *s, quoit_tensor t)
{
	uint32_t index = t & QUOIT_HANDLE_INDEX_MASK;

	if (t == QUOIT_NO_TENSOR || index >= s->info.max_tensors || s->tensors[index].handle != t)
		return NULL;
	return &s->tensors[index];
}

static bool is_dense(const struct quoit_shape *shape)
{
	return !(shape->stride[0] | shape->stride[1] | shape->stride[2] | shape->stride[3]);
}

/* Word by word, for the reason that copy() of queue.c gives. */
static void copy_words(void *to, const void *from, size_t bytes)
{
	const uint32_t *word = from;

	for (size_t i = 0; i < bytes / sizeof *word; i++)
		((uint32_t *)to)[i] = __atomic_load_n(&word[i], __ATOMIC_RELAXED);
}

/* Put a CREATE or VIEW under a new handle; `sqe` says all but the handle and the shape. */
static quoit_tensor bind(struct quoit_ring *q, struct quoit_sqe *sqe,
			 const struct quoit_shape *shape)
{
	struct tensor_record *record;
	struct handle_entry entry;
	uint32_t sq_index, handle;

	if (!libquoit_is_mine(q->mine) || shape->dtype >= QUOIT_DTYPE_NR ||
	    !libquoit_handle_take(&q->handles, q->sq.cached_head, &entry))
		return QUOIT_NO_TENSOR;
	record = &q->session->tensors[entry.index];
	handle = (record->generation + 1u) << QUOIT_HANDLE_INDEX_BITS | entry.index;
	if (sqe->opcode == QUOIT_OP_CREATE) /* a view has its buffer's type */
		sqe->arg |= shape->dtype;
	sqe->base[0] = handle;
	copy_words(sqe->dim, shape->dim, sizeof sqe->dim);
	copy_words(sqe->stride, shape->stride, sizeof sqe->stride);
	if (libquoit_queue_push(q, sqe, &sq_index)) {
		(void)libquoit_handle_give(&q->handles, entry);
		return QUOIT_NO_TENSOR;
	}
	record->generation++;
	record->shape.dtype = shape->dtype;
	copy_words(record->shape.dim, sqe->dim, sizeof sqe->dim);
	copy_words(record->shape.stride, sqe->stride, sizeof sqe->stride);
	record->dense = sqe->opcode == QUOIT_OP_CREATE && is_dense(shape);
	record->handle = handle;
	return handle;
}

quoit_tensor quoit_create(struct quoit_ring *q, const struct quoit_shape *shape, unsigned flags)
{
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_CREATE, .arg = (uint8_t)flags};

	return flags & ~QUOIT_CREATE_PINNED ? QUOIT_NO_TENSOR : bind(q, &sqe, shape);
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
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_CREATE, .arg = QUOIT_CREATE_ARENA};

	sqe.offset = (uint64_t)((uint8_t *)memory - (uint8_t *)s->arena_base);
	return sqe.offset < s->info.arena_bytes ? bind(q, &sqe, shape) : QUOIT_NO_TENSOR;
}

quoit_tensor quoit_view(struct quoit_ring *q, quoit_tensor t, const struct quoit_shape *shape,
			uint64_t offset)
{
	const struct tensor_record *of = libquoit_tensor_find(q->session, t);
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_VIEW, .offset = offset};

	sqe.base[1] = t;
	return of && of->shape.dtype == shape->dtype ? bind(q, &sqe, shape) : QUOIT_NO_TENSOR;
}

int quoit_free(struct quoit_ring *q, quoit_tensor t)
{
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_FREE, .base = {t}};
	uint32_t index = t & QUOIT_HANDLE_INDEX_MASK, sq_index;
	int err;

	if (!libquoit_is_mine(q->mine))
		return -EOWNERDEAD;
	if (!libquoit_tensor_find(q->session, t))
		return -EINVAL;
	err = libquoit_queue_push(q, &sqe, &sq_index);
	if (err)
		return err;
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

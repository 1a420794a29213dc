/* SPDX-License-Identifier: MIT */
/* shape.c - computes what a view covers */
#include "shape.h"

#include <errno.h>
#include <stdlib.h>

/* No buffer is larger, so that no sum of offsets below comes near an overflow. */
#define MAX_BYTES (UINT64_C(1) << 46)

/*
 * Do no two elements share bytes?  With the dims sorted by stride, each step is longer than all
 * that the smaller ones span.  Sufficient, and true for all that slices, transposes and reshapes
 * make.
 */
static bool is_disjoint(const struct view *v)
{
	unsigned order[QUOIT_MAX_DIMS], n = 0;
	int64_t span = 1;

	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++) {
		unsigned i;

		if (v->dim[d] <= 1)
			continue;
		for (i = n++; i > 0 && labs(v->stride[order[i - 1]]) > labs(v->stride[d]); i--)
			order[i] = order[i - 1];
		order[i] = d;
	}
	for (unsigned i = 0; i < n; i++) {
		int64_t stride = labs(v->stride[order[i]]);

		if (stride < span)
			return false;
		span += stride * ((int64_t)v->dim[order[i]] - 1);
	}
	return true;
}

static bool is_dense(const struct view *v)
{
	int64_t expected = 1;

	for (unsigned d = QUOIT_MAX_DIMS; d-- > 0;) {
		if (v->dim[d] > 1 && v->stride[d] != expected)
			return false;
		expected *= v->dim[d];
	}
	return true;
}

/* Set the strides of dense rows; false: one does not fit its word. */
static bool pack(struct view *v)
{
	uint64_t stride = 1;

	for (unsigned d = QUOIT_MAX_DIMS; d-- > 0;) {
		if (stride > INT32_MAX && v->dim[d] > 1)
			return false;
		/* A stride is cut only where the dim is 1, and no step is taken. */
		v->stride[d] = stride > INT32_MAX ? INT32_MAX : (int32_t)stride;
		if (v->dim[d] > 1)
			stride *= v->dim[d];
	}
	return true;
}

/* A view without elements: its strides have no bounds, so they are zeroed, never computed with. */
static int make_empty(struct view *v, uint64_t size, struct fault *f)
{
	memset(v->stride, 0, sizeof v->stride);
	v->lo = v->hi = v->offset;
	v->dense = v->covers = v->writable = true;
	return v->offset > size ? refuse(f, -EINVAL, QUOIT_FIELD_OFFSET, v->offset, size) : 0;
}

static int make_strided(struct view *v, const struct quoit_sqe *sqe, uint32_t element,
			uint64_t size, struct fault *f)
{
	int64_t least = 0, most = 0;

	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++)
		v->stride[d] = sqe->stride[d];
	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++) {
		int64_t reach = (int64_t)(v->dim[d] - UINT64_C(1)) * v->stride[d];

		/* reach is below 2^63 by its words' widths; the sum is kept below 2^46 */
		if (reach > (int64_t)MAX_BYTES || reach < -(int64_t)MAX_BYTES)
			return refuse(f, -EINVAL, QUOIT_FIELD_STRIDE, d, (uint64_t)reach);
		if (reach > 0)
			most += reach;
		else
			least += reach;
	}
	if ((uint64_t)-least > v->offset / element)
		return refuse(f, -EINVAL, QUOIT_FIELD_STRIDE, (uint64_t)least, v->offset);
	v->lo = v->offset - (uint64_t)-least * element;
	v->hi = v->offset + ((uint64_t)most + 1) * element;
	if (v->hi > size || v->hi > MAX_BYTES)
		return refuse(f, -EINVAL, QUOIT_FIELD_DIM, v->hi, size);
	v->writable = is_disjoint(v);
	v->dense = is_dense(v);
	v->covers = v->writable && v->elements * element == v->hi - v->lo;
	return 0;
}

/* False: more elements than any buffer has. */
static bool count_elements(const uint32_t dim[QUOIT_MAX_DIMS], uint64_t *ret)
{
	uint64_t outer = (uint64_t)dim[0] * dim[1], inner = (uint64_t)dim[2] * dim[3];

	if (__builtin_mul_overflow(outer, inner, ret))
		*ret = UINT64_MAX;
	return *ret <= MAX_BYTES;
}

static int refuse_dtype(uint8_t dtype, struct fault *f)
{
	bool is_kept = dtype == QUOIT_C64 || dtype == QUOIT_C128;

	return refuse(f, is_kept ? -ENOTSUP : -EINVAL, QUOIT_FIELD_ARG, dtype, QUOIT_DTYPE_NR - 1);
}

/* Set all but elements, strides and extent. */
static inline void begin(struct view *v, uint8_t dtype, uint64_t offset,
			 const uint32_t dim[QUOIT_MAX_DIMS])
{
	v->buffer = NIL;
	v->offset = offset;
	v->dtype = dtype;
	/* Copy in pairs, as shape_same_dims will soon read them. */
	memcpy(&v->dim[0], &dim[0], 2 * sizeof dim[0]);
	memcpy(&v->dim[2], &dim[2], 2 * sizeof dim[2]);
}

/* Dense rows without elements, or with so many that a stride may not fit its word. */
static int make_unusual(struct view *v, uint32_t element, struct fault *f)
{
	if (!count_elements(v->dim, &v->elements))
		return refuse(f, -EINVAL, QUOIT_FIELD_DIM, v->elements, MAX_BYTES);
	if (!v->elements)
		return make_empty(v, UINT64_MAX, f);
	if (!pack(v))
		return refuse(f, -EINVAL, QUOIT_FIELD_DIM, v->dim[3], INT32_MAX);
	v->hi = v->elements * element;
	return v->hi > MAX_BYTES ? refuse(f, -EINVAL, QUOIT_FIELD_DIM, v->hi, MAX_BYTES) : 0;
}

int shape_make_packed(struct view *ret, uint8_t dtype, const uint32_t dim[QUOIT_MAX_DIMS],
		      struct fault *f)
{
	uint64_t outer = (uint64_t)dim[0] * dim[1], inner = (uint64_t)dim[2] * dim[3];
	uint32_t element = op_dtype_size(dtype);

	if (!element)
		return refuse_dtype(dtype, f);
	begin(ret, dtype, 0, dim);
	ret->lo = 0;
	ret->dense = ret->covers = ret->writable = true;
	ret->elements = outer * inner;
	if ((outer | inner) >> 32 || ret->elements - 1 >= INT32_MAX)
		return make_unusual(ret, element, f);
	ret->stride[3] = 1;
	ret->stride[2] = (int32_t)dim[3];
	ret->stride[1] = (int32_t)inner;
	ret->stride[0] = (int32_t)(inner * dim[1]);
	ret->hi = ret->elements * element;
	return 0;
}

int shape_make(struct view *ret, uint8_t dtype, const struct quoit_sqe *sqe, uint64_t offset,
	       uint64_t size, struct fault *f)
{
	uint32_t element = op_dtype_size(dtype);

	if (!element)
		return refuse_dtype(dtype, f);
	begin(ret, dtype, offset, sqe->dim);
	if (!count_elements(sqe->dim, &ret->elements))
		return refuse(f, -EINVAL, QUOIT_FIELD_DIM, ret->elements, MAX_BYTES);
	if (offset & (element - 1))
		return refuse(f, -EINVAL, QUOIT_FIELD_OFFSET, offset, element);
	return ret->elements ? make_strided(ret, sqe, element, size, f) : make_empty(ret, size, f);
}

int shape_make_packed_at(struct view *ret, uint8_t dtype, const uint32_t dim[QUOIT_MAX_DIMS],
			 uint64_t offset, uint64_t size, struct fault *f)
{
	uint32_t element = op_dtype_size(dtype);
	int err = shape_make_packed(ret, dtype, dim, f);

	if (err)
		return err;
	if (offset & (element - 1))
		return refuse(f, -EINVAL, QUOIT_FIELD_OFFSET, offset, element);
	if (ret->hi > size - offset)
		return refuse(f, -EINVAL, QUOIT_FIELD_DIM, ret->hi, size - offset);
	ret->offset = ret->lo = offset;
	ret->hi += offset;
	return 0;
}

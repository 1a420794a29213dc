/* SPDX-License-Identifier: MIT */
/* shape.c - what a view covers, and which tensors fit an operation */
#include "shape.h"

#include <errno.h>
#include <stdlib.h>

/* No buffer is larger: every sum of offsets below stays far from overflow. */
#define MAX_BYTES (UINT64_C(1) << 46)

uint32_t shape_dtype_size(uint8_t dtype)
{
	static const uint8_t size[QUOIT_DTYPE_NR] = {
		[QUOIT_F32] = 4, [QUOIT_F64] = 8, [QUOIT_I32] = 4, [QUOIT_I64] = 8};

	return dtype < QUOIT_DTYPE_NR ? size[dtype] : 0;
}

static int refuse(struct fault *f, int code, uint8_t field, uint64_t found, uint64_t allowed)
{
	*f = (struct fault){.code = code, .field = field, .value = {found, allowed}};
	return code;
}

/* ---- views ---- */

/*
 * No two elements share bytes: with the dims sorted by stride, each step is longer
 * than all that the smaller ones span.  Sufficient, and true for every layout that
 * slices, transposes and reshapes make.
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

/* Dense rows; false: a stride does not fit its word. */
static bool pack(struct view *v)
{
	uint64_t stride = 1;

	for (unsigned d = QUOIT_MAX_DIMS; d-- > 0;) {
		if (stride > INT32_MAX && v->dim[d] > 1)
			return false;
		v->stride[d] = stride > INT32_MAX ? INT32_MAX /* never stepped along */
						  : (int32_t)stride;
		if (v->dim[d])
			stride *= v->dim[d];
	}
	return true;
}

/* Dense rows from the start: what nearly every create asks for. */
static int make_packed(struct view *v, uint32_t element, uint64_t size, struct fault *f)
{
	if (!pack(v))
		return refuse(f, -EINVAL, QUOIT_FIELD_DIM, v->dim[3], INT32_MAX);
	v->lo = v->offset;
	v->hi = v->offset + v->elements * element;
	v->dense = v->covers = v->disjoint = true;
	if (v->hi > size || v->hi > MAX_BYTES)
		return refuse(f, -EINVAL, QUOIT_FIELD_DIM, v->hi, size);
	return 0;
}

int shape_make(struct view *ret, uint8_t dtype, const struct quoit_sqe *sqe, uint64_t offset,
	       uint64_t size, int packed, struct fault *f)
{
	uint32_t element = shape_dtype_size(dtype);
	int64_t least = 0, most = 0;
	int strided = 0;

	if (!element)
		return refuse(f, dtype < QUOIT_DTYPE_NR ? -ENOTSUP : -EINVAL, QUOIT_FIELD_ARG,
			      dtype, QUOIT_DTYPE_NR);
	if (offset % element)
		return refuse(f, -EINVAL, QUOIT_FIELD_OFFSET, offset, element);
	*ret = (struct view){.buffer = NIL, .offset = offset, .dtype = dtype, .elements = 1};
	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++) {
		ret->dim[d] = sqe->dim[d];
		ret->stride[d] = sqe->stride[d];
		strided |= sqe->stride[d];
		if (__builtin_mul_overflow(ret->elements, ret->dim[d], &ret->elements) ||
		    ret->elements > MAX_BYTES)
			return refuse(f, -EINVAL, QUOIT_FIELD_DIM, d, sqe->dim[d]);
	}
	if (packed && !strided)
		return make_packed(ret, element, size, f);
	if (!ret->elements) {
		ret->lo = ret->hi = offset;
		ret->dense = ret->covers = ret->disjoint = true;
		return offset > size ? refuse(f, -EINVAL, QUOIT_FIELD_OFFSET, offset, size) : 0;
	}
	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++) {
		int64_t reach = (int64_t)(ret->dim[d] - UINT64_C(1)) * ret->stride[d];

		/* |reach| < 2^63 by the words' widths; the sum is kept below 2^46 */
		if (reach > (int64_t)MAX_BYTES || reach < -(int64_t)MAX_BYTES)
			return refuse(f, -EINVAL, QUOIT_FIELD_STRIDE, d, (uint64_t)reach);
		if (reach > 0)
			most += reach;
		else
			least += reach;
	}
	if ((uint64_t)-least > offset / element)
		return refuse(f, -EINVAL, QUOIT_FIELD_STRIDE, (uint64_t)least, offset);
	ret->lo = offset - (uint64_t)-least * element;
	ret->hi = offset + ((uint64_t)most + 1) * element;
	if (ret->hi > size || ret->hi > MAX_BYTES)
		return refuse(f, -EINVAL, QUOIT_FIELD_DIM, ret->hi, size);
	ret->disjoint = is_disjoint(ret);
	ret->dense = is_dense(ret);
	ret->covers = ret->disjoint && ret->elements * element == ret->hi - ret->lo;
	return 0;
}

/* ---- operations ---- */

/* What the rules below look at; a tensor that is absent is NULL. */
struct operands {
	const struct quoit_sqe *sqe;
	const struct view *t[QUOIT_MAX_TENSORS_PER_JOB];
	struct fault *fault;
};

static int refuse_dim(const struct operands *o, unsigned tensor, unsigned dim)
{
	const struct view *v = o->t[tensor];

	return refuse(o->fault, -EINVAL, (uint8_t)(QUOIT_FIELD_TENSOR0 + tensor), dim, v->dim[dim]);
}

static int refuse_type(const struct operands *o, unsigned tensor, unsigned expected)
{
	return refuse(o->fault, -EINVAL, (uint8_t)(QUOIT_FIELD_TENSOR0 + tensor),
		      UINT64_C(0x100) + o->t[tensor]->dtype, UINT64_C(0x100) + expected);
}

static int refuse_arg(const struct operands *o, uint64_t allowed)
{
	return refuse(o->fault, -EINVAL, QUOIT_FIELD_ARG, o->sqe->arg, allowed);
}

static int need_type(const struct operands *o, unsigned tensor, uint8_t dtype)
{
	return !o->t[tensor] || o->t[tensor]->dtype == dtype ? 0 : refuse_type(o, tensor, dtype);
}

/* Dims of tensor i equal those of tensor `to`, or are 1 and broadcast. */
static int need_broadcast(const struct operands *o, unsigned i, unsigned to)
{
	for (unsigned d = 0; o->t[i] && d < QUOIT_MAX_DIMS; d++)
		if (o->t[i]->dim[d] != o->t[to]->dim[d] && o->t[i]->dim[d] != 1)
			return refuse_dim(o, i, d);
	return 0;
}

static int need_equal(const struct operands *o, unsigned i, unsigned to)
{
	for (unsigned d = 0; o->t[i] && d < QUOIT_MAX_DIMS; d++)
		if (o->t[i]->dim[d] != o->t[to]->dim[d])
			return refuse_dim(o, i, d);
	return 0;
}

static int need_axis(const struct operands *o)
{
	return o->sqe->arg < QUOIT_MAX_DIMS ? 0 : refuse_arg(o, QUOIT_MAX_DIMS - 1);
}

/* The second input is a tensor or the scalar, never both and never neither. */
static int need_second(const struct operands *o, uint8_t scalar_bit)
{
	if (!(o->sqe->arg & scalar_bit) == !o->t[2])
		return refuse(o->fault, -EINVAL, QUOIT_FIELD_TENSOR2, o->sqe->tensor[2],
			      o->sqe->arg);
	return 0;
}

static int check_same(const struct operands *o, const struct op_row *row)
{
	int binary = row->access[2] == 'r';
	uint8_t known = binary ? QUOIT_EW_SCALAR | QUOIT_EW_REVERSE : 0;
	int err = 0;

	if (o->sqe->arg & ~known || o->sqe->arg == QUOIT_EW_REVERSE)
		return refuse_arg(o, known);
	if (binary)
		err = need_second(o, QUOIT_EW_SCALAR);
	for (unsigned i = 1; !err && i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		err = need_type(o, i, o->t[0]->dtype);
		if (!err)
			err = need_broadcast(o, i, 0);
	}
	return err;
}

static int check_cast(const struct operands *o)
{
	return o->sqe->arg ? refuse_arg(o, 0) : need_broadcast(o, 1, 0);
}

static int check_perm(const struct operands *o)
{
	unsigned seen = 0;
	int err = need_type(o, 1, o->t[0]->dtype);

	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++)
		seen |= 1u << (o->sqe->arg >> 2 * d & 3);
	if (!err && seen != 0xf)
		return refuse_arg(o, QUOIT_PERM(0, 1, 2, 3));
	for (unsigned d = 0; !err && d < QUOIT_MAX_DIMS; d++)
		if (o->t[0]->dim[d] != o->t[1]->dim[o->sqe->arg >> 2 * d & 3])
			err = refuse_dim(o, 0, d);
	return err;
}

static int check_roll(const struct operands *o)
{
	int err = need_axis(o);

	if (!err)
		err = need_type(o, 1, o->t[0]->dtype);
	return err ? err : need_equal(o, 1, 0);
}

static int check_gather(const struct operands *o)
{
	int err = need_axis(o);

	if (!err)
		err = need_type(o, 1, o->t[0]->dtype);
	if (!err && o->t[2]->dtype != QUOIT_I32 && o->t[2]->dtype != QUOIT_I64)
		err = refuse_type(o, 2, QUOIT_I64);
	for (unsigned d = 0; !err && d < QUOIT_MAX_DIMS; d++) {
		if (d != 3 && o->t[2]->dim[d] != 1)
			err = refuse_dim(o, 2, d);
		else if (d == o->sqe->arg && o->t[0]->dim[d] != o->t[2]->dim[3])
			err = refuse_dim(o, 0, d);
		else if (d != o->sqe->arg && o->t[0]->dim[d] != o->t[1]->dim[d])
			err = refuse_dim(o, 1, d);
	}
	return err;
}

static int check_select(const struct operands *o)
{
	int err = o->sqe->arg ? refuse_arg(o, 0) : need_type(o, 1, QUOIT_I32);

	for (unsigned i = 1; !err && i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		err = need_broadcast(o, i, 0);
		if (!err && i > 1)
			err = need_type(o, i, o->t[0]->dtype);
	}
	return err;
}

static int check_compare(const struct operands *o)
{
	int err = need_type(o, 0, QUOIT_I32);

	if (o->sqe->arg & ~(QUOIT_CMP_MASK | QUOIT_CMP_SCALAR) ||
	    (o->sqe->arg & QUOIT_CMP_MASK) >= QUOIT_CMP_NR)
		return refuse_arg(o, QUOIT_CMP_NR - 1);
	if (!err)
		err = need_second(o, QUOIT_CMP_SCALAR);
	if (!err)
		err = need_type(o, 2, o->t[1]->dtype);
	if (!err)
		err = need_broadcast(o, 1, 0);
	return err ? err : need_broadcast(o, 2, 0);
}

static int check_gemm(const struct operands *o)
{
	uint8_t known = QUOIT_GEMM_TRANS_A | QUOIT_GEMM_TRANS_B;
	unsigned ta = o->sqe->arg & QUOIT_GEMM_TRANS_A ? 1 : 0;
	unsigned tb = o->sqe->arg & QUOIT_GEMM_TRANS_B ? 1 : 0;
	const struct view *c = o->t[0], *a = o->t[1], *b = o->t[2];

	if (o->sqe->arg & ~known)
		return refuse_arg(o, known);
	for (unsigned i = 1; i < 3; i++) {
		if (o->t[i]->dtype != c->dtype)
			return refuse_type(o, i, c->dtype);
		for (unsigned d = 0; d < 2; d++)
			if (o->t[i]->dim[d] != c->dim[d] && o->t[i]->dim[d] != 1)
				return refuse_dim(o, i, d);
	}
	if (a->dim[ta ? 3 : 2] != c->dim[2])
		return refuse_dim(o, 1, ta ? 3 : 2);
	if (b->dim[tb ? 2 : 3] != c->dim[3])
		return refuse_dim(o, 2, tb ? 2 : 3);
	if (a->dim[ta ? 2 : 3] != b->dim[tb ? 3 : 2])
		return refuse_dim(o, 2, tb ? 3 : 2);
	return 0;
}

static int check_reduce(const struct operands *o, uint8_t out_type)
{
	if (o->sqe->arg >= QUOIT_MAX_DIMS && o->sqe->arg != QUOIT_AXIS_ALL)
		return refuse_arg(o, QUOIT_MAX_DIMS - 1);
	if (o->t[0]->dtype != out_type)
		return refuse_type(o, 0, out_type);
	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++) {
		int reduced = o->sqe->arg == QUOIT_AXIS_ALL || o->sqe->arg == d;

		if (o->t[0]->dim[d] != (reduced ? 1 : o->t[1]->dim[d]))
			return refuse_dim(o, 0, d);
	}
	return 0;
}

static int check_loss(const struct operands *o)
{
	int err = o->sqe->arg ? refuse_arg(o, 0) : 0;

	if (!err && o->t[0]->elements != 1)
		err = refuse_dim(o, 0, 3);
	for (unsigned i = 1; !err && i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		err = need_type(o, i, o->t[0]->dtype);
		if (!err)
			err = need_equal(o, i, 1);
	}
	return err;
}

static int check_file(const struct session *s, const struct operands *o, const struct op_row *row)
{
	uint64_t file = o->sqe->scalar[1];
	uint64_t bytes = o->t[0]->hi - o->t[0]->lo;

	if (o->sqe->arg)
		return refuse_arg(o, 0);
	if (file >= QUOIT_MAX_FILES || s->files[file].fd < 0 || s->files[file].removed)
		return refuse(o->fault, -EBADF, QUOIT_FIELD_FILE, file, QUOIT_MAX_FILES);
	if (row->access[0] == 'W' ? !s->files[file].readable : !s->files[file].writable)
		return refuse(o->fault, -EACCES, QUOIT_FIELD_FILE, file, 0);
	if (!o->t[0]->dense)
		return refuse(o->fault, -EINVAL, QUOIT_FIELD_STRIDE, 0, 0);
	if (bytes > INT32_MAX - PAGE_BYTES) /* res counts bytes */
		return refuse(o->fault, -E2BIG, QUOIT_FIELD_DIM, bytes, INT32_MAX - PAGE_BYTES);
	if (o->sqe->scalar[0] > INT64_MAX - bytes)
		return refuse(o->fault, -EINVAL, QUOIT_FIELD_SCALAR0, o->sqe->scalar[0], INT64_MAX);
	return 0;
}

static int check_none(const struct operands *o, const struct op_row *row)
{
	if (row->flags & OP_MODULE)
		return 0; /* its module looks at arg and scalars */
	if (o->sqe->arg)
		return refuse_arg(o, 0);
	if (o->sqe->scalar[0] | o->sqe->scalar[1])
		return refuse(o->fault, -EINVAL, QUOIT_FIELD_SCALAR0, o->sqe->scalar[0], 0);
	return 0;
}

static int check_rule(const struct session *s, const struct operands *o, const struct op_row *row)
{
	switch (row->shape) {
	case SHAPE_SAME:
		return check_same(o, row);
	case SHAPE_CAST:
		return check_cast(o);
	case SHAPE_PERM:
		return check_perm(o);
	case SHAPE_ROLL:
		return check_roll(o);
	case SHAPE_GATHER:
		return check_gather(o);
	case SHAPE_SELECT:
		return check_select(o);
	case SHAPE_COMPARE:
		return check_compare(o);
	case SHAPE_GEMM:
		return check_gemm(o);
	case SHAPE_REDUCE:
		return check_reduce(o, o->t[1]->dtype);
	case SHAPE_ARGMAX:
		return check_reduce(o, QUOIT_I64);
	case SHAPE_LOSS:
		return check_loss(o);
	case SHAPE_FILE:
		return check_file(s, o, row);
	default:
		return check_none(o, row);
	}
}

/* The type that the operation computes on must be one of its row's. */
static int check_types(const struct operands *o, const struct op_row *row)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (o->t[i] && !(row->types & 1u << o->t[i]->dtype) &&
		    !(i == 0 && row->shape == SHAPE_ARGMAX))
			return refuse(o->fault, -ENOTSUP, (uint8_t)(QUOIT_FIELD_TENSOR0 + i),
				      UINT64_C(0x100) + o->t[i]->dtype, row->types);
	return 0;
}

/* To scale and write an element of C costs as much as so many multiply-adds. */
#define GEMM_OUTPUT UINT64_C(12)

static uint64_t predict(const struct operands *o, const struct op_row *row, uint64_t elements)
{
	uint64_t work = elements, picoseconds;

	if (row->shape == SHAPE_GEMM) {
		unsigned k = o->sqe->arg & QUOIT_GEMM_TRANS_A ? 2 : 3;

		if (__builtin_mul_overflow(o->t[0]->elements, o->t[1]->dim[k] + GEMM_OUTPUT, &work))
			return UINT64_MAX;
	}
	if (__builtin_mul_overflow(work, row->cost, &picoseconds))
		return UINT64_MAX;
	return picoseconds / 1000;
}

int shape_check(const struct session *s, const struct quoit_sqe *sqe, const struct op_row *row,
		struct plan *plan, struct fault *f)
{
	struct operands o = {.sqe = sqe, .fault = f};
	int err;

	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (plan->tensors & 1u << i) {
			o.t[i] = &s->views[plan->view[i]];
			if (o.t[i]->elements > plan->elements)
				plan->elements = o.t[i]->elements;
		}
	err = check_types(&o, row);
	if (!err)
		err = check_rule(s, &o, row);
	if (err)
		return err;
	/* beta = 0 overwrites: GEMM then neither waits for nor fails by old contents */
	if (row->shape == SHAPE_GEMM && (sqe->scalar[1] << 1) == 0)
		plan->reads &= (uint8_t)~1u;
	plan->cost = predict(&o, row, plan->elements);
	return 0;
}

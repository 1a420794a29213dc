/* SPDX-License-Identifier: MIT */
/* rules.c - which tensors, arg and scalars fit an operation */
#include "rules_private.h"

#include <errno.h>

#include "cost.h"
#include "session/tensor_bits.h"
#include "shape.h"

static int need_type(const struct operands *o, unsigned tensor, uint8_t dtype)
{
	return !o->t[tensor] || o->t[tensor]->dtype == dtype ? 0 : refuse_type(o, tensor, dtype);
}

/* QUOIT_SQE_INT must be set exactly where there are scalars and the tensors have integers. */
static int check_scalars(const struct operands *o, const struct op_row *row)
{
	bool takes = row->scalar_arg == UINT8_MAX || o->sqe->arg & row->scalar_arg;
	bool integers = o->sqe->flags & QUOIT_SQE_INT;
	uint8_t dtype;

	if (!takes)
		return integers ? refuse(o->fault, -EINVAL, QUOIT_FIELD_FLAGS, o->sqe->flags,
					 QUOIT_SQE_FLAGS & ~QUOIT_SQE_INT)
				: 0;
	dtype = o->t[row->shape == SHAPE_COMPARE ? 1 : 0]->dtype;
	return integers == (QUOIT_TYPES_I >> dtype & 1)
		       ? 0
		       : refuse(o->fault, -EINVAL, QUOIT_FIELD_SCALAR_KIND, integers, dtype);
}

/* Dims of tensor i equal those of tensor `to`, or are 1 and broadcast. */
static int need_broadcast(const struct operands *o, unsigned i, unsigned to)
{
	if (!o->t[i] || shape_same_dims(o->t[i], o->t[to]))
		return 0;
	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++)
		if (o->t[i]->dim[d] != o->t[to]->dim[d] && o->t[i]->dim[d] != 1)
			return refuse_size(o, QUOIT_MISFIT_DIM_OR_1, i, d, o->t[to]->dim[d]);
	return 0;
}

static int need_equal(const struct operands *o, unsigned i, unsigned to)
{
	for (unsigned d = 0; o->t[i] && d < QUOIT_MAX_DIMS; d++)
		if (o->t[i]->dim[d] != o->t[to]->dim[d])
			return refuse_dim(o, i, d, o->t[to]->dim[d]);
	return 0;
}

static int need_axis(const struct operands *o)
{
	return o->sqe->arg < QUOIT_MAX_DIMS ? 0 : refuse_arg(o, QUOIT_MAX_DIMS - 1);
}

/* The second input is either a tensor or the scalar. */
static int need_second(const struct operands *o, uint8_t scalar_bit)
{
	if (!(o->sqe->arg & scalar_bit) == !o->t[2])
		return refuse_tensor(o->fault, -EINVAL, 2,
				     o->t[2] ? QUOIT_MISFIT_UNUSED : QUOIT_MISFIT_ABSENT, 0);
	return 0;
}

/* Have all tensors the first one's type and dims?  Nearly always they have. */
static bool are_alike(const struct operands *o)
{
	const struct view *first = o->t[0];

	for_each_tensor (i, o->tensors & ~1u)
		if (o->t[i]->dtype != first->dtype || !shape_same_dims(o->t[i], first))
			return false;
	return true;
}

static int check_same(const struct operands *o, const struct op_row *row)
{
	bool binary = row->takes & 1u << 2 && !(row->needs & 1u << 2);
	uint8_t known = binary ? QUOIT_EW_SCALAR | QUOIT_EW_REVERSE : 0;
	int err = 0;

	if (o->sqe->arg & ~known || o->sqe->arg == QUOIT_EW_REVERSE)
		return refuse_arg(o, known);
	if (binary)
		err = need_second(o, QUOIT_EW_SCALAR);
	if (err || are_alike(o))
		return err;
	for_each_tensor (i, o->tensors & ~1u) {
		if (!err)
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
			err = refuse_dim(o, 0, d, o->t[1]->dim[o->sqe->arg >> 2 * d & 3]);
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
			err = refuse_dim(o, 2, d, 1);
		else if (d == o->sqe->arg && o->t[0]->dim[d] != o->t[2]->dim[3])
			err = refuse_dim(o, 0, d, o->t[2]->dim[3]);
		else if (d != o->sqe->arg && o->t[0]->dim[d] != o->t[1]->dim[d])
			err = refuse_dim(o, 1, d, o->t[0]->dim[d]);
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

/* Both factors have C's type; halves may also be summed into an f32, as training does. */
static int check_gemm_types(const struct operands *o)
{
	uint8_t c = o->t[0]->dtype, a = o->t[1]->dtype;
	bool half = a == QUOIT_BF16 || a == QUOIT_F16;

	if (a != c && !(half && c == QUOIT_F32))
		return refuse_type(o, 1, c);
	return need_type(o, 2, a);
}

static int check_gemm(const struct operands *o)
{
	uint8_t tf32 = o->t[1]->dtype == QUOIT_F32 ? QUOIT_GEMM_TF32 : 0;
	uint8_t known = QUOIT_GEMM_TRANS_A | QUOIT_GEMM_TRANS_B | tf32;
	unsigned ta = o->sqe->arg & QUOIT_GEMM_TRANS_A ? 1 : 0;
	unsigned tb = o->sqe->arg & QUOIT_GEMM_TRANS_B ? 1 : 0;
	const struct view *c = o->t[0], *a = o->t[1], *b = o->t[2];
	int err;

	if (o->sqe->arg & ~known)
		return refuse_arg(o, known);
	err = check_gemm_types(o);
	if (err)
		return err;
	for (unsigned i = 1; i < 3; i++)
		for (unsigned d = 0; d < 2; d++)
			if (o->t[i]->dim[d] != c->dim[d] && o->t[i]->dim[d] != 1)
				return refuse_size(o, QUOIT_MISFIT_DIM_OR_1, i, d, c->dim[d]);
	if (a->dim[ta ? 3 : 2] != c->dim[2])
		return refuse_dim(o, 1, ta ? 3 : 2, c->dim[2]);
	if (b->dim[tb ? 2 : 3] != c->dim[3])
		return refuse_dim(o, 2, tb ? 2 : 3, c->dim[3]);
	if (a->dim[ta ? 2 : 3] != b->dim[tb ? 3 : 2])
		return refuse_dim(o, 2, tb ? 3 : 2, a->dim[ta ? 2 : 3]);
	return 0;
}

static int check_reduce(const struct operands *o, uint8_t out_type)
{
	if (o->sqe->arg >= QUOIT_MAX_DIMS && o->sqe->arg != QUOIT_AXIS_ALL)
		return refuse_arg(o, QUOIT_MAX_DIMS - 1);
	if (o->t[0]->dtype != out_type)
		return refuse_type(o, 0, out_type);
	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++) {
		bool is_reduced = o->sqe->arg == QUOIT_AXIS_ALL || o->sqe->arg == d;
		uint32_t dim = is_reduced ? 1 : o->t[1]->dim[d];

		if (o->t[0]->dim[d] != dim)
			return refuse_dim(o, 0, d, dim);
	}
	return 0;
}

static int check_loss(const struct operands *o)
{
	int err = o->sqe->arg ? refuse_arg(o, 0) : 0;

	for (unsigned d = 0; !err && d < QUOIT_MAX_DIMS; d++)
		if (o->t[0]->dim[d] != 1)
			err = refuse_dim(o, 0, d, 1);
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
	if (row->access[0] == 'W' && !s->files[file].readable)
		return refuse(o->fault, -EACCES, QUOIT_FIELD_FILE, file, 0);
	if (row->access[0] != 'W' && !s->files[file].writable)
		return refuse(o->fault, -EACCES, QUOIT_FIELD_FILE, file,
			      s->files[file].withheld_by);
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
		return 0; /* the module checks arg and scalars */
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
	case SHAPE_LAUNCH:
		return 0; /* validate.c has checked the scalars */
	case SHAPE_ACQUIRE:
		return rules_check_acquire(s, o);
	case SHAPE_RELEASE:
		return rules_check_release(o);
	case SHAPE_CALL:
		return rules_check_call(s, o);
	case SHAPE_SYNC:
	case SHAPE_MESSAGE:
		return rules_check_sync(o);
	case SHAPE_KEYS:
		return rules_check_keys(o);
	default:
		return check_none(o, row);
	}
}

/* Types must be among those of the row; the output of an ARGMAX is an index and is not checked. */
static int check_types(const struct operands *o, const struct op_row *row)
{
	for_each_tensor (i, row->shape == SHAPE_ARGMAX ? o->tensors & ~1u : o->tensors)
		if (!(row->types & 1u << o->t[i]->dtype))
			return refuse_tensor(o->fault, -ENOTSUP, i,
					     QUOIT_MISFIT_TYPE + o->t[i]->dtype, row->types);
	return 0;
}

int rules_check(const struct session *s, const struct quoit_sqe *sqe, struct plan *plan,
		struct fault *f)
{
	const struct operands o = {.sqe = sqe, .t = plan->t, .tensors = plan->tensors, .fault = f};
	const struct op_row *row = plan->row;
	uint64_t elements = 0;
	int err;

	for_each_tensor (i, o.tensors)
		if (o.t[i]->elements > elements)
			elements = o.t[i]->elements;
	plan->elements = elements;
	err = check_types(&o, row);
	if (!err)
		err = check_rule(s, &o, row);
	if (!err)
		err = check_scalars(&o, row);
	if (err)
		return err;
	/* beta = 0 overwrites: the GEMM neither waits for old contents nor fails by them */
	if (row->shape == SHAPE_GEMM && (sqe->scalar[1] << 1) == 0)
		plan->reads &= (uint8_t)~1u;
	cost_predict(sqe, plan);
	return 0;
}

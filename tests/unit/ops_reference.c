/* SPDX-License-Identifier: MIT */
/* ops_reference.c - compute every operation again: slowly, plainly, in double and int64. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quoit/families.h>

#include "ops_reference.h"

const struct ops_row ops_rows[] = {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help)                  \
	{#name, nr, QUOIT_FAMILY_##family, QUOIT_TYPES_##types},
#include <quoit/ops.def>
#undef QUOIT_OP
};
const size_t ops_row_nr = sizeof(ops_rows) / sizeof(ops_rows[0]);

const char *ops_name(uint8_t opcode)
{
	for (size_t r = 0; r < ops_row_nr; r++)
		if (ops_rows[r].opcode == opcode)
			return ops_rows[r].name;
	return "?";
}

const char *ops_type_name(uint8_t dtype)
{
	static const char *const names[QUOIT_DTYPE_NR] = {
		[QUOIT_F32] = "f32", [QUOIT_F64] = "f64",   [QUOIT_I32] = "i32",
		[QUOIT_I64] = "i64", [QUOIT_BF16] = "bf16", [QUOIT_F16] = "f16"};

	return dtype < QUOIT_DTYPE_NR ? names[dtype] : "?";
}

/* A row of ops.def that this file does not know yet. */
static _Noreturn void not_known(const struct op_args *args)
{
	fprintf(stderr,
		"tests/unit/ops_reference.c cannot compute '%s' of %s: add it there, where the other "
		"operations of its family are\n",
		ops_name(args->opcode), ops_type_name(args->t[0].dtype));
	abort();
}

int ops_inputs(const struct ops_row *row)
{
	switch (row->family) {
	case QUOIT_FAMILY_MOVE:
		return row->opcode == QUOIT_OP_FILL ? 0 : 1;
	case QUOIT_FAMILY_FUNCTION:
		return 1;
	case QUOIT_FAMILY_ARITHMETIC:
	case QUOIT_FAMILY_BLEND:
	case QUOIT_FAMILY_GRADIENT:
		return 2;
	default:
		return -1;
	}
}

bool ops_reduces(const struct ops_row *row)
{
	return row->family == QUOIT_FAMILY_REDUCTION || row->family == QUOIT_FAMILY_EXTREME ||
	       row->family == QUOIT_FAMILY_PLACE;
}

double ops_ulp(uint8_t opcode)
{
	switch (opcode) {
	case QUOIT_OP_EXP:
	case QUOIT_OP_LOG:
	case QUOIT_OP_POW:
		return 2;
	case QUOIT_OP_SIN:
	case QUOIT_OP_COS:
	case QUOIT_OP_SIGMOID:
		return 3;
	case QUOIT_OP_TANH:
		return 4;
	default:
		return 0;
	}
}

bool ops_is_float(uint8_t dtype)
{
	return dtype != QUOIT_I32 && dtype != QUOIT_I64;
}

bool ops_next(const uint32_t dim[4], uint32_t pos[4])
{
	for (int d = 3; d >= 0; d--) {
		if (++pos[d] < dim[d])
			return true;
		pos[d] = 0;
	}
	return false;
}

static void *at(const struct op_tensor *t, const uint32_t pos[4])
{
	int64_t offset = 0;

	for (int d = 0; d < 4; d++)
		offset += pos[d] * t->stride[d];
	return (char *)t->data + offset * (int64_t)op_dtype_size(t->dtype);
}

/* How many bits the exponent and the fraction have. */
struct format {
	int exponent, fraction;
};

static const struct format bf16 = {8, 7}, f16 = {5, 10};

/* By the definition of IEEE 754. */
static double decode(uint16_t bits, struct format f)
{
	const int bias = (1 << (f.exponent - 1)) - 1;
	const int exponent = bits >> f.fraction & ((1 << f.exponent) - 1);
	const int fraction = bits & ((1 << f.fraction) - 1);
	const double sign = bits & 0x8000 ? -1 : 1;

	if (exponent == 2 * bias + 1)
		return fraction ? NAN : sign * INFINITY;
	if (exponent == 0)
		return sign * ldexp(fraction, 1 - bias - f.fraction);
	return sign * ldexp(fraction + (1 << f.fraction), exponent - bias - f.fraction);
}

/* In units of the last bit, which rintl rounds to even; a carry goes into the exponent. */
static uint16_t encode(long double x, struct format f)
{
	const int bias = (1 << (f.exponent - 1)) - 1;
	const uint16_t sign = signbit(x) ? 0x8000 : 0;
	const uint16_t infinite = (uint16_t)((2 * bias + 1) << f.fraction);
	const long double size = fabsl(x);
	int exponent;
	long bits;

	if (isnan(x))
		return (uint16_t)(infinite | 1 << (f.fraction - 1));
	if (isinf(x))
		return sign | infinite;
	frexpl(size, &exponent);
	exponent = size == 0 || exponent < 2 - bias ? 2 - bias : exponent;
	bits = lrintl(ldexpl(size, f.fraction + 1 - exponent));
	bits += (long)(exponent + bias - 2) << f.fraction;
	return sign | (bits < infinite ? (uint16_t)bits : infinite);
}

double ops_load_f(uint8_t dtype, const void *element)
{
	switch (dtype) {
	case QUOIT_F32:
		return *(const float *)element;
	case QUOIT_BF16:
		return decode(*(const uint16_t *)element, bf16);
	case QUOIT_F16:
		return decode(*(const uint16_t *)element, f16);
	default:
		return *(const double *)element;
	}
}

void ops_store_f(uint8_t dtype, void *element, long double x)
{
	switch (dtype) {
	case QUOIT_F32:
		*(float *)element = (float)x;
		break;
	case QUOIT_BF16:
		*(uint16_t *)element = encode(x, bf16);
		break;
	case QUOIT_F16:
		*(uint16_t *)element = encode(x, f16);
		break;
	default:
		*(double *)element = (double)x;
	}
}

double ops_get_f(const struct op_tensor *t, const uint32_t pos[4])
{
	return ops_load_f(t->dtype, at(t, pos));
}

int64_t ops_get_i(const struct op_tensor *t, const uint32_t pos[4])
{
	return t->dtype == QUOIT_I32 ? *(int32_t *)at(t, pos) : *(int64_t *)at(t, pos);
}

static void set_f(const struct op_tensor *t, const uint32_t pos[4], long double x)
{
	ops_store_f(t->dtype, at(t, pos), x);
}

static void set_i(const struct op_tensor *t, const uint32_t pos[4], uint64_t x)
{
	if (t->dtype == QUOIT_I32)
		*(int32_t *)at(t, pos) = (int32_t)(uint32_t)x;
	else
		*(int64_t *)at(t, pos) = (int64_t)x;
}

static double larger(double x, double y)
{
	if (isnan(x) || isnan(y))
		return NAN;
	return x > y ? x : y;
}

static double float_op(const struct op_args *args, double x, double y)
{
	switch (args->opcode) {
	case QUOIT_OP_ADD:
		return x + y;
	case QUOIT_OP_SUB:
		return x - y;
	case QUOIT_OP_MUL:
		return x * y;
	case QUOIT_OP_DIV:
		return x / y;
	case QUOIT_OP_MIN:
		return -larger(-x, -y);
	case QUOIT_OP_MAX:
		return larger(x, y);
	case QUOIT_OP_AXPBY:
		/* Three roundings to the type itself, which double cannot imitate. */
		if (args->t[0].dtype == QUOIT_F32)
			return (float)((float)args->scalar[0].f * (float)x) +
			       (float)((float)args->scalar[1].f * (float)y);
		return args->scalar[0].f * x + args->scalar[1].f * y;
	case QUOIT_OP_POW:
		return (double)powl(x, y);
	case QUOIT_OP_ABS:
		return isnan(x) || x > 0 ? x : 0 - x;
	case QUOIT_OP_FLOOR:
		return floor(x);
	case QUOIT_OP_RELU:
		return x > 0 || isnan(x) ? x : 0;
	case QUOIT_OP_RELU_GRAD:
		return x > 0 ? y : 0;
	case QUOIT_OP_EXP:
		return (double)expl(x);
	case QUOIT_OP_LOG:
		return (double)logl(x);
	case QUOIT_OP_SQRT:
		return sqrt(x);
	case QUOIT_OP_TANH:
		return (double)tanhl(x);
	case QUOIT_OP_SIN:
		return (double)sinl(x);
	case QUOIT_OP_COS:
		return (double)cosl(x);
	case QUOIT_OP_SIGMOID:
		return (double)(1 / (1 + expl(-(long double)x)));
	default:
		not_known(args);
	}
}

static uint64_t divide(int64_t x, int64_t y)
{
	if (y == 0)
		return 0;
	return y == -1 ? 0 - (uint64_t)x : (uint64_t)(x / y);
}

/* Bit by bit from the highest, not as the operation does it. */
static uint64_t power(int64_t x, int64_t y)
{
	uint64_t result = 1;

	if (y < 0 && x != 0)
		return x == 1 ? 1 : x == -1 ? (y % 2 ? UINT64_MAX : 1) : 0;
	if (y < 0)
		return 0;
	for (int bit = 62; bit >= 0; bit--) {
		result *= result;
		if (y >> bit & 1)
			result *= (uint64_t)x;
	}
	return result;
}

static uint64_t integer_op(const struct op_args *args, int64_t x, int64_t y)
{
	const uint64_t u = (uint64_t)x;
	const uint64_t v = (uint64_t)y;

	switch (args->opcode) {
	case QUOIT_OP_ADD:
		return u + v;
	case QUOIT_OP_SUB:
		return u - v;
	case QUOIT_OP_MUL:
		return u * v;
	case QUOIT_OP_DIV:
		return divide(x, y);
	case QUOIT_OP_MIN:
		return x < y ? u : v;
	case QUOIT_OP_MAX:
		return x > y ? u : v;
	case QUOIT_OP_POW:
		return power(x, y);
	case QUOIT_OP_ABS:
		return x < 0 ? 0 - u : u;
	case QUOIT_OP_AXPBY:
		return args->scalar[0].u * u + args->scalar[1].u * v;
	default:
		not_known(args);
	}
}

/* A scalar rounded to the type. */
static double scalar_f(uint8_t dtype, union op_scalar s)
{
	return dtype == QUOIT_F32 ? (float)s.f : s.f;
}

static int64_t scalar_i(uint8_t dtype, union op_scalar s)
{
	return dtype == QUOIT_I32 ? (int32_t)(uint32_t)s.u : s.i;
}

static void run_elementwise(struct op_args *args, const uint32_t pos[4])
{
	const struct op_tensor *t = args->t;
	const uint8_t dtype = t[0].dtype;
	const bool with_scalar = args->arg & QUOIT_EW_SCALAR;
	const bool reverse = with_scalar && args->arg & QUOIT_EW_REVERSE;

	if (ops_is_float(dtype)) {
		double x = ops_get_f(&t[1], pos);
		double y = with_scalar ? scalar_f(dtype, args->scalar[0])
			   : t[2].data ? ops_get_f(&t[2], pos)
				       : 0;

		set_f(&t[0], pos, reverse ? float_op(args, y, x) : float_op(args, x, y));
	} else {
		int64_t x = ops_get_i(&t[1], pos);
		int64_t y = with_scalar ? scalar_i(dtype, args->scalar[0])
			    : t[2].data ? ops_get_i(&t[2], pos)
					: 0;

		set_i(&t[0], pos, reverse ? integer_op(args, y, x) : integer_op(args, x, y));
	}
}

static void copy_one(const struct op_tensor *to, const uint32_t to_pos[4],
		     const struct op_tensor *from, const uint32_t from_pos[4])
{
	memcpy(at(to, to_pos), at(from, from_pos), op_dtype_size(to->dtype));
}

static uint64_t saturate(double x, double limit, int64_t low, int64_t high)
{
	if (isnan(x))
		return 0;
	return (uint64_t)(x >= limit ? high : x <= -limit ? low : (int64_t)x);
}

static void run_cast(const struct op_tensor *t, const uint32_t pos[4])
{
	const bool narrow = t[0].dtype == QUOIT_I32;

	if (ops_is_float(t[0].dtype) && ops_is_float(t[1].dtype)) {
		set_f(&t[0], pos, ops_get_f(&t[1], pos));
	} else if (ops_is_float(t[1].dtype)) {
		set_i(&t[0], pos,
		      saturate(ops_get_f(&t[1], pos), narrow ? 0x1p31 : 0x1p63,
			       narrow ? INT32_MIN : INT64_MIN, narrow ? INT32_MAX : INT64_MAX));
	} else if (ops_is_float(t[0].dtype)) {
		/* a long double has 64 bits of fraction */
		set_f(&t[0], pos, ops_get_i(&t[1], pos));
	} else {
		int64_t x = ops_get_i(&t[1], pos);

		if (narrow)
			x = x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
		set_i(&t[0], pos, (uint64_t)x);
	}
}

static bool holds(int predicate, int order, bool unordered)
{
	if (unordered)
		return predicate == QUOIT_CMP_NE;
	switch (predicate) {
	case QUOIT_CMP_EQ:
		return order == 0;
	case QUOIT_CMP_NE:
		return order != 0;
	case QUOIT_CMP_LT:
		return order < 0;
	case QUOIT_CMP_LE:
		return order <= 0;
	case QUOIT_CMP_GT:
		return order > 0;
	default:
		return order >= 0;
	}
}

static void run_compare(struct op_args *args, const uint32_t pos[4])
{
	const struct op_tensor *t = args->t;
	const uint8_t dtype = t[1].dtype;
	const bool with_scalar = args->arg & QUOIT_CMP_SCALAR;
	const int predicate = args->arg & QUOIT_CMP_MASK;
	bool result;

	if (ops_is_float(dtype)) {
		double x = ops_get_f(&t[1], pos);
		double y = with_scalar ? scalar_f(dtype, args->scalar[0]) : ops_get_f(&t[2], pos);

		result = holds(predicate, (x > y) - (x < y), isnan(x) || isnan(y));
	} else {
		int64_t x = ops_get_i(&t[1], pos);
		int64_t y = with_scalar ? scalar_i(dtype, args->scalar[0]) : ops_get_i(&t[2], pos);

		result = holds(predicate, (x > y) - (x < y), false);
	}
	set_i(&t[0], pos, result);
}

static void run_gather(struct op_args *args, const uint32_t pos[4])
{
	const struct op_tensor *t = args->t;
	const uint32_t axis = args->arg;
	const uint32_t index_pos[4] = {0, 0, 0, pos[axis]};
	int64_t index = ops_get_i(&t[2], index_pos);
	uint32_t from[4];

	memcpy(from, pos, sizeof(from));
	if (index < 0 || index >= t[1].dim[axis]) {
		args->error = -ERANGE;
		memset(at(&t[0], pos), 0, op_dtype_size(t[0].dtype));
		return;
	}
	from[axis] = (uint32_t)index;
	copy_one(&t[0], pos, &t[1], from);
}

static void run_move(struct op_args *args, const uint32_t pos[4])
{
	const struct op_tensor *t = args->t;
	uint32_t from[4];

	memcpy(from, pos, sizeof(from));
	if (args->opcode == QUOIT_OP_TRANSPOSE) {
		for (int d = 0; d < 4; d++)
			from[args->arg >> 2 * d & 3] = pos[d];
	} else if (args->opcode == QUOIT_OP_ROLL) {
		const int64_t length = t[0].dim[args->arg];
		const int64_t there = (pos[args->arg] - args->scalar[0].i % length) % length;

		from[args->arg] = (uint32_t)((there + length) % length);
	}
	copy_one(&t[0], pos, &t[1], from);
}

/* Reduce the elements of t[1] that belong to the element of t[0] at pos. */
static void run_reduce(struct op_args *args, const uint32_t pos[4])
{
	const struct op_tensor *x = &args->t[1];
	uint32_t dim[4] = {1, 1, 1, 1};
	uint32_t step[4] = {0};
	const bool product = args->opcode == QUOIT_OP_PROD;
	const bool least = args->opcode == QUOIT_OP_AMIN || args->opcode == QUOIT_OP_ARGMIN;
	const bool extreme = args->opcode == QUOIT_OP_AMAX || args->opcode == QUOIT_OP_AMIN;
	const bool where = args->opcode == QUOIT_OP_ARGMAX || args->opcode == QUOIT_OP_ARGMIN;
	long double sum = product ? 1 : 0;
	uint64_t whole = product ? 1 : 0;
	int64_t best = 0;
	int64_t count = 0;
	int64_t place = 0;
	double most = 0;

	for (int d = 0; d < 4; d++)
		dim[d] = args->arg == d || args->arg == QUOIT_AXIS_ALL ? x->dim[d] : 1;
	do {
		uint32_t from[4];

		if ((uint64_t)dim[0] * dim[1] * dim[2] * dim[3] == 0)
			break;
		for (int d = 0; d < 4; d++)
			from[d] = pos[d] + step[d];
		if (ops_is_float(x->dtype)) {
			double v = ops_get_f(x, from);

			if (product)
				sum *= v;
			else
				sum += args->opcode == QUOIT_OP_SQNORM ? (long double)v * v : v;
			if (count == 0 || (least ? v < most : v > most) ||
			    (isnan(v) && !isnan(most))) {
				most = v;
				place = count;
			}
		} else {
			int64_t v = ops_get_i(x, from);

			whole = product ? whole * (uint64_t)v : whole + (uint64_t)v;
			if (count == 0 || (least ? v < best : v > best)) {
				best = v;
				place = count;
			}
		}
		count++;
	} while (ops_next(dim, step));

	if (count == 0 && (extreme || where))
		args->error = -EINVAL;
	if (where)
		set_i(&args->t[0], pos, (uint64_t)place);
	else if (!ops_is_float(x->dtype))
		set_i(&args->t[0], pos, extreme ? (uint64_t)best : whole);
	else if (extreme)
		set_f(&args->t[0], pos, most);
	else
		set_f(&args->t[0], pos,
		      (double)(args->opcode == QUOIT_OP_MEAN ? sum / count : sum));
}

static void run_gemm(struct op_args *args, const uint32_t pos[4])
{
	const struct op_tensor *t = args->t;
	const bool ta = args->arg & QUOIT_GEMM_TRANS_A;
	const bool tb = args->arg & QUOIT_GEMM_TRANS_B;
	const uint32_t k = t[1].dim[ta ? 2 : 3];
	double sum = 0;

	for (uint32_t p = 0; p < k; p++) {
		const uint32_t a[4] = {pos[0], pos[1], ta ? p : pos[2], ta ? pos[2] : p};
		const uint32_t b[4] = {pos[0], pos[1], tb ? pos[3] : p, tb ? p : pos[3]};

		sum += ops_get_f(&t[1], a) * ops_get_f(&t[2], b);
	}
	sum *= args->scalar[0].f;
	if (args->scalar[1].f != 0)
		sum += args->scalar[1].f * ops_get_f(&t[0], pos);
	set_f(&t[0], pos, sum);
}

static void run_sqloss(struct op_args *args)
{
	const struct op_tensor *t = args->t;
	const uint32_t zero[4] = {0};
	uint32_t pos[4] = {0};
	double sum = 0;

	while ((uint64_t)t[1].dim[0] * t[1].dim[1] * t[1].dim[2] * t[1].dim[3] > 0) {
		double d = ops_get_f(&t[1], pos) - ops_get_f(&t[2], pos);

		sum += d * d;
		if (t[3].data)
			set_f(&t[3], pos, 2 * args->scalar[0].f * d);
		if (!ops_next(t[1].dim, pos))
			break;
	}
	set_f(&t[0], zero, args->scalar[0].f * sum);
}

static void run_one(struct op_args *args, const uint32_t pos[4])
{
	const struct op_tensor *t = args->t;

	switch (args->opcode) {
	case QUOIT_OP_FILL:
		if (ops_is_float(t[0].dtype))
			set_f(&t[0], pos, args->scalar[0].f);
		else
			set_i(&t[0], pos, args->scalar[0].u);
		break;
	case QUOIT_OP_COPY:
	case QUOIT_OP_TRANSPOSE:
	case QUOIT_OP_ROLL:
		run_move(args, pos);
		break;
	case QUOIT_OP_CAST:
		run_cast(t, pos);
		break;
	case QUOIT_OP_GATHER:
		run_gather(args, pos);
		break;
	case QUOIT_OP_SELECT:
		copy_one(&t[0], pos, ops_get_i(&t[1], pos) ? &t[2] : &t[3], pos);
		break;
	case QUOIT_OP_COMPARE:
		run_compare(args, pos);
		break;
	case QUOIT_OP_GEMM:
		run_gemm(args, pos);
		break;
	case QUOIT_OP_SUM:
	case QUOIT_OP_MEAN:
	case QUOIT_OP_PROD:
	case QUOIT_OP_AMAX:
	case QUOIT_OP_AMIN:
	case QUOIT_OP_ARGMAX:
	case QUOIT_OP_ARGMIN:
	case QUOIT_OP_SQNORM:
		run_reduce(args, pos);
		break;
	default:
		run_elementwise(args, pos);
	}
}

void ops_reference_run(struct op_args *args)
{
	const uint32_t *dim = args->t[0].dim;
	uint32_t pos[4] = {0};

	if (args->opcode == QUOIT_OP_SQLOSS) {
		run_sqloss(args);
		return;
	}
	if ((uint64_t)dim[0] * dim[1] * dim[2] * dim[3] == 0)
		return;
	do {
		run_one(args, pos);
	} while (ops_next(dim, pos));
}

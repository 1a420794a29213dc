/* SPDX-License-Identifier: MIT */
/* elementwise.c - operations that make element i of the output from elements i of the inputs. */
#include "ops/vmath.h"
#include "ops/walk.h"

/* A kernel with one input; expr makes the result from x. */
#define UNARY(name, type, expr)                                                                    \
	static void name##_##type(void *const ptr[], uint64_t index, size_t n, void *context)      \
	{                                                                                          \
		type *out = ptr[0];                                                                \
		const type *in = ptr[1];                                                           \
                                                                                                   \
		(void)index, (void)context;                                                        \
		OP_INDEPENDENT                                                                     \
		for (size_t i = 0; i < n; i++) {                                                   \
			type x = in[i];                                                            \
                                                                                                   \
			out[i] = (expr);                                                           \
		}                                                                                  \
	}

/* A kernel with two inputs; expr makes the result from x and y, and may use `args`. */
#define BINARY(name, type, expr)                                                                   \
	static void name##_##type(void *const ptr[], uint64_t index, size_t n, void *context)      \
	{                                                                                          \
		const struct op_args *args = context;                                              \
		type *out = ptr[0];                                                                \
		const type *in0 = ptr[1];                                                          \
		const type *in1 = ptr[2];                                                          \
                                                                                                   \
		(void)index, (void)args;                                                           \
		OP_INDEPENDENT                                                                     \
		for (size_t i = 0; i < n; i++) {                                                   \
			type x = in0[i];                                                           \
			type y = in1[i];                                                           \
                                                                                                   \
			out[i] = (expr);                                                           \
		}                                                                                  \
	}

#define BINARY_FLOAT(name, expr)                                                                   \
	BINARY(name, f32, expr)                                                                    \
	BINARY(name, f64, expr)

BINARY_FLOAT(add, x + y)
BINARY_FLOAT(sub, x - y)
BINARY_FLOAT(mul, x *y)
BINARY_FLOAT(div, x / y)
BINARY_FLOAT(min, x < y || x != x ? x : y)
BINARY_FLOAT(max, x > y || x != x ? x : y)
BINARY_FLOAT(relu_grad, x > 0 ? y : 0)

/* Integers wrap, which in C only unsigned ones do. */
BINARY(add, i32, (i32)((uint32_t)x + (uint32_t)y))
BINARY(add, i64, (i64)((uint64_t)x + (uint64_t)y))
BINARY(sub, i32, (i32)((uint32_t)x - (uint32_t)y))
BINARY(sub, i64, (i64)((uint64_t)x - (uint64_t)y))
BINARY(mul, i32, (i32)((uint32_t)x *(uint32_t)y))
BINARY(mul, i64, (i64)((uint64_t)x *(uint64_t)y))
BINARY(min, i32, x < y ? x : y)
BINARY(min, i64, x < y ? x : y)
BINARY(max, i32, x > y ? x : y)
BINARY(max, i64, x > y ? x : y)

/*
 * A quotient of two 32-bit integers, rounded to double, never reaches the next
 * integer, so truncating it is exact; and doubles neither trap nor fault.
 */
static inline i32 div_one_i32(i32 x, i32 y)
{
	f64 q = (f64)x / (f64)y;

	q = y == 0 ? 0 : q;
	q = q > INT32_MAX ? INT32_MIN : q;
	return (i32)q;
}

/* x and y are this function's own copies: what a client does to the originals cannot trap. */
static inline i64 div_one_i64(i64 x, i64 y)
{
	if (y == 0)
		return 0;
	return y == -1 ? (i64)(0 - (uint64_t)x) : x / y;
}

BINARY(div, i32, div_one_i32(x, y))

static void div_i64(void *const ptr[], uint64_t index, size_t n, void *context)
{
	i64 *out = ptr[0];
	const i64 *x = ptr[1];
	const i64 *y = ptr[2];

	(void)index, (void)context;
	/* An atomic load is one load: no second look at y between the check and the division. */
	for (size_t i = 0; i < n; i++)
		out[i] = div_one_i64(x[i], __atomic_load_n(&y[i], __ATOMIC_RELAXED));
}

#define AXPBY(type, part, as)                                                                      \
	static void axpby_##type(void *const ptr[], uint64_t index, size_t n, void *context)       \
	{                                                                                          \
		const struct op_args *args = context;                                              \
		as a = (as)args->scalar[0].part;                                                   \
		as b = (as)args->scalar[1].part;                                                   \
		type *out = ptr[0];                                                                \
		const type *x = ptr[1];                                                            \
		const type *y = ptr[2];                                                            \
                                                                                                   \
		(void)index;                                                                       \
		OP_INDEPENDENT                                                                     \
		for (size_t i = 0; i < n; i++)                                                     \
			out[i] = (type)(a * (as)x[i] + b * (as)y[i]);                              \
	}

AXPBY(f32, f, f32)
AXPBY(f64, f, f64)
AXPBY(i32, u, uint32_t)
AXPBY(i64, u, uint64_t)

UNARY(relu, f32, x > 0 || x != x ? x : 0)
UNARY(relu, f64, x > 0 || x != x ? x : 0)
UNARY(sqrt, f32, sqrtf(x))
UNARY(sqrt, f64, sqrt(x))
UNARY(exp, f32, vmath_f32_exp(x))
UNARY(exp, f64, vmath_f64_exp(x))
UNARY(log, f32, vmath_f32_log(x))
UNARY(log, f64, vmath_f64_log(x))
UNARY(tanh, f32, vmath_f32_tanh(x))
UNARY(tanh, f64, vmath_f64_tanh(x))
UNARY(sigmoid, f32, vmath_f32_sigmoid(x))
UNARY(sigmoid, f64, vmath_f64_sigmoid(x))
UNARY(sin_near, f32, vmath_f32_sin_near(x))
UNARY(sin_near, f64, vmath_f64_sin_near(x))
UNARY(cos_near, f32, vmath_f32_cos_near(x))
UNARY(cos_near, f64, vmath_f64_cos_near(x))

/* How many elements to look through for a large angle before the next are computed. */
#define TRIG_GROUP 256

/* sin and cos: vector code for groups without a large angle, libm for a group with one. */
#define TRIG(name, type, most, libm)                                                               \
	static void name##_##type(void *const ptr[], uint64_t index, size_t n, void *context)      \
	{                                                                                          \
		for (size_t i = 0; i < n; i += TRIG_GROUP) {                                       \
			size_t group = n - i < TRIG_GROUP ? n - i : TRIG_GROUP;                    \
			type *out = (type *)ptr[0] + i;                                            \
			const type *in = (const type *)ptr[1] + i;                                 \
			int far = 0;                                                               \
                                                                                                   \
			for (size_t j = 0; j < group; j++)                                         \
				far |= in[j] > (most) || in[j] < -(most);                          \
			if (!far) {                                                                \
				name##_near_##type((void *const[]){out, (void *)in}, index, group, \
						   context);                                       \
				continue;                                                          \
			}                                                                          \
			for (size_t j = 0; j < group; j++) {                                       \
				type x = in[j];                                                    \
                                                                                                   \
				far = x > (most) || x < -(most);                                   \
				out[j] = far ? libm(x) : vmath_##type##_##name##_near(x);          \
			}                                                                          \
		}                                                                                  \
	}

TRIG(sin, f32, VMATH_F32_TRIG_MAX, sinf)
TRIG(sin, f64, VMATH_F64_TRIG_MAX, sin)
TRIG(cos, f32, VMATH_F32_TRIG_MAX, cosf)
TRIG(cos, f64, VMATH_F64_TRIG_MAX, cos)

struct elementwise_row {
	walk_fn *fn[QUOIT_DTYPE_NR];
	uint32_t inputs;
};

#define ROW_FLOAT(NAME, name, nr)                                                                  \
	[QUOIT_OP_##NAME -                                                                         \
		QUOIT_OP_ADD] = {{[QUOIT_F32] = name##_f32, [QUOIT_F64] = name##_f64}, nr}
#define ROW_NUMBER(NAME, name, nr)                                                                 \
	[QUOIT_OP_##NAME - QUOIT_OP_ADD] = {{[QUOIT_F32] = name##_f32,                             \
					     [QUOIT_F64] = name##_f64,                             \
					     [QUOIT_I32] = name##_i32,                             \
					     [QUOIT_I64] = name##_i64},                            \
					    nr}

static const struct elementwise_row elementwise_rows[] = {
	ROW_NUMBER(ADD, add, 2),     ROW_NUMBER(SUB, sub, 2),
	ROW_NUMBER(MUL, mul, 2),     ROW_NUMBER(DIV, div, 2),
	ROW_NUMBER(MIN, min, 2),     ROW_NUMBER(MAX, max, 2),
	ROW_NUMBER(AXPBY, axpby, 2), ROW_FLOAT(RELU_GRAD, relu_grad, 2),
	ROW_FLOAT(RELU, relu, 1),    ROW_FLOAT(EXP, exp, 1),
	ROW_FLOAT(LOG, log, 1),      ROW_FLOAT(SQRT, sqrt, 1),
	ROW_FLOAT(TANH, tanh, 1),    ROW_FLOAT(SIN, sin, 1),
	ROW_FLOAT(COS, cos, 1),      ROW_FLOAT(SIGMOID, sigmoid, 1),
};

/* Is the second input args->scalar[0]? */
static bool takes_scalar(const struct op_args *args)
{
	return args->opcode <= QUOIT_OP_MAX && args->arg & QUOIT_EW_SCALAR;
}

static void elementwise_run(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	const struct elementwise_row *row = &elementwise_rows[args->opcode - QUOIT_OP_ADD];
	const struct op_tensor *t[] = {&args->t[0], &args->t[1], &args->t[2]};
	struct op_tensor scalar;
	uint64_t storage;
	struct walk walk;

	if (takes_scalar(args)) {
		scalar = walk_scalar(t[0], args->scalar[0], &storage);
		t[2] = &scalar;
		if (args->arg & QUOIT_EW_REVERSE) {
			t[2] = t[1];
			t[1] = &scalar;
		}
	}
	walk_make(&walk, t, 1 + row->inputs, 1, WALK_ANY_ORDER);
	walk_run(&walk, op_cut(walk.count, tile, tiles), op_cut(walk.count, tile + 1, tiles),
		 row->fn[args->t[0].dtype], args);
}

static void repeat(uint64_t to[OP_SHORT], uint64_t bits, uint32_t element, uint32_t n)
{
	if (element == sizeof(uint32_t))
		for (uint32_t i = 0; i < n; i++)
			((uint32_t *)to)[i] = (uint32_t)bits;
	else
		for (uint32_t i = 0; i < n; i++)
			to[i] = bits;
}

/* Handed to the kernel as they are: a walk would cost more than the arithmetic. */
static void elementwise_run_short(struct op_args *args, void *const data[OP_SHORT_TENSORS],
				  uint8_t dtype, uint32_t n)
{
	walk_fn *kernel = elementwise_rows[args->opcode - QUOIT_OP_ADD].fn[dtype];
	bool reverse = args->arg & QUOIT_EW_REVERSE;
	uint64_t constant[OP_SHORT];
	void *with_scalar[OP_SHORT_TENSORS];

	if (!takes_scalar(args)) {
		kernel(data, 0, n, args);
		return;
	}
	repeat(constant, walk_scalar_bits(args->scalar[0], dtype), op_dtype_size(dtype), n);
	with_scalar[0] = data[0];
	with_scalar[1] = reverse ? constant : data[1];
	with_scalar[2] = reverse ? data[1] : constant;
	kernel(with_scalar, 0, n, args);
}

const struct op_impl OP_NAME(op_elementwise) = {
	.tiles = op_tiles_by_output, .run = elementwise_run, .run_short = elementwise_run_short};

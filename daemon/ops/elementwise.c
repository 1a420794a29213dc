/* SPDX-License-Identifier: MIT */
/* elementwise.c - makes element i of the output from elements i of the inputs */
#include "vmath.h"
#include "walk.h"

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

/* A kernel with two inputs; expr makes the result from x and y. */
#define BINARY(name, type, expr)                                                                   \
	static inline type name##_one_##type(type x, type y)                                       \
	{                                                                                          \
		return (expr);                                                                     \
	}                                                                                          \
                                                                                                   \
	static void name##_##type(void *const ptr[], uint64_t index, size_t n, void *context)      \
	{                                                                                          \
		type *out = ptr[0];                                                                \
		const type *x = ptr[1];                                                            \
		const type *y = ptr[2];                                                            \
                                                                                                   \
		(void)index, (void)context;                                                        \
		OP_INDEPENDENT                                                                     \
		for (size_t i = 0; i < n; i++)                                                     \
			out[i] = name##_one_##type(x[i], y[i]);                                    \
	}

/* As BINARY, with args->scalar[0] in place of an input; it has only two operands. */
#define WITH_SCALAR(name, type)                                                                    \
	static void name##_scalar_##type(void *const ptr[], uint64_t index, size_t n,              \
					 void *context)                                            \
	{                                                                                          \
		const struct op_args *args = context;                                              \
		const type scalar = scalar_##type(args->scalar[0]);                                \
		type *out = ptr[0];                                                                \
		const type *in = ptr[1];                                                           \
                                                                                                   \
		(void)index;                                                                       \
		if (args->arg & QUOIT_EW_REVERSE) {                                                \
			OP_INDEPENDENT                                                             \
			for (size_t i = 0; i < n; i++)                                             \
				out[i] = name##_one_##type(scalar, in[i]);                         \
		} else {                                                                           \
			OP_INDEPENDENT                                                             \
			for (size_t i = 0; i < n; i++)                                             \
				out[i] = name##_one_##type(in[i], scalar);                         \
		}                                                                                  \
	}

#define ARITHMETIC(name, type, expr)                                                               \
	BINARY(name, type, expr)                                                                   \
	WITH_SCALAR(name, type)

#define ARITHMETIC_FLOAT(name, expr)                                                               \
	ARITHMETIC(name, f32, expr)                                                                \
	ARITHMETIC(name, f64, expr)

static inline f32 scalar_f32(union op_scalar scalar)
{
	return (f32)scalar.f;
}

static inline f64 scalar_f64(union op_scalar scalar)
{
	return scalar.f;
}

static inline i32 scalar_i32(union op_scalar scalar)
{
	return (i32)scalar.i;
}

static inline i64 scalar_i64(union op_scalar scalar)
{
	return scalar.i;
}

ARITHMETIC_FLOAT(add, x + y)
ARITHMETIC_FLOAT(sub, x - y)
ARITHMETIC_FLOAT(mul, x *y)
ARITHMETIC_FLOAT(div, x / y)
ARITHMETIC_FLOAT(min, x < y || x != x ? x : y)
ARITHMETIC_FLOAT(max, x > y || x != x ? x : y)
/* By libm: vmath.h has no pow, since exp(y ln x) would multiply the error of ln x by y ln x. */
ARITHMETIC(pow, f32, powf(x, y))
ARITHMETIC(pow, f64, pow(x, y))
BINARY(relu_grad, f32, x > 0 ? y : 0)
BINARY(relu_grad, f64, x > 0 ? y : 0)

/* Integers wrap, which in C only unsigned ones do. */
ARITHMETIC(add, i32, (i32)((uint32_t)x + (uint32_t)y))
ARITHMETIC(add, i64, (i64)((uint64_t)x + (uint64_t)y))
ARITHMETIC(sub, i32, (i32)((uint32_t)x - (uint32_t)y))
ARITHMETIC(sub, i64, (i64)((uint64_t)x - (uint64_t)y))
ARITHMETIC(mul, i32, (i32)((uint32_t)x *(uint32_t)y))
ARITHMETIC(mul, i64, (i64)((uint64_t)x *(uint64_t)y))
ARITHMETIC(min, i32, x < y ? x : y)
ARITHMETIC(min, i64, x < y ? x : y)
ARITHMETIC(max, i32, x > y ? x : y)
ARITHMETIC(max, i64, x > y ? x : y)

/*
 * The quotient of two 32-bit integers, rounded to double, never reaches the next integer.  So
 * truncating it is exact, and doubles neither trap nor fault.
 */
static inline i32 divide_i32(i32 x, i32 y)
{
	f64 q = (f64)x / (f64)y;

	q = y == 0 ? 0 : q;
	q = q > INT32_MAX ? INT32_MIN : q;
	return (i32)q;
}

static inline i64 divide_i64(i64 x, i64 y)
{
	/* In a register: a client's memory is not read again between the check and the division. */
	__asm__("" : "+r"(y));
	if (y == 0)
		return 0;
	return y == -1 ? (i64)(0 - (uint64_t)x) : x / y;
}

ARITHMETIC(div, i32, divide_i32(x, y))
ARITHMETIC(div, i64, divide_i64(x, y))

/* By squaring, modulo 2^64; to a negative power it is 1 / x^|y| toward zero, and 0 for x = 0. */
static inline i64 power_integer(i64 x, i64 y)
{
	uint64_t power = 1;

	if (y < 0)
		return x == 1 || x == -1 ? (y & 1 ? x : 1) : 0;
	for (uint64_t square = (uint64_t)x; y > 0; y >>= 1, square *= square)
		power *= y & 1 ? square : 1;
	return (i64)power;
}

ARITHMETIC(pow, i32, (i32)power_integer(x, y))
ARITHMETIC(pow, i64, power_integer(x, y))

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
UNARY(abs, f32, fabsf(x))
UNARY(abs, f64, fabs(x))
UNARY(abs, i32, (i32)(x < 0 ? 0 - (uint32_t)x : (uint32_t)x))
UNARY(abs, i64, (i64)(x < 0 ? 0 - (uint64_t)x : (uint64_t)x))
UNARY(floor, f32, floorf(x))
UNARY(floor, f64, floor(x))
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

/* So many elements are searched for a large angle before they are computed. */
#define TRIG_GROUP 256

/* sin and cos: vector code for groups without a large angle, libm for large angles. */
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
	walk_fn *with_scalar[QUOIT_DTYPE_NR]; /* for operations of which an input may be a scalar */
	uint32_t inputs;
};

/* A kernel for each type that a letter of ops.def stands for. */
#define KERNELS_F(name)                                                                            \
	{                                                                                          \
		[QUOIT_F32] = name##_f32, [QUOIT_F64] = name##_f64                                 \
	}
#define KERNELS_N(name)                                                                            \
	{                                                                                          \
		[QUOIT_F32] = name##_f32, [QUOIT_F64] = name##_f64, [QUOIT_I32] = name##_i32,      \
		[QUOIT_I64] = name##_i64                                                           \
	}

/* A row for each operation of these families, which does not compile until its kernels are above. */
static const struct elementwise_row elementwise_rows[] = {
#define QUOIT_ROW_FUNCTION(nr, name, types) [nr] = {.fn = KERNELS_##types(name), .inputs = 1},
#define QUOIT_ROW_GRADIENT(nr, name, types) [nr] = {.fn = KERNELS_##types(name), .inputs = 2},
#define QUOIT_ROW_BLEND                     QUOIT_ROW_GRADIENT
#define QUOIT_ROW_ARITHMETIC(nr, name, types)                                                      \
	[nr] = {.fn = KERNELS_##types(name),                                                       \
		.with_scalar = KERNELS_##types(name##_scalar),                                     \
		.inputs = 2},
#include <quoit/family_ops.def>
};

/* Is one input args->scalar[0]?  Only operations that take a scalar may have an arg (rules.c). */
static bool takes_scalar(const struct op_args *args)
{
	return args->arg & QUOIT_EW_SCALAR;
}

static void elementwise_run(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	const struct elementwise_row *row = &elementwise_rows[args->opcode];
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

/* The kernel gets the memory as it is: a walk would cost more than the arithmetic. */
static void elementwise_run_short(struct op_args *args, void *const data[OP_SHORT_TENSORS],
				  uint8_t dtype, uint32_t n)
{
	const struct elementwise_row *row = &elementwise_rows[args->opcode];

	(takes_scalar(args) ? row->with_scalar : row->fn)[dtype](data, 0, n, args);
}

const struct op_impl OP_NAME(op_elementwise) = {
	.tiles = op_tiles_by_output, .run = elementwise_run, .run_short = elementwise_run_short};

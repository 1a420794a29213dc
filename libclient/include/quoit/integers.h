/* SPDX-License-Identifier: MIT */
/*
 * integers.h - makes it a compile error to pass a floating-point number where an integer or bits
 * belong.
 *
 * Such a number would lose its fraction, and by themselves compilers warn of that only with
 * -Wfloat-conversion.  The error comes in C from C11 on, and in C++; C99 has no means for it.  An
 * integer for a builder that takes a double loses nothing.  Whether the tensors have the right type
 * is known only when the job runs, since a handle does not say it.
 */
#ifndef QUOIT_INTEGERS_H
#define QUOIT_INTEGERS_H

#ifdef __cplusplus

extern "C++" { /* a program may include quoit.h within extern "C" */
#include <type_traits>

/* clang-format off */
template <bool any>
using quoit_sqe_of_floating = typename std::enable_if<any, struct quoit_sqe>::type;

#define QUOIT_NO_FLOATING(name, ...)                                                               \
	template <typename T>                                                                      \
	quoit_sqe_of_floating<std::is_floating_point<T>::value> name(__VA_ARGS__) = delete;
#define QUOIT_NO_FLOATING2(name, ...)                                                              \
	template <typename T, typename U>                                                          \
	quoit_sqe_of_floating<std::is_floating_point<T>::value || std::is_floating_point<U>::value> \
		name(__VA_ARGS__) = delete;
/* clang-format on */

QUOIT_NO_FLOATING(quoit_fill_int, quoit_tensor, T)
QUOIT_NO_FLOATING(quoit_add_int, quoit_tensor, quoit_tensor, T)
QUOIT_NO_FLOATING(quoit_sub_int, quoit_tensor, quoit_tensor, T)
QUOIT_NO_FLOATING(quoit_mul_int, quoit_tensor, quoit_tensor, T)
QUOIT_NO_FLOATING(quoit_div_int, quoit_tensor, quoit_tensor, T)
QUOIT_NO_FLOATING(quoit_min_int, quoit_tensor, quoit_tensor, T)
QUOIT_NO_FLOATING(quoit_max_int, quoit_tensor, quoit_tensor, T)
QUOIT_NO_FLOATING(quoit_pow_int, quoit_tensor, quoit_tensor, T)
QUOIT_NO_FLOATING(quoit_compare_int, quoit_tensor, quoit_tensor, enum quoit_predicate, T)
QUOIT_NO_FLOATING2(quoit_axpby_int, quoit_tensor, T, quoit_tensor, U, quoit_tensor)
QUOIT_NO_FLOATING2(quoit_op_int, struct quoit_sqe, int, T, U)
QUOIT_NO_FLOATING2(quoit_op_arg, struct quoit_sqe, int, T, U)
QUOIT_NO_FLOATING2(quoit_with_scalars, struct quoit_sqe, T, U)
#undef QUOIT_NO_FLOATING
#undef QUOIT_NO_FLOATING2
}

#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L

/* Compilers show this name in their error. */
struct quoit_floating_where_an_integer_belongs {
	char unused;
};
#define QUOIT_FLOATING ((struct quoit_floating_where_an_integer_belongs){0})
#define QUOIT_INTEGER(x)                                                                           \
	_Generic((x), float                                                                        \
		 : QUOIT_FLOATING, double                                                          \
		 : QUOIT_FLOATING, long double                                                     \
		 : QUOIT_FLOATING, default                                                         \
		 : (x))

#define quoit_fill_int(out, value) quoit_fill_int(out, QUOIT_INTEGER(value))
#define quoit_add_int(out, x, y)   quoit_add_int(out, x, QUOIT_INTEGER(y))
#define quoit_sub_int(out, x, y)   quoit_sub_int(out, x, QUOIT_INTEGER(y))
#define quoit_mul_int(out, x, y)   quoit_mul_int(out, x, QUOIT_INTEGER(y))
#define quoit_div_int(out, x, y)   quoit_div_int(out, x, QUOIT_INTEGER(y))
#define quoit_min_int(out, x, y)   quoit_min_int(out, x, QUOIT_INTEGER(y))
#define quoit_max_int(out, x, y)   quoit_max_int(out, x, QUOIT_INTEGER(y))
#define quoit_pow_int(out, x, y)   quoit_pow_int(out, x, QUOIT_INTEGER(y))
#define quoit_compare_int(out, x, predicate, y)                                                    \
	quoit_compare_int(out, x, predicate, QUOIT_INTEGER(y))
#define quoit_axpby_int(out, a, x, b, y)                                                           \
	quoit_axpby_int(out, QUOIT_INTEGER(a), x, QUOIT_INTEGER(b), y)

/*
 * All arguments, the last two of them integers.  An SQE may come first as a compound literal, whose
 * commas the preprocessor takes for those between arguments, so arguments are counted from the end:
 * QUOIT_INTEGERS_n takes n of what the preprocessor sees.
 */
#define QUOIT_INTEGERS_2(x, y)    QUOIT_INTEGER(x), QUOIT_INTEGER(y)
#define QUOIT_INTEGERS_3(x, ...)  x, QUOIT_INTEGERS_2(__VA_ARGS__)
#define QUOIT_INTEGERS_4(x, ...)  x, QUOIT_INTEGERS_3(__VA_ARGS__)
#define QUOIT_INTEGERS_5(x, ...)  x, QUOIT_INTEGERS_4(__VA_ARGS__)
#define QUOIT_INTEGERS_6(x, ...)  x, QUOIT_INTEGERS_5(__VA_ARGS__)
#define QUOIT_INTEGERS_7(x, ...)  x, QUOIT_INTEGERS_6(__VA_ARGS__)
#define QUOIT_INTEGERS_8(x, ...)  x, QUOIT_INTEGERS_7(__VA_ARGS__)
#define QUOIT_INTEGERS_9(x, ...)  x, QUOIT_INTEGERS_8(__VA_ARGS__)
#define QUOIT_INTEGERS_10(x, ...) x, QUOIT_INTEGERS_9(__VA_ARGS__)
#define QUOIT_INTEGERS_11(x, ...) x, QUOIT_INTEGERS_10(__VA_ARGS__)
#define QUOIT_INTEGERS_12(x, ...) x, QUOIT_INTEGERS_11(__VA_ARGS__)
#define QUOIT_INTEGERS_13(x, ...) x, QUOIT_INTEGERS_12(__VA_ARGS__)
#define QUOIT_INTEGERS_14(x, ...) x, QUOIT_INTEGERS_13(__VA_ARGS__)
#define QUOIT_INTEGERS_15(x, ...) x, QUOIT_INTEGERS_14(__VA_ARGS__)
#define QUOIT_INTEGERS_16(x, ...) x, QUOIT_INTEGERS_15(__VA_ARGS__)
#define QUOIT_INTEGERS_17(x, ...) x, QUOIT_INTEGERS_16(__VA_ARGS__)
#define QUOIT_INTEGERS_18(x, ...) x, QUOIT_INTEGERS_17(__VA_ARGS__)
#define QUOIT_INTEGERS_19(x, ...) x, QUOIT_INTEGERS_18(__VA_ARGS__)
#define QUOIT_INTEGERS_20(x, ...) x, QUOIT_INTEGERS_19(__VA_ARGS__)
#define QUOIT_INTEGERS_21(x, ...) x, QUOIT_INTEGERS_20(__VA_ARGS__)
#define QUOIT_INTEGERS_22(x, ...) x, QUOIT_INTEGERS_21(__VA_ARGS__)
#define QUOIT_INTEGERS_23(x, ...) x, QUOIT_INTEGERS_22(__VA_ARGS__)
#define QUOIT_INTEGERS_24(x, ...) x, QUOIT_INTEGERS_23(__VA_ARGS__)
#define QUOIT_INTEGERS_PICK(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, \
			    a17, a18, a19, a20, a21, a22, a23, a24, name, ...)                     \
	name
#define QUOIT_INTEGERS(...)                                                                        \
	QUOIT_INTEGERS_PICK(__VA_ARGS__, QUOIT_INTEGERS_24, QUOIT_INTEGERS_23, QUOIT_INTEGERS_22,  \
			    QUOIT_INTEGERS_21, QUOIT_INTEGERS_20, QUOIT_INTEGERS_19,               \
			    QUOIT_INTEGERS_18, QUOIT_INTEGERS_17, QUOIT_INTEGERS_16,               \
			    QUOIT_INTEGERS_15, QUOIT_INTEGERS_14, QUOIT_INTEGERS_13,               \
			    QUOIT_INTEGERS_12, QUOIT_INTEGERS_11, QUOIT_INTEGERS_10,               \
			    QUOIT_INTEGERS_9, QUOIT_INTEGERS_8, QUOIT_INTEGERS_7,                  \
			    QUOIT_INTEGERS_6, QUOIT_INTEGERS_5, QUOIT_INTEGERS_4,                  \
			    QUOIT_INTEGERS_3, QUOIT_INTEGERS_2, none, none)                        \
	(__VA_ARGS__)

#define quoit_op_int(...)       quoit_op_int(QUOIT_INTEGERS(__VA_ARGS__))
#define quoit_op_arg(...)       quoit_op_arg(QUOIT_INTEGERS(__VA_ARGS__))
#define quoit_with_scalars(...) quoit_with_scalars(QUOIT_INTEGERS(__VA_ARGS__))

#endif
#endif

/* SPDX-License-Identifier: MIT */
/*
 * integers.h - makes it a compile error to pass a floating-point number to a builder for integers.
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
QUOIT_NO_FLOATING(quoit_compare_int, quoit_tensor, quoit_tensor, enum quoit_predicate, T)
QUOIT_NO_FLOATING2(quoit_axpby_int, quoit_tensor, T, quoit_tensor, U, quoit_tensor)
QUOIT_NO_FLOATING2(quoit_op_int, struct quoit_sqe, uint8_t, T, U)
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
#define quoit_compare_int(out, x, predicate, y)                                                    \
	quoit_compare_int(out, x, predicate, QUOIT_INTEGER(y))
#define quoit_axpby_int(out, a, x, b, y)                                                           \
	quoit_axpby_int(out, QUOIT_INTEGER(a), x, QUOIT_INTEGER(b), y)
#define quoit_op_int(sqe, arg, scalar0, scalar1)                                                   \
	quoit_op_int(sqe, arg, QUOIT_INTEGER(scalar0), QUOIT_INTEGER(scalar1))

#endif
#endif

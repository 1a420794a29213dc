/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - what the files of this folder share; private to daemon/ops and its tests.
 *
 * Every file except ops.c and blas.c is compiled once per instruction set, with OP_ISA defined to
 * its name.  The symbols that such a file exports end in that name (OP_NAME()), so all sets live in
 * one program and ops.c chooses.
 */
#ifndef QUOITD_OPS_KERNEL_H
#define QUOITD_OPS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "ops.h"

#define OP_JOIN_(a, b) a##_##b
#define OP_JOIN(a, b)  OP_JOIN_(a, b)
#define OP_NAME(name)  OP_JOIN(name, OP_ISA)

typedef float f32;
typedef double f64;
typedef int32_t i32;
typedef int64_t i64;

/*
 * The next loop has no dependence from one turn to the next.  It is needed where an output may be
 * the same memory as an input, which rules out `restrict`.  (clang warns where it cannot vectorize,
 * as among the checks of a sanitizer.)
 */
#if defined(QUOIT_SANITIZE)
#define OP_INDEPENDENT
#elif defined(__clang__)
#define OP_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define OP_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* Implementations of one instruction set by operation number; NULL: none. */
extern const struct op_impl *const ops_table_base[QUOIT_OP_NR];
extern const struct op_impl *const ops_table_avx2[QUOIT_OP_NR];
extern const struct op_impl *const ops_table_avx512[QUOIT_OP_NR];

/* The implementations; table.c says which family has which. */
extern const struct op_impl OP_NAME(op_cast);
extern const struct op_impl OP_NAME(op_compare);
extern const struct op_impl OP_NAME(op_copy);
extern const struct op_impl OP_NAME(op_elementwise);
extern const struct op_impl OP_NAME(op_gather);
extern const struct op_impl OP_NAME(op_gemm);
extern const struct op_impl OP_NAME(op_place);
extern const struct op_impl OP_NAME(op_random);
extern const struct op_impl OP_NAME(op_reduce);
extern const struct op_impl OP_NAME(op_roll);
extern const struct op_impl OP_NAME(op_select);
extern const struct op_impl OP_NAME(op_sqloss);

/* A tile should be worth the way to another core, and there should be few of them. */
#define OP_TILE_BYTES     65536u
#define OP_TILES_PER_CORE 3u

/* Into how many tiles to cut work that touches `bytes`. */
static inline uint32_t op_tiles(uint64_t bytes, uint32_t cores)
{
	uint64_t most = (uint64_t)cores * OP_TILES_PER_CORE;
	uint64_t tiles = bytes / OP_TILE_BYTES;

	if (cores < 2 || tiles < 2)
		return 1;
	return (uint32_t)(tiles < most ? tiles : most);
}

static inline uint64_t op_count(const struct op_tensor *t)
{
	return (uint64_t)t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3];
}

/* For operations with work in proportion to their output: op_impl.tiles. */
static inline uint32_t op_tiles_by_output(const struct op_args *args, uint32_t cores)
{
	return op_tiles(op_count(&args->t[0]) * op_dtype_size(args->t[0].dtype), cores);
}

/*
 * Where tile `tile` of `tiles` begins among `count` things; tile == tiles gives the end.  It cuts
 * at multiples of 64 things, so that tiles do not share cache lines.
 */
static inline uint64_t op_cut(uint64_t count, uint32_t tile, uint32_t tiles)
{
	return tile == tiles ? count : count / tiles * tile / 64 * 64;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * families.h - what the operations of one family of ops.def have in common, and the types of its
 * letters.
 *
 * Whatever runs operations (the CPU, a driver of a device, a consumer of a GPU-direct ring) chooses
 * its code by the family.  So a new operation of a known family is missing nowhere.
 */
#ifndef QUOIT_FAMILIES_H
#define QUOIT_FAMILIES_H

#include <quoit/abi.h>

enum quoit_family {
	QUOIT_FAMILY_NONE,       /* runs without arithmetic, or not as a job */
	QUOIT_FAMILY_MOVE,       /* one place to another, or a scalar to all: out (, x) */
	QUOIT_FAMILY_CAST,       /* out, x of another type */
	QUOIT_FAMILY_TRANSPOSE,  /* out, x with its dims in another order */
	QUOIT_FAMILY_ROLL,       /* out, x shifted along an axis */
	QUOIT_FAMILY_GATHER,     /* out, x, index; may fail by what the index holds */
	QUOIT_FAMILY_SELECT,     /* out, condition, x, y */
	QUOIT_FAMILY_COMPARE,    /* out (i32), x, y or a scalar */
	QUOIT_FAMILY_RANDOM,     /* out, by a key and a counter */
	QUOIT_FAMILY_ARITHMETIC, /* element by element: out, x, y or a scalar on either side */
	QUOIT_FAMILY_BLEND,      /* element by element: out, x, y, two scalars */
	QUOIT_FAMILY_FUNCTION,   /* element by element: out, x */
	QUOIT_FAMILY_GRADIENT,   /* element by element: out, x, dy */
	QUOIT_FAMILY_PRODUCT,    /* of matrices: out, x, y */
	QUOIT_FAMILY_REDUCTION,  /* over axes; has a value of nothing */
	QUOIT_FAMILY_EXTREME,    /* over axes, one of the elements; of nothing it fails */
	QUOIT_FAMILY_PLACE,      /* over axes, the index (i64) of an element; of nothing it fails */
	QUOIT_FAMILY_LOSS,       /* over all: out, x, y (, gradient) */
};

/* The types of ops.def's letters; bit n: type n. */
#define QUOIT_TYPES_F (1u << QUOIT_F32 | 1u << QUOIT_F64)
#define QUOIT_TYPES_P (QUOIT_TYPES_F | 1u << QUOIT_BF16 | 1u << QUOIT_F16)
#define QUOIT_TYPES_I (1u << QUOIT_I32 | 1u << QUOIT_I64)
#define QUOIT_TYPES_N (QUOIT_TYPES_F | QUOIT_TYPES_I)
#define QUOIT_TYPES_M (QUOIT_TYPES_N | 1u << QUOIT_BF16 | 1u << QUOIT_F16)
#define QUOIT_TYPES_X 0xffu

#ifdef __CUDACC__
#define QUOIT_OF_OPERATION static inline __host__ __device__
#else
#define QUOIT_OF_OPERATION static inline
#endif

/* The family of an operation; QUOIT_FAMILY_NONE: it has none, or ops.def does not have it. */
QUOIT_OF_OPERATION enum quoit_family quoit_family_of(uint8_t opcode)
{
	switch (opcode) {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help)                  \
	case nr:                                                                                   \
		return QUOIT_FAMILY_##family;
#include <quoit/ops.def>
#undef QUOIT_OP
	default:
		return QUOIT_FAMILY_NONE;
	}
}

/* The types of elements that an operation computes on, as bits. */
QUOIT_OF_OPERATION uint8_t quoit_types_of(uint8_t opcode)
{
	switch (opcode) {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help)                  \
	case nr:                                                                                   \
		return QUOIT_TYPES_##types;
#include <quoit/ops.def>
#undef QUOIT_OP
	default:
		return 0;
	}
}

/* Must the operation have an element for each result?  Then of nothing it fails. */
QUOIT_OF_OPERATION int quoit_needs_element(uint8_t opcode)
{
	const enum quoit_family family = quoit_family_of(opcode);

	return family == QUOIT_FAMILY_EXTREME || family == QUOIT_FAMILY_PLACE;
}

#undef QUOIT_OF_OPERATION

#endif

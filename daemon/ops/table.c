/* SPDX-License-Identifier: MIT */
/* table.c - maps operations to functions by their families, for one instruction set */
#include "kernel.h"

#define NONE       NULL
#define MOVE       &OP_NAME(op_copy)
#define CAST       &OP_NAME(op_cast)
#define TRANSPOSE  &OP_NAME(op_copy)
#define ROLL       &OP_NAME(op_roll)
#define GATHER     &OP_NAME(op_gather)
#define SELECT     &OP_NAME(op_select)
#define COMPARE    &OP_NAME(op_compare)
#define RANDOM     &OP_NAME(op_random)
#define ARITHMETIC &OP_NAME(op_elementwise)
#define BLEND      &OP_NAME(op_elementwise)
#define FUNCTION   &OP_NAME(op_elementwise)
#define GRADIENT   &OP_NAME(op_elementwise)
#define PRODUCT    &OP_NAME(op_gemm)
#define REDUCTION  &OP_NAME(op_reduce)
#define EXTREME    &OP_NAME(op_reduce)
#define PLACE      &OP_NAME(op_place)
#define LOSS       &OP_NAME(op_sqloss)

const struct op_impl *const OP_NAME(ops_table)[QUOIT_OP_NR] = {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help) [nr] = family,
#include <quoit/ops.def>
#undef QUOIT_OP
};

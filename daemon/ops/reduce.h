/* SPDX-License-Identifier: MIT */
/* reduce.h - what place.c takes from reduce.c; private to daemon/ops */
#ifndef QUOITD_OPS_REDUCE_H
#define QUOITD_OPS_REDUCE_H

#include "walk.h"

#define reduce_extreme OP_NAME(reduce_extreme)
#define reduce_nothing OP_NAME(reduce_nothing)
#define reduce_tiles   OP_NAME(reduce_tiles)

/*
 * The kernel that finds the element of which an operation wants the place.  Its context is a union
 * op_scalar that it raises or lowers: f for floating point, i for integers.  *ret_start is the
 * value to start with.
 */
walk_fn *reduce_extreme(uint8_t opcode, uint8_t dtype, union op_scalar *ret_start);

/* True: the reduction has a result but no element; the failure is recorded. */
bool reduce_nothing(struct op_args *args);

/* op_impl.tiles of a reduction. */
uint32_t reduce_tiles(const struct op_args *args, uint32_t cores);

#endif

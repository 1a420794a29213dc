/* SPDX-License-Identifier: MIT */
/* reduce.h - what argmax.c takes from reduce.c; private to daemon/ops */
#ifndef QUOITD_OPS_REDUCE_H
#define QUOITD_OPS_REDUCE_H

#include "walk.h"

#define reduce_amax    OP_NAME(reduce_amax)
#define reduce_nothing OP_NAME(reduce_nothing)
#define reduce_tiles   OP_NAME(reduce_tiles)

/*
 * The kernel of AMAX for a type.  Its context is a union op_scalar that it raises: f for floating
 * point, i for integers.  *ret_least is the value to start with.
 */
walk_fn *reduce_amax(uint8_t dtype, union op_scalar *ret_least);

/* True: the reduction has a result but no element; the failure is recorded. */
bool reduce_nothing(struct op_args *args);

/* op_impl.tiles of a reduction. */
uint32_t reduce_tiles(const struct op_args *args, uint32_t cores);

#endif

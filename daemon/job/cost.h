/* SPDX-License-Identifier: MIT */
/*
 * cost.h - predicts what a job will cost from the cost in its row (optable.h).
 *
 * Pure functions.  The prediction decides where a job is computed, which job is next, and which
 * jobs are refused as too long.
 */
#ifndef QUOITD_COST_H
#define QUOITD_COST_H

#include "validate.h"

/*
 * Fill in plan->cost and plan->piece, in ns.  The plan has the job's row, tensors and elements, and
 * they fit each other (rules.h).
 */
void cost_predict(const struct quoit_sqe *sqe, struct plan *plan);

/* Can a BLAS express these strides?  The matrix is the last two dims: rows and columns. */
bool cost_is_expressible(const struct view *v);

/*
 * The most nanoseconds that the job takes on a device that it has to itself, from plan->cost.  Of a
 * product, the plan must have tensors 0 to 2.
 */
uint64_t cost_on_device(const struct device_speed *device, const struct plan *plan);

#endif

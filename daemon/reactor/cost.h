/* SPDX-License-Identifier: MIT */
/*
 * cost.h - what a job will cost, by the cost of its row (optable.h).  Pure.  What is predicted
 * decides who computes it, whose turn is next, and what is too long to be taken at all.
 */
#ifndef QUOITD_COST_H
#define QUOITD_COST_H

#include "validate.h"

/*
 * Fill in plan->cost and plan->piece of a job whose row, tensors and elements are in the plan
 * and fit each other (rules.h).
 */
void cost_predict(const struct quoit_sqe *sqe, struct plan *plan);

/* Has a BLAS words for a matrix with these strides, the last two dims its rows and columns? */
bool cost_is_expressible(const struct view *v);

/*
 * Nanoseconds that such a job takes on a device at most, when it has it for itself; by plan->cost.
 * Of a product, tensors 0 to 2 are in the plan.
 */
uint64_t cost_on_device(const struct device_speed *device, const struct plan *plan);

#endif

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

#endif

/* SPDX-License-Identifier: MIT */
/*
 * rules.h - which tensors fit an operation, by the shape rule of its row.  Pure, like
 * validate.h, whose second half this is.
 */
#ifndef QUOITD_RULES_H
#define QUOITD_RULES_H

#include "optable.h"
#include "validate.h"

/*
 * Check types, dims, arg and scalars of a job whose row and tensors are in the plan.  Fills in
 * plan->elements and what it will cost (cost.h), and takes back a read that does not happen.  0, or
 * fault->code.
 */
int rules_check(const struct session *s, const struct quoit_sqe *sqe, struct plan *plan,
		struct fault *fault);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * rules.h - checks tensors, arg and scalars by the shape rule of the operation's row.
 *
 * The second half of validate.h, and pure like it.
 */
#ifndef QUOITD_RULES_H
#define QUOITD_RULES_H

#include "ops/optable.h"
#include "validate.h"

/*
 * Check types, dims, arg and scalars of a job; the plan has its row and tensors.  Fills in
 * plan->elements and the predicted cost (cost.h), and removes a read that does not happen.  0, or
 * fault->code.
 */
int rules_check(const struct session *s, const struct quoit_sqe *sqe, struct plan *plan,
		struct fault *fault);

#endif

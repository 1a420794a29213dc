/* SPDX-License-Identifier: MIT */
/*
 * direct_rules.h - which jobs are for GPU-direct mode (quoit/direct.h).
 */
#ifndef QUOITD_DIRECT_RULES_H
#define QUOITD_DIRECT_RULES_H

#include "validate.h"

/*
 * Is a valid job small, of a kind that a consumer on its device runs, and without a way to fail
 * there?  A pure function of what the job is: whether there is a consumer now, and whether the
 * bytes are where it reaches them, is asked when the job is sent (backend_direct.h).
 */
bool direct_is_small(const struct quoit_sqe *sqe, const struct plan *plan);

#endif

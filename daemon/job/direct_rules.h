/* SPDX-License-Identifier: MIT */
/* direct_rules.h - which jobs may use GPU-direct mode (quoit/direct.h). */
#ifndef QUOITD_DIRECT_RULES_H
#define QUOITD_DIRECT_RULES_H

#include "validate.h"

/*
 * Is a valid job small, of a kind that a consumer on its device runs, and unable to fail there?
 * Pure: it looks at the job alone.  Whether there is a consumer now, and whether it reaches the
 * bytes, is asked when the job is sent (backend_direct.h).
 */
bool direct_is_small(const struct plan *plan);

#endif

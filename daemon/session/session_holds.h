/* SPDX-License-Identifier: MIT */
/* session_holds.h - accesses that a session's program holds (job/hold.h) */
#ifndef QUOITD_SESSION_HOLDS_H
#define QUOITD_SESSION_HOLDS_H

#include <stdbool.h>
#include <stdint.h>

#include "depth.h"

struct session_holds {
	uint32_t count;            /* of those in the list */
	uint32_t first;            /* jobs that are JOB_HELD or JOB_RELEASED, linked by job.next */
	bool due;                  /* some are to end once no piece is being moved */
	struct depth held;         /* those that are JOB_HELD */
	uint64_t granted, refused; /* acquires since the start */
};

#endif

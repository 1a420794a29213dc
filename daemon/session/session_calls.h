/* SPDX-License-Identifier: MIT */
/* session_calls.h - calls of a session's own functions, over all its teams (session_team.h) */
#ifndef QUOITD_SESSION_CALLS_H
#define QUOITD_SESSION_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct session_calls {
	uint32_t serial;  /* of the last call that was posted: tells one from another */
	uint32_t waiting; /* ready, and not posted yet */
	uint32_t posted;  /* and not returned yet */
	bool due;         /* calls were started, and call_post has not looked at them */
	uint64_t returned;
	uint64_t ticks; /* that those functions ran */
};

#endif

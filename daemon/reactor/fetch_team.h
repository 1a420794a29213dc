/* SPDX-License-Identifier: MIT */
/* fetch_team.h - SQEs of a team's ring, which is for returns alone (session_team.h) */
#ifndef QUOITD_FETCH_TEAM_H
#define QUOITD_FETCH_TEAM_H

#include "reactor.h"

/* Take the SQEs from `index` to `end`: end calls, and refuse all else.  Returns the first left. */
uint32_t fetch_returns(struct ring *ring, uint32_t index, uint32_t end);

#endif

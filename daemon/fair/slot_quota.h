/* SPDX-License-Identifier: MIT */
/*
 * slot_quota.h - shares out places that are held until what they are for has ended: slots for works
 * that users share, and requests at the memory thread.
 *
 * A user may take another place only while it holds fewer than are left, so that half of them are
 * left for others.  A session that holds none may take one more unless only a quarter is left.
 */
#ifndef QUOITD_SLOT_QUOTA_H
#define QUOITD_SLOT_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

/* Of `all` places `left` are free; may a session that holds of_session of its user's take one? */
static inline bool slot_quota_admits(uint32_t all, uint32_t left, uint32_t of_user,
				     uint32_t of_session)
{
	return of_user < left || (!of_session && left > all / 4);
}

#endif

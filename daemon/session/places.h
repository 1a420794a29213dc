/* SPDX-License-Identifier: MIT */
/*
 * places.h - places that are taken for as long as what is there takes: those for works with the
 * workers that users share, requests at the memory thread.
 *
 * A user takes no more than are left: half of them alone, and who comes next finds some.  A session
 * that has none gets one beside, but for the last quarter.
 */
#ifndef QUOITD_PLACES_H
#define QUOITD_PLACES_H

#include <stdbool.h>
#include <stdint.h>

static inline bool places_admit(uint32_t all, uint32_t left, uint32_t of_user, uint32_t of_session)
{
	return of_user < left || (!of_session && left > all / 4);
}

#endif

/* SPDX-License-Identifier: MIT */
/* uid.h - does a uid identify a user?  For quoitd and its clients. */
#ifndef QUOIT_UID_H
#define QUOIT_UID_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Does this user namespace contain all users, each under its own number? */
static inline bool quoit_uid_all_are_here(void)
{
	unsigned long inside, outside, count;
	FILE *map = fopen("/proc/self/uid_map", "re");
	bool all = !map || (fscanf(map, "%lu %lu %lu", &inside, &outside, &count) == 3 && !inside &&
			    !outside && count == UINT32_MAX);

	if (map)
		(void)fclose(map);
	return all;
}

/*
 * False: this is the one number under which a user namespace shows all users that it does not
 * contain.
 */
static inline bool quoit_uid_is_told(uid_t uid)
{
	FILE *f = fopen("/proc/sys/kernel/overflowuid", "re");
	unsigned long overflow = 65534;

	if (f) {
		if (fscanf(f, "%lu", &overflow) != 1)
			overflow = 65534;
		(void)fclose(f);
	}
	return uid != overflow || quoit_uid_all_are_here();
}

#endif

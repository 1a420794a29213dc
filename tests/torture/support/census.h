/* SPDX-License-Identifier: MIT */
/* census.h - count a process's resources: descriptors, mappings, threads, memory */
#ifndef TORTURE_CENSUS_H
#define TORTURE_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* UINT64_MAX: not known, because we may not look, or the process has ended. */
struct census {
	uint64_t descriptors;
	uint64_t memfds; /* mappings of memfds */
	uint64_t threads;
	uint64_t shared;    /* resident bytes of shared memory */
	uint64_t anonymous; /* resident bytes of private memory */
	uint64_t locked;    /* pinned bytes */
	uint64_t huge;      /* bytes of reserved huge pages */
};

void census_take(pid_t pid, struct census *ret);

/*
 * Has everything gone back to `before`?  Private memory may have grown by `slack` bytes (caches of
 * the allocator).  Otherwise `text` names what has not, or is not known.
 */
bool census_is_back(const struct census *before, const struct census *now, uint64_t slack,
		    char *text, size_t size);

#endif

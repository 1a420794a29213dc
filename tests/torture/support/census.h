/* SPDX-License-Identifier: MIT */
/* census.h - what a process has: descriptors, mappings, threads, memory */
#ifndef TORTURE_CENSUS_H
#define TORTURE_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* UINT64_MAX: not known: we may not look at it, or it has ended. */
struct census {
	uint64_t descriptors;
	uint64_t memfds; /* mappings of them */
	uint64_t threads;
	uint64_t shared;    /* resident bytes of shared memory */
	uint64_t anonymous; /* resident bytes of its own */
	uint64_t locked;    /* bytes that are pinned */
	uint64_t huge;      /* bytes of reserved huge pages */
};

void census_take(pid_t pid, struct census *ret);

/*
 * Has everything gone back to `before`?  Memory of its own may have grown by `slack` bytes
 * (caches of the allocator).  Else what has not, or is not known, is in `text`.
 */
bool census_is_back(const struct census *before, const struct census *now, uint64_t slack,
		    char *text, size_t size);

#endif

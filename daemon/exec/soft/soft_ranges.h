/* SPDX-License-Identifier: MIT */
/*
 * soft_ranges.h - ranges of addresses that do not overlap
 *
 * What is allocated on a device, and what host memory it knows.  What is free is what lies
 * between them, so there is nothing to merge.  Sorted: looking up is logarithmic, adding and
 * removing moves what comes behind.  No thread safety of its own.
 */
#ifndef QUOIT_SOFT_RANGES_H
#define QUOIT_SOFT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct soft_range {
	uint64_t start, bytes;
};

/* All zero: none. */
struct soft_ranges {
	struct soft_range *range;
	size_t count, room;
};

/* 0; -EEXIST: overlaps another; -EINVAL: is empty or wraps around; -ENOMEM. */
int soft_ranges_add(struct soft_ranges *r, uint64_t start, uint64_t bytes);

/* Takes away the one that begins at start: its bytes, 0: there is none. */
uint64_t soft_ranges_remove(struct soft_ranges *r, uint64_t start);

/* The bytes of the one that begins at start, 0: there is none. */
uint64_t soft_ranges_at(const struct soft_ranges *r, uint64_t start);

/* Does one of them have all of these bytes?  No bytes are anywhere. */
bool soft_ranges_have(const struct soft_ranges *r, uint64_t start, uint64_t bytes);

/* The lowest gap of so many bytes between begin and end; -ENOMEM: there is none. */
int soft_ranges_find_gap(const struct soft_ranges *r, uint64_t begin, uint64_t end, uint64_t bytes,
			 uint64_t *ret_start);

void soft_ranges_done(struct soft_ranges *r);

#endif

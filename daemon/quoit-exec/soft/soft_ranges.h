/* SPDX-License-Identifier: MIT */
/*
 * soft_ranges.h - ranges of addresses that do not overlap.
 *
 * They hold what is allocated on a device, and the host memory that it knows.  Free memory is what
 * lies between ranges, so there is nothing to merge.  They are sorted: a search is logarithmic;
 * adding or removing one moves those behind it.  Not thread-safe.
 */
#ifndef QUOIT_SOFT_RANGES_H
#define QUOIT_SOFT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct soft_range {
	uint64_t start, bytes;
};

/* All zeros: no ranges. */
struct soft_ranges {
	struct soft_range *range;
	size_t count, room;
};

/* Add a range.  0; -EEXIST: it overlaps another; -EINVAL: it is empty or wraps around; -ENOMEM. */
int soft_ranges_add(struct soft_ranges *r, uint64_t start, uint64_t bytes);

/* Remove the range that begins at start; returns its bytes; 0: there is none. */
uint64_t soft_ranges_remove(struct soft_ranges *r, uint64_t start);

/* The bytes of the range that begins at start; 0: there is none. */
uint64_t soft_ranges_at(const struct soft_ranges *r, uint64_t start);

/* Does one range have all of these bytes?  For no bytes: always true. */
bool soft_ranges_have(const struct soft_ranges *r, uint64_t start, uint64_t bytes);

/* Find the lowest gap of so many bytes between begin and end.  0; -ENOMEM: there is none. */
int soft_ranges_find_gap(const struct soft_ranges *r, uint64_t begin, uint64_t end, uint64_t bytes,
			 uint64_t *ret_start);

void soft_ranges_done(struct soft_ranges *r);

#endif

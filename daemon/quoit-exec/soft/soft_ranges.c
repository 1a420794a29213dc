/* SPDX-License-Identifier: MIT */
/* soft_ranges.c - keep ranges of addresses that do not overlap */
#include "soft_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How many ranges begin at or before an address. */
static size_t count_before(const struct soft_ranges *r, uint64_t address)
{
	size_t low = 0, high = r->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (r->range[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int make_room(struct soft_ranges *r)
{
	const size_t room = r->room ? 2 * r->room : 16;
	struct soft_range *range;

	if (r->count < r->room)
		return 0;
	range = realloc(r->range, room * sizeof *range);
	if (!range)
		return -ENOMEM;
	r->range = range;
	r->room = room;
	return 0;
}

int soft_ranges_add(struct soft_ranges *r, uint64_t start, uint64_t bytes)
{
	const size_t i = count_before(r, start);
	uint64_t end;
	int err;

	if (!bytes || __builtin_add_overflow(start, bytes, &end))
		return -EINVAL;
	if (i > 0 && start - r->range[i - 1].start < r->range[i - 1].bytes)
		return -EEXIST;
	if (i < r->count && r->range[i].start < end)
		return -EEXIST;
	err = make_room(r);
	if (err)
		return err;
	memmove(&r->range[i + 1], &r->range[i], (r->count++ - i) * sizeof *r->range);
	r->range[i] = (struct soft_range){start, bytes};
	return 0;
}

uint64_t soft_ranges_at(const struct soft_ranges *r, uint64_t start)
{
	const size_t i = count_before(r, start);

	return i && r->range[i - 1].start == start ? r->range[i - 1].bytes : 0;
}

uint64_t soft_ranges_remove(struct soft_ranges *r, uint64_t start)
{
	const size_t i = count_before(r, start);
	const uint64_t bytes = soft_ranges_at(r, start);

	if (!bytes)
		return 0;
	memmove(&r->range[i - 1], &r->range[i], (r->count-- - i) * sizeof *r->range);
	return bytes;
}

bool soft_ranges_have(const struct soft_ranges *r, uint64_t start, uint64_t bytes)
{
	const size_t i = count_before(r, start);
	const struct soft_range *at = i ? &r->range[i - 1] : NULL;

	if (!bytes)
		return true;
	return at && bytes <= at->bytes && start - at->start <= at->bytes - bytes;
}

int soft_ranges_find_gap(const struct soft_ranges *r, uint64_t begin, uint64_t end, uint64_t bytes,
			 uint64_t *ret_start)
{
	for (size_t i = 0; i <= r->count; i++) {
		const uint64_t next = i < r->count ? r->range[i].start : end;

		if (next - begin >= bytes) {
			*ret_start = begin;
			return 0;
		}
		if (i < r->count)
			begin = next + r->range[i].bytes;
	}
	return -ENOMEM;
}

void soft_ranges_done(struct soft_ranges *r)
{
	free(r->range);
	*r = (struct soft_ranges){NULL};
}

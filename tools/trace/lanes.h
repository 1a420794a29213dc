/* SPDX-License-Identifier: MIT */
/* lanes.h - jobs that overlap, put into lanes in which none does */
#ifndef QUOIT_TOOLS_TRACE_LANES_H
#define QUOIT_TOOLS_TRACE_LANES_H

#include <stdint.h>

#define LANES 16u

struct lanes {
	unsigned used;
	int64_t end[LANES]; /* of the last one in each */
};

/*
 * The lane of what lasted from begin to end; LANES: none is free.  To be asked in the order of
 * their ends: then what is in a lane ends before the next one begins.
 */
static inline unsigned lanes_find(struct lanes *l, int64_t begin, int64_t end)
{
	unsigned i = 0;

	while (i < l->used && l->end[i] > begin)
		i++;
	if (i == LANES)
		return LANES;
	l->used += i == l->used;
	l->end[i] = end > begin ? end : begin;
	return i;
}

#endif

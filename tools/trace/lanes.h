/* SPDX-License-Identifier: MIT */
/* lanes.h - put overlapping jobs into lanes without overlaps */
#ifndef QUOIT_TOOLS_TRACE_LANES_H
#define QUOIT_TOOLS_TRACE_LANES_H

#include <stdint.h>

#define LANES 16u

struct lanes {
	unsigned used;
	int64_t end[LANES]; /* the end of each lane's last item */
};

/*
 * Find a lane for an item that lasts from begin to end; LANES: none is free.  Call it in the order
 * of the ends: then each item of a lane ends before the next one begins.
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

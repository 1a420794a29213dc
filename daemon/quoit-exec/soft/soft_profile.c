/* SPDX-License-Identifier: MIT */
/*
 * soft_profile.c - a soft device's profiler: writes ranges of jobs to the file $QUOIT_SOFT_RANGES
 */
#include "soft_private.h"

#include <stdio.h>
#include <stdlib.h>

static FILE *profile;
static uint64_t profile_ranges;

bool soft_profile_open(void)
{
	const char *path = getenv("QUOIT_SOFT_RANGES");

	if (!profile && path)
		profile = fopen(path, "ae");
	if (profile)
		setvbuf(profile, NULL, _IOLBF, 0);
	return profile != NULL;
}

uint64_t soft_range_begin(struct quoit_device *d, uint8_t opcode, uint64_t job)
{
	(void)d;
	fprintf(profile, "begin %llu operation %u job %llu\n", (unsigned long long)++profile_ranges,
		opcode, (unsigned long long)job);
	return profile_ranges;
}

void soft_range_end(struct quoit_device *d, uint64_t range)
{
	(void)d;
	fprintf(profile, "end %llu\n", (unsigned long long)range);
}

/* SPDX-License-Identifier: MIT */
/* where.h - on which device an example's tensors are: $QUOIT_DEVICE, or the host */
#ifndef EXAMPLES_WHERE_H
#define EXAMPLES_WHERE_H

#include <stdio.h>
#include <stdlib.h>

#include <quoit.h>

static inline unsigned where(void)
{
	const char *given = getenv("QUOIT_DEVICE");

	return given ? (unsigned)strtoul(given, NULL, 10) : 0;
}

/* Tensors that the ring creates from now on are there.  -ENODEV. */
static inline int where_begin(struct quoit_ring *q)
{
	return quoit_use_device(q, where());
}

/* A line: how many jobs that device has done for this session. */
static inline void where_report(struct quoit_session *s)
{
	struct quoit_device_desc d;

	if (where() && quoit_device(s, where(), &d) == 0)
		printf("    device %u (%s) has done %llu jobs\n", where(), d.name,
		       (unsigned long long)d.jobs);
}

#endif

/* SPDX-License-Identifier: MIT */
/* where.h - choose the device for an example's tensors: $QUOIT_DEVICE, or the host */
#ifndef EXAMPLES_WHERE_H
#define EXAMPLES_WHERE_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <quoit.h>

static inline unsigned where(void)
{
	const char *given = getenv("QUOIT_DEVICE");

	return given ? (unsigned)strtoul(given, NULL, 10) : 0;
}

/* Later tensors of the ring are created there.  -ENODEV. */
static inline int where_begin(struct quoit_ring *q)
{
	return quoit_use_device(q, where());
}

/* Print how many jobs the device has run for this session.  -ENODEV: it has run none. */
static inline int where_report(struct quoit_session *s)
{
	struct quoit_device_desc d;
	int err;

	if (!where())
		return 0;
	err = quoit_query_device(s, where(), &d);
	if (err)
		return err;
	printf("    device %u (%s) has done %llu jobs\n", where(), d.name,
	       (unsigned long long)d.jobs);
	return d.jobs ? 0 : -ENODEV;
}

/*
 * Are the numbers of two tensors, in any places, equal within the tolerance?  -EDOM: they are not.
 */
static inline int where_compare(struct quoit_ring *q, quoit_tensor a, quoit_tensor b,
				uint32_t count, float within)
{
	float *x = malloc(count * sizeof *x), *y = malloc(count * sizeof *y);
	int err = x && y ? 0 : -ENOMEM;

	if (!err)
		err = quoit_read(q, a, x, count * sizeof *x);
	if (!err)
		err = quoit_read(q, b, y, count * sizeof *y);
	for (uint32_t i = 0; i < count && !err; i++)
		if (!(x[i] - y[i] <= within && y[i] - x[i] <= within))
			err = -EDOM;
	free(x);
	free(y);
	return err;
}

#endif

/* SPDX-License-Identifier: MIT */
/* refuse.h - system calls that fail, as in a container that forbids them */
#ifndef TESTS_REFUSE_H
#define TESTS_REFUSE_H

#include <stdint.h>

struct refused_call {
	int number;
	int argument;   /* only where this one, from 1, is `value`; 0: always */
	uint32_t value; /* its low half */
};

/*
 * From now on these calls of this process, and of what it becomes, fail with `error`.  For
 * daemon_start_prepared; ends the process where that cannot be had.
 */
void refuse_calls(const struct refused_call *calls, unsigned count, int error);

#endif

/* SPDX-License-Identifier: MIT */
/* refuse.h - let system calls fail, as in a container that forbids them */
#ifndef TESTS_REFUSE_H
#define TESTS_REFUSE_H

#include <stdint.h>

struct refused_call {
	int number;
	/* number of the argument, from 1, that must be `value`; 0: the call always fails */
	int argument;
	uint32_t value; /* the argument's low half */
};

/*
 * From now on these calls fail with `error`, in this process and in the program that it becomes.
 * For daemon_start_prepared; ends the process if the filter cannot be set.
 */
void refuse_calls(const struct refused_call *calls, unsigned count, int error);

#endif

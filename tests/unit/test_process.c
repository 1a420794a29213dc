/* SPDX-License-Identifier: MIT */
/* test_process.c - what /proc tells of a process is told of that process alone */
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "read/process.h"

#define S UINT64_C(1000000000)

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * S + (uint64_t)t.tv_nsec;
}

static struct process look(uint64_t by_ns)
{
	struct process p = {.pid = (uint32_t)getpid(), .uid = getuid(), .by_ns = by_ns};
	struct process *list[] = {&p};

	process_look(list, 1, PROCESS_NEED_RESIDENT | PROCESS_NEED_FAULTS);
	return p;
}

Test(process, that_was_there_then_is_known)
{
	struct process p = look(now_ns());

	cr_expect(p.known);
	cr_expect_gt(p.resident_bytes, 0);
	cr_expect(p.faults_known);
	cr_expect(process_lives((uint32_t)getpid(), now_ns()));
}

/* A client has died, and its PID was given to a process that came later: to this one. */
Test(process, with_the_pid_of_one_that_died_is_another)
{
	struct process p = look(now_ns() - 60 * S);

	cr_expect_not(p.known);
	cr_expect_not(p.faults_known);
	cr_expect_eq(p.resident_bytes, 0);
	cr_expect_not(process_lives((uint32_t)getpid(), now_ns() - 60 * S));
}

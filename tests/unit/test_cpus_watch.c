/* SPDX-License-Identifier: MIT */
/* test_cpus_watch.c - find out which of our CPUs may no longer be used */
#include <criterion/criterion.h>

#include <sched.h>

#include "machine/cpus_watch.h"

#define NO_CPU 65000u /* the kernel's are below 8192 */

static char list[CPUS_WATCH_BYTES];

static uint32_t count_gone(const uint32_t *cpus, uint32_t count)
{
	static struct placement_core cores[200];
	struct placement plan = {.cores = cores, .nr_cores = count};
	struct cpus_watch w = {.plan = &plan};

	for (uint32_t i = 0; i < count; i++)
		cores[i].cpu = cpus[i];
	return cpus_watch_list(&w, list);
}

static uint32_t here(void)
{
	cpu_set_t set;
	uint32_t cpu = (uint32_t)sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	cr_assert_eq(sched_setaffinity(0, sizeof set, &set), 0);
	return cpu;
}

Test(cpus_watch, one_that_may_be_used_is_not_in_the_list)
{
	const uint32_t cpus[] = {here()};

	cr_expect_eq(count_gone(cpus, 1), 0);
	cr_expect_str_eq(list, "");
}

Test(cpus_watch, those_that_are_gone_are)
{
	const uint32_t cpus[] = {NO_CPU, here(), NO_CPU + 1, 1u << 20};

	cr_expect_eq(count_gone(cpus, 4), 3);
	cr_expect_str_eq(list, "65000, 65001, 1048576");
}

Test(cpus_watch, a_long_list_is_cut_and_counted)
{
	uint32_t cpus[200];

	for (uint32_t i = 0; i < 200; i++)
		cpus[i] = NO_CPU + i;
	cr_expect_eq(count_gone(cpus, 200), 200);
	cr_expect_lt(strlen(list), CPUS_WATCH_BYTES);
	cr_expect(strstr(list, "65000, 65001, "));
	cr_expect_str_eq(list + strlen(list) - 5, ", ...");
}

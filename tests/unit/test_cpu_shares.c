/* SPDX-License-Identifier: MIT */
/* test_cpu_shares.c - dividing the CPUs of this process between several */
#include <sched.h>

#include <criterion/criterion.h>

#include "launch/cpu_shares.h"

/* Two nodes with two cores each, of two CPUs: numbered as the kernel numbers hyperthreads. */
static struct cpu_place places[] = {{0, 0, 0}, {0, 1, 1}, {1, 2, 2}, {1, 3, 3},
				    {0, 0, 4}, {0, 1, 5}, {1, 2, 6}, {1, 3, 7}};

static struct cpu_shares machine(size_t count)
{
	struct cpu_shares s = {.list = places, .count = count};

	cpu_shares_sort(&s);
	return s;
}

/* The CPUs of this share, as bits. */
static unsigned share(const struct cpu_shares *s, unsigned number, unsigned processes)
{
	size_t first, end;
	unsigned cpus = 0;

	cpu_shares_of(s, number, processes, &first, &end);
	cr_assert_lt(first, end);
	cr_assert_leq(end, s->count);
	for (size_t i = first; i < end; i++)
		cpus |= 1u << s->list[i].cpu;
	return cpus;
}

Test(cpu_shares, one_process_has_all)
{
	struct cpu_shares s = machine(8);

	cr_expect_eq(share(&s, 0, 1), 0xff);
}

Test(cpu_shares, two_processes_have_a_node_each)
{
	struct cpu_shares s = machine(8);

	cr_expect_eq(share(&s, 0, 2), 0x33);
	cr_expect_eq(share(&s, 1, 2), 0xcc);
}

Test(cpu_shares, no_core_is_cut_where_there_are_enough)
{
	struct cpu_shares s = machine(8);

	cr_expect_eq(share(&s, 0, 3), 0x11);
	cr_expect_eq(share(&s, 1, 3), 0x22);
	cr_expect_eq(share(&s, 2, 3), 0xcc);
	for (unsigned i = 0; i < 4; i++)
		cr_expect_eq(share(&s, i, 4), 0x11u << i);
}

Test(cpu_shares, more_processes_than_cores_have_single_cpus)
{
	struct cpu_shares s = machine(8);
	unsigned all = 0;

	for (unsigned i = 0; i < 6; i++) {
		cr_expect_eq(all & share(&s, i, 6), 0, "a CPU is in two shares");
		all |= share(&s, i, 6);
	}
	cr_expect_eq(all, 0xff);
}

Test(cpu_shares, more_processes_than_cpus_share_them_evenly)
{
	struct cpu_shares s = machine(8);
	unsigned processes[8] = {0};

	for (unsigned i = 0; i < 20; i++) {
		unsigned cpus = share(&s, i, 20);

		cr_expect_eq(__builtin_popcount(cpus), 1);
		processes[__builtin_ctz(cpus)]++;
	}
	for (unsigned cpu = 0; cpu < 8; cpu++)
		cr_expect(processes[cpu] == 2 || processes[cpu] == 3, "%u", processes[cpu]);
}

Test(cpu_shares, they_are_those_that_this_process_may_use)
{
	struct cpu_shares s;
	cpu_set_t mine;

	cr_assert_eq(sched_getaffinity(0, sizeof mine, &mine), 0);
	cr_assert_eq(cpu_shares_read(&s), 0);
	cr_expect_eq(s.count, (size_t)CPU_COUNT(&mine));
	for (size_t i = 0; i < s.count; i++)
		cr_expect(CPU_ISSET(s.list[i].cpu, &mine));
	cpu_shares_free(&s);
}

Test(cpu_shares, a_process_is_pinned_to_its_own)
{
	struct cpu_shares s;
	cpu_set_t mine;

	cr_assert_eq(cpu_shares_read(&s), 0);
	cr_assert_eq(cpu_shares_pin(&s, 0, (unsigned)s.count), 0);
	cr_assert_eq(sched_getaffinity(0, sizeof mine, &mine), 0);
	cr_expect_eq(CPU_COUNT(&mine), 1);
	cr_expect(CPU_ISSET(s.list[0].cpu, &mine));
	cpu_shares_free(&s);
}

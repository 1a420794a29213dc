/* SPDX-License-Identifier: MIT */
/* test_memory_limit.c - find out how much memory quoitd may use */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

#include "machine/memory_limit.h"

Test(memory_limit, the_default_is_something_and_not_all)
{
	uint64_t bytes = memory_limit_default();

	cr_expect_gt(bytes, 0);
	cr_expect_lt(bytes, UINT64_MAX / 2);
}

static void put(const char *root, const char *path, const char *text)
{
	char name[200];
	FILE *f;

	snprintf(name, sizeof name, "%s/%s", root, path);
	if (!text) {
		cr_assert_eq(mkdir(name, 0700), 0);
		return;
	}
	f = fopen(name, "w");
	cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

Test(memory_limit, the_tightest_limit_of_the_cgroups_around_us_counts)
{
	char root[] = "/tmp/quoit-cgroups-XXXXXX", process[64], command[64];

	cr_assert(mkdtemp(root));
	snprintf(process, sizeof process, "%s/process", root);
	put(root, "process", "3:cpu:/other\n0::/a.slice/b.service\n");
	cr_expect_eq(memory_limit_of_cgroup(root, process), UINT64_MAX);
	put(root, "a.slice", NULL);
	put(root, "a.slice/b.service", NULL);
	put(root, "a.slice/memory.max", "max\n");
	put(root, "a.slice/b.service/memory.max", "3000000\n");
	cr_expect_eq(memory_limit_of_cgroup(root, process), 3000000);
	put(root, "a.slice/memory.max", "2000000\n");
	cr_expect_eq(memory_limit_of_cgroup(root, process), 2000000);
	put(root, "process", "0::/\n");
	cr_expect_eq(memory_limit_of_cgroup(root, process), UINT64_MAX);
	snprintf(command, sizeof command, "rm -r %s", root);
	cr_expect_eq(system(command), 0);
}

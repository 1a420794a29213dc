/* SPDX-License-Identifier: MIT */
/* memory_limit.c - reads the limits of the memory cgroup and of the machine */
#include "memory_limit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/process_limits.h"

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A number in a file.  "max", or a file that cannot be read, means no limit. */
static uint64_t read_limit(const char *path)
{
	unsigned long long value;
	FILE *f = fopen(path, "re");
	int n;

	if (!f)
		return UINT64_MAX;
	n = fscanf(f, "%llu", &value);
	fclose(f);
	return n == 1 ? value : UINT64_MAX;
}

/* The tightest limit of the cgroup with this name and of its parents.  It cuts the name short. */
static uint64_t tightest_limit(const char *root, const char *folder, char *name, const char *file)
{
	uint64_t limit = UINT64_MAX;
	char path[700];

	for (char *slash; (slash = strrchr(name, '/')) != NULL; *slash = '\0') {
		snprintf(path, sizeof path, "%s%s%s/%s", root, folder, name, file);
		limit = lesser(limit, read_limit(path));
	}
	return limit;
}

uint64_t memory_limit_of_cgroup(const char *root, const char *of_process)
{
	uint64_t limit = UINT64_MAX;
	char line[512];
	FILE *f = fopen(of_process, "re");

	while (f && fgets(line, sizeof line, f)) {
		char *name = strrchr(line, ':');

		line[strcspn(line, "\n")] = '\0';
		if (!name)
			continue;
		if (!strncmp(line, "0::", 3))
			limit = lesser(limit, tightest_limit(root, "", name + 1, "memory.max"));
		else if (strstr(line, ":memory:"))
			limit = lesser(limit, tightest_limit(root, "/memory", name + 1,
							     "memory.limit_in_bytes"));
	}
	if (f)
		fclose(f);
	return limit;
}

static uint64_t cgroup_limit(void)
{
	return memory_limit_of_cgroup("/sys/fs/cgroup", "/proc/self/cgroup");
}

static uint64_t of_machine(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t memory_limit_default(void)
{
	return lesser(lesser(cgroup_limit(), of_machine()) / 2, process_limits_memory());
}

uint64_t memory_limit_most(void)
{
	uint64_t limit = lesser(cgroup_limit(), of_machine());

	return limit - limit / 8;
}

void memory_limit_say(uint64_t memory)
{
	log_warning("memory is lowered to %llu MiB: the memory cgroup (MemoryMax=) or the machine "
		    "has hardly more",
		    (unsigned long long)memory >> 20);
}

/* SPDX-License-Identifier: MIT */
/* cgroup.c - read the limits of a process's control group and of all groups above it */
#include "cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "finding.h"
#include "tree.h"

#define BASE "sys/fs/cgroup"

/* Version 1 writes a value a little above this if there is no limit. */
#define UNLIMITED_BYTES (UINT64_C(1) << 62)

/* ---- one group ---- */

static uint64_t memory_limit(int root, const char *group, const char *file)
{
	uint64_t bytes;

	if (!tree_number(root, &bytes, "%s/%s", group, file) || bytes >= UNLIMITED_BYTES)
		return CGROUP_UNLIMITED;
	return bytes;
}

/* 0: no limit. */
static double cpu_limit(int root, const char *group, unsigned version)
{
	uint64_t quota, period;
	char line[64];
	unsigned long long q, p;

	if (version == 2)
		return tree_line(root, line, sizeof line, "%s/cpu.max", group) &&
				       sscanf(line, "%llu %llu", &q, &p) == 2 && p
			       ? (double)q / (double)p
			       : 0;
	if (!tree_number(root, &quota, "%s/cpu.cfs_quota_us", group) || /* -1: no limit */
	    !tree_number(root, &period, "%s/cpu.cfs_period_us", group) || !period)
		return 0;
	return (double)quota / (double)period;
}

static void take_limit(int root, const char *group, const char *file, struct cgroup_memory *m)
{
	uint64_t limit = memory_limit(root, group, file);

	if (limit >= m->least)
		return;
	m->least = limit;
	snprintf(m->path, sizeof m->path, "/%.*s/%s", CGROUP_PATH_BYTES - 32, group, file);
}

/* Above memory.high the kernel stops a process again and again while it looks for pages. */
static void take_memory(int root, const char *group, unsigned version, bool own,
			struct cgroup_memory *m)
{
	const char *most = version == 2 ? "memory.max" : "memory.limit_in_bytes";

	if (own)
		m->own = memory_limit(root, group, most);
	take_limit(root, group, most, m);
	if (version == 2)
		take_limit(root, group, "memory.high", m);
}

static void take_tasks(int root, const char *group, struct cgroup *c)
{
	uint64_t limit;

	if (tree_number(root, &limit, "%s/pids.max", group) && limit < c->tasks)
		c->tasks = limit;
}

static uint64_t count_of(const char *stat, const char *name)
{
	const char *field = tree_field(stat, name);

	return field ? strtoull(field, NULL, 10) : 0;
}

static void take_cpu(int root, const char *group, unsigned version, struct cgroup_cpu *c)
{
	double limit = cpu_limit(root, group, version);
	char stat[1024] = "";

	if (limit <= 0 || (c->cpus > 0 && limit >= c->cpus))
		return;
	c->cpus = limit;
	snprintf(c->path, sizeof c->path, "/%.*s/%s", CGROUP_PATH_BYTES - 32, group,
		 version == 2 ? "cpu.max" : "cpu.cfs_quota_us");
	(void)tree_read(root, stat, sizeof stat, "%s/cpu.stat", group);
	c->periods = count_of(stat, "nr_periods ");
	c->throttled = count_of(stat, "nr_throttled ");
}

/* ---- from the group up to the root ---- */

/*
 * A group that we cannot see lies outside our cgroup namespace; then the limits at the root of our
 * namespace are all that we see.
 */
static void climb(int root, const char *base, const char *path, unsigned version, bool memory,
		  struct cgroup *c)
{
	char group[CGROUP_PATH_BYTES + sizeof BASE + 16];
	size_t least = strlen(base);
	bool own = true;

	snprintf(group, sizeof group, "%s%s", base, strstr(path, "/..") ? "" : path);
	for (;;) {
		size_t length = strlen(group);

		while (length > least && group[length - 1] == '/')
			group[--length] = '\0';
		take_tasks(root, group, c);
		if (memory)
			take_memory(root, group, version, own, &c->memory);
		else
			take_cpu(root, group, version, &c->cpu);
		own = false;
		if (length <= least)
			return;
		*strrchr(group, '/') = '\0';
	}
}

static bool has_controller(const char *list, size_t length, const char *name)
{
	size_t wanted = strlen(name);

	for (const char *end = list + length; list < end; list++) {
		size_t n = strcspn(list, ",:");

		if (n == wanted && !strncmp(list, name, n))
			return true;
		list += n;
	}
	return false;
}

static void note_unit(const char *path, struct cgroup *c)
{
	static const char *const kinds[] = {".service", ".scope", ".slice"};
	const char *last = strrchr(path, '/');
	const char *dot = last ? strrchr(last, '.') : NULL;

	for (size_t i = 0; dot && i < sizeof kinds / sizeof kinds[0]; i++)
		if (!strcmp(dot, kinds[i]) && finding_is_plain(last + 1) &&
		    strlen(last + 1) < sizeof c->unit)
			snprintf(c->unit, sizeof c->unit, "%s", last + 1);
}

/* Parse a line of /proc/PID/cgroup: "0::/path" of version 2, "4:memory:/path" of version 1. */
static void take_line(int root, char *line, bool unified, struct cgroup *c)
{
	char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
	size_t length;

	if (!path || path[1] != '/' || strlen(path) >= CGROUP_PATH_BYTES)
		return;
	length = (size_t)(path - ++list);
	path++;
	if (!length)
		note_unit(path, c);
	if (!length && unified) {
		c->version = 2;
		climb(root, BASE, path, 2, true, c);
		climb(root, BASE, path, 2, false, c);
	} else if (has_controller(list, length, "memory")) {
		c->version = 1;
		climb(root, BASE "/memory", path, 1, true, c);
	} else if (has_controller(list, length, "cpu")) {
		c->version = 1;
		climb(root, BASE "/cpu", path, 1, false, c);
	} else if (has_controller(list, length, "pids")) {
		climb(root, BASE "/pids", path, 1, false, c);
	}
}

void cgroup_read(int root, const char *directory, struct cgroup *ret)
{
	char text[8192], *rest = NULL, controllers[256];
	bool unified = tree_line(root, controllers, sizeof controllers, BASE "/cgroup.controllers");

	*ret = (struct cgroup){.memory = {.own = CGROUP_UNLIMITED, .least = CGROUP_UNLIMITED},
			       .tasks = CGROUP_UNLIMITED};
	if (tree_read(root, text, sizeof text, "%s/cgroup", directory) < 0)
		return;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		take_line(root, line, unified, ret);
}

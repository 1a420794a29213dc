/* SPDX-License-Identifier: MIT */
/* census.c - count a process's resources by /proc */
#include "census.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * The canary's tables go on touching pages, on an emulated machine 38 within a case.  A memory file
 * that is left behind shows in the number of those that are mapped, of which none is allowed.
 */
#define SHARED_SLACK (UINT64_C(256) << 10)

static uint64_t count_descriptors(pid_t pid)
{
	uint64_t count = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return UINT64_MAX;
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static FILE *open_proc(pid_t pid, const char *name)
{
	char path[320];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

/* Its own threads: the kernel keeps io_uring's threads for some seconds. */
static uint64_t count_threads(pid_t pid)
{
	char path[300], name[32] = "";
	const struct dirent *task;
	uint64_t count = 0;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return UINT64_MAX;
	while ((task = readdir(dir)) != NULL) {
		FILE *f;

		snprintf(path, sizeof path, "task/%s/comm", task->d_name);
		f = open_proc(pid, path);
		if (f && fgets(name, sizeof name, f))
			count += strncmp(name, "iou-", 4) != 0;
		if (f)
			fclose(f);
	}
	closedir(dir);
	return count;
}

static uint64_t count_memfds(pid_t pid)
{
	FILE *f = open_proc(pid, "maps");
	uint64_t count = 0;
	char line[512];

	if (!f)
		return UINT64_MAX;
	while (fgets(line, sizeof line, f))
		count += strstr(line, "/memfd:quoit") != NULL;
	fclose(f);
	return count;
}

static void read_kib(const char *line, const char *format, uint64_t *ret_bytes)
{
	uint64_t kib;

	if (sscanf(line, format, &kib) == 1)
		*ret_bytes = kib << 10;
}

static void read_status(pid_t pid, struct census *c)
{
	FILE *f = open_proc(pid, "status");
	char line[256];

	c->shared = c->anonymous = c->locked = c->huge = UINT64_MAX;
	while (f && fgets(line, sizeof line, f)) {
		read_kib(line, "RssShmem: %" SCNu64, &c->shared);
		read_kib(line, "RssAnon: %" SCNu64, &c->anonymous);
		read_kib(line, "VmLck: %" SCNu64, &c->locked);
		read_kib(line, "HugetlbPages: %" SCNu64, &c->huge);
	}
	if (f)
		fclose(f);
}

void census_take(pid_t pid, struct census *ret)
{
	ret->descriptors = count_descriptors(pid);
	ret->memfds = count_memfds(pid);
	ret->threads = count_threads(pid);
	read_status(pid, ret);
}

bool census_is_back(const struct census *before, const struct census *now, uint64_t slack,
		    char *text, size_t size)
{
	const struct {
		const char *name;
		uint64_t before, now, slack;
	} rows[] = {
		{"descriptors", before->descriptors, now->descriptors, 0},
		{"mapped memfds", before->memfds, now->memfds, 0},
		{"threads", before->threads, now->threads, 0},
		{"bytes of shared memory", before->shared, now->shared, SHARED_SLACK},
		{"bytes of its own", before->anonymous, now->anonymous, slack},
		{"locked bytes", before->locked, now->locked, 0},
		{"bytes of huge pages", before->huge, now->huge, 0},
	};

	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].before == UINT64_MAX || rows[i].now == UINT64_MAX) {
			snprintf(text, size, "%s cannot be counted", rows[i].name);
			return false;
		} else if (rows[i].now > rows[i].before + rows[i].slack) {
			snprintf(text, size, "%" PRIu64 " %s, before %" PRIu64, rows[i].now,
				 rows[i].name, rows[i].before);
			return false;
		}
	return true;
}

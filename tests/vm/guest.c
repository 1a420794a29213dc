/* SPDX-License-Identifier: MIT */
/* guest.c - make the machine for a test that is its first process */
#include "guest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CGROUPS "/sys/fs/cgroup"

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;
	int err;

	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	err = n < 0 ? -errno : 0;
	close(fd);
	return err;
}

/* ---- the machine ---- */

int guest_boot(void)
{
	static const struct {
		const char *type, *at;
	} systems[] = {{"proc", "/proc"},
		       {"sysfs", "/sys"},
		       {"devtmpfs", "/dev"},
		       {"tmpfs", "/tmp"},
		       {"cgroup2", CGROUPS}};

	for (unsigned i = 0; i < sizeof systems / sizeof systems[0]; i++) {
		(void)mkdir(systems[i].at, 0755);
		if (mount(systems[i].type, systems[i].at, systems[i].type, 0, NULL) < 0)
			return -errno;
	}
	return write_file(CGROUPS "/cgroup.subtree_control", "+cpuset");
}

void guest_power_off(void)
{
	fflush(NULL);
	sync();
	(void)reboot(RB_POWER_OFF);
	abort(); /* the kernel panics when its first process ends, and so the machine stops */
}

json_t *guest_run(const char *const *argv)
{
	json_t *json = NULL;
	int out[2], status;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) < 0)
		return NULL;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		(void)dup2(out[1], STDOUT_FILENO);
		(void)execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	close(out[1]);
	if (pid > 0) {
		json = json_loadfd(out[0], 0, NULL);
		(void)waitpid(pid, &status, 0);
	}
	close(out[0]);
	return json;
}

/* ---- memory ---- */

static void add_pages(char *line, struct guest_pages *pages)
{
	char *rest;

	for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
		unsigned node, count;

		if (sscanf(word, "N%u=%u", &node, &count) == 2 && node < GUEST_MAX_NODES)
			pages->on[node] += count;
	}
}

int guest_find_pages(pid_t pid, const char *memfd, struct guest_pages *ret)
{
	char path[64], file[64], line[512];
	int err = -ENOENT;
	FILE *f;

	*ret = (struct guest_pages){0};
	snprintf(path, sizeof path, "/proc/%d/numa_maps", (int)pid);
	snprintf(file, sizeof file, "file=/memfd:%s\\", memfd); /* a blank follows, escaped */
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof line, f)) {
		if (!strstr(line, file))
			continue;
		add_pages(line, ret);
		err = 0;
	}
	fclose(f);
	return err;
}

unsigned long guest_find_huge(pid_t pid, const char *memfd)
{
	char path[64], file[64], line[512];
	unsigned long all = 0, kib;
	bool is_it = false;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
	snprintf(file, sizeof file, "/memfd:%s ", memfd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f)) {
		if (strchr("0123456789abcdef", line[0])) /* a mapping's first line */
			is_it = strstr(line, file) != NULL;
		else if (is_it && sscanf(line, "ShmemPmdMapped: %lu", &kib) == 1)
			all += kib;
	}
	if (f)
		fclose(f);
	return all;
}

int guest_allow_huge(const char *whom)
{
	return write_file("/sys/kernel/mm/transparent_hugepage/shmem_enabled", whom);
}

/* ---- CPUs ---- */

int guest_make_cpuset(const char *name, const char *cpus, const char *memory_nodes)
{
	char path[128];
	int err;

	snprintf(path, sizeof path, CGROUPS "/%s", name);
	if (mkdir(path, 0755) < 0)
		return -errno;
	snprintf(path, sizeof path, CGROUPS "/%s/cpuset.cpus", name);
	err = write_file(path, cpus);
	snprintf(path, sizeof path, CGROUPS "/%s/cpuset.mems", name);
	return err ? err : write_file(path, memory_nodes);
}

int guest_join_cpuset(const char *name, pid_t pid)
{
	char path[128], number[16];

	snprintf(path, sizeof path, CGROUPS "/%s/cgroup.procs", name);
	snprintf(number, sizeof number, "%d", (int)pid);
	return write_file(path, number);
}

/* The CPUs of a thread as bits; 0: it has gone. */
static unsigned cpus_of(pid_t thread)
{
	unsigned bits = 0;
	cpu_set_t set;

	if (sched_getaffinity(thread, sizeof set, &set))
		return 0;
	for (unsigned cpu = 0; cpu < 32; cpu++)
		bits |= CPU_ISSET(cpu, &set) ? 1u << cpu : 0;
	return bits;
}

static bool has_name(pid_t pid, pid_t thread, const char *name)
{
	char path[64], comm[32] = "";
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, (int)thread);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fgets(comm, sizeof comm, f))
		comm[strcspn(comm, "\n")] = '\0';
	fclose(f);
	return !strcmp(comm, name);
}

/* The CPUs that at least one thread of the process may run on; name NULL: any thread. */
static unsigned cpus_of_threads(pid_t pid, const char *name)
{
	struct dirent *entry;
	unsigned bits = 0;
	char path[64];
	DIR *d;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && (entry = readdir(d))) {
		pid_t thread = (pid_t)atoi(entry->d_name); /* 0: "." and ".." */

		if (thread > 0 && (!name || has_name(pid, thread, name)))
			bits |= cpus_of(thread);
	}
	if (d)
		closedir(d);
	return bits;
}

bool guest_is_pinned(pid_t pid, const char *thread, unsigned cpu)
{
	return cpus_of_threads(pid, thread) == 1u << cpu;
}

bool guest_stays_within(pid_t pid, unsigned cpus)
{
	unsigned used = cpus_of_threads(pid, NULL);

	return used && !(used & ~cpus);
}

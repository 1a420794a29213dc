/* SPDX-License-Identifier: MIT */
/*
 * judge.h - judge what values mean for Quoit.
 *
 * Pure functions: each fills in one finding from values that were read or measured elsewhere.  A
 * value is a failure if it keeps Quoit from working, or makes it much slower; it is a warning if it
 * costs some speed.  NULL stands for a word that could not be read.
 */
#ifndef QUOIT_TOOLS_DOCTOR_JUDGE_H
#define QUOIT_TOOLS_DOCTOR_JUDGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cgroup.h"
#include "finding.h"
#include "numbers.h"
#include "subject.h"

/* ---- judge_cgroup.c ---- */

void judge_cgroup(struct finding *f, const struct cgroup *c);

/* host_limit: the bytes that the running quoitd lends out; each 0: not known. */
void judge_cgroup_memory(struct finding *f, const struct cgroup *c, uint64_t machine_bytes,
			 uint64_t host_limit);

/* cpus: how many CPUs may be used. */
void judge_cgroup_cpu(struct finding *f, const struct cgroup *c, unsigned cpus);

/* ---- judge_cpu.c ---- */

struct judge_cpus {
	struct numbers online, allowed;
	struct numbers isolated;        /* left out by the scheduler's balancing */
	struct numbers memories;        /* nodes that have memory */
	struct numbers memories_wanted; /* nodes of the allowed CPUs that have memory */
	struct numbers memories_allowed;
};

void judge_cpuset(struct finding *f, const struct judge_cpus *c);
void judge_isolated(struct finding *f, const struct judge_cpus *c);

/* How a CPU's clock is governed; all NULL: this kernel does not govern it. */
void judge_governor(struct finding *f, unsigned cpu, const char *driver, const char *governor,
		    const char *preference);

/* A CPU's deepest idle state that is switched on; number < 0: there is none. */
void judge_idle_state(struct finding *f, int number, const char *name, uint64_t latency_us);

/*
 * is_virtual: the CPU reports a hypervisor.  stolen: the ticks that it took of all `ticks` since
 * the machine's start.
 */
void judge_virtual(struct finding *f, bool is_virtual, uint64_t stolen, uint64_t ticks);

/* has_tsc: can the kernel use the CPUs' own counters as its clock? */
void judge_clock(struct finding *f, const char *source, bool has_tsc);

/* ---- judge_memory.c ---- */

void judge_memlock(struct finding *f, const struct subject *s, const char *unit);

/* spare: pages that are free and not reserved. */
void judge_huge_pages(struct finding *f, uint64_t pages, uint64_t spare, uint64_t page_bytes,
		      uint64_t machine_bytes);

/* The words in brackets: of the setting for all sizes, and of that for pages of 2 MiB (or NULL). */
void judge_shmem(struct finding *f, const char *all, const char *of_2m);

void judge_numa_balancing(struct finding *f, bool known, uint64_t mode, unsigned nodes);

/* ---- judge_limits.c ---- */

void judge_limit(struct finding *f, enum subject_limit which, const struct subject *s,
		 const char *unit);
void judge_tasks(struct finding *f, const struct cgroup *c);
void judge_open_files(struct finding *f, bool known, uint64_t used, uint64_t most);
void judge_mappings(struct finding *f, bool known, uint64_t mappings);

/* ---- judge_kernel.c ---- */

void judge_kernel(struct finding *f, const char *release);

/* disabled, group: the sysctls; known: the first of them exists. */
void judge_io_uring(struct finding *f, bool known, uint64_t disabled, const char *group,
		    const char *release, const struct subject *s);

enum feature {
	FEATURE_MEMFD, /* sealed shared memory, without which quoitd does not start */
	FEATURE_IO_URING,
	FEATURE_PIDFD,
	FEATURE_MBIND,
	FEATURE_HUGE_PAGES,
	FEATURE_MEMLOCK,
	FEATURE_USERFAULTFD,
	FEATURE_SEAL,
	FEATURE_NR,
};

/* err: the result of a trial, 0 or -errno; -ENOMSG: it worked, but had no effect. */
void judge_feature(struct finding *f, enum feature which, int err);

/* line: a line of quoitd's topology text that begins with "missing: ", without that word. */
void judge_missing(struct finding *f, const char *line);

/* ---- judge_nvidia.c ---- */

/*
 * gpus: NVIDIA's GPUs on PCI; module: the driver of the first one, or NULL; version: nvidia's, or
 * NULL.
 */
void judge_driver(struct finding *f, unsigned gpus, const char *module, const char *version);

struct judge_file {
	const char *path; /* such as "/dev/nvidiactl" */
	int err;          /* 0, or the error of stat() */
	bool is_device;
	mode_t mode;
	uint32_t uid, gid;
};

/* A driver is loaded, but no GPU has a file. */
void judge_no_device_files(struct finding *f);

void judge_device_file(struct finding *f, const struct judge_file *file, const struct subject *s);

/* Lanes of a device's PCI link; 0: not known. */
void judge_link(struct finding *f, const char *address, unsigned lanes, unsigned most_lanes);

/* folder: of its pipes; process: its control daemon; 0: none runs. */
void judge_mps(struct finding *f, const char *folder, bool has_folder, uint64_t process);

/* ---- judge_measured.c ---- */

struct judge_place {
	bool is_virtual;   /* true: none of these is a failure */
	unsigned from, to; /* CPUs, or nodes */
	unsigned distance; /* the firmware's distance of their nodes; 10: the same node */
};

void judge_hop(struct finding *f, const struct judge_place *p, double ns);
void judge_wake(struct finding *f, const struct judge_place *p, double median_us, double p99_us);

/* local: the GB/s of the same CPUs with their own node's memory; 0: not known. */
void judge_bandwidth(struct finding *f, const struct judge_place *p, double gb_s, double local);

void judge_launch(struct finding *f, bool is_soft, double us);

/* link_gb_s: the rate that the link could carry; 0: not known. */
void judge_transfer(struct finding *f, bool is_soft, const char *way, double gb_s,
		    double link_gb_s);

#endif

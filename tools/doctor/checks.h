/* SPDX-License-Identifier: MIT */
/*
 * checks.h - the checks: each reads or measures, has the result judged, and adds findings.
 *
 * To add one, write its function, declare it here, and add it to the table of checks.c.
 */
#ifndef QUOIT_TOOLS_DOCTOR_CHECKS_H
#define QUOIT_TOOLS_DOCTOR_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

#include "cgroup.h"
#include "finding.h"
#include "judge.h"
#include "running.h"
#include "subject.h"

/* One look at a machine: facts that several checks need are read once. */
struct examination {
	int root;          /* the folder that has /proc, /sys and /dev */
	bool live;         /* true: this machine; checks may try, measure and connect to things */
	const char *check; /* the name of the running check */
	struct findings findings;

	struct running running; /* if live: the quoitd at the socket */
	struct subject subject;
	struct cgroup cgroup;
	struct judge_cpus cpus;
	struct numbers nodes;
	uint64_t machine_bytes;
	bool is_virtual;
	double measure_until; /* when measuring ends (bench_now()); 0: it has not begun */
};

typedef void check_fn(struct examination *e);

struct check {
	const char *name, *group;
	check_fn *run;
	const char *help;
};

extern const struct check checks[];
extern const unsigned checks_count;

/* The group of checks that take much of the user's and the machine's time. */
#define CHECKS_MEASURE "measure"

/* Read the facts in struct examination. */
void examination_read(struct examination *e, const char *socket);

/* Run one check. */
void examination_run(struct examination *e, const struct check *check);

/* Is there any /dev/nvidia*? */
bool check_has_device_files(const struct examination *e);

/* Add a finding of the running check. */
struct finding *examination_add(struct examination *e);

check_fn check_quoitd, check_features, check_devices;              /* check_quoitd.c */
check_fn check_cgroup, check_cgroup_memory, check_cgroup_cpu;      /* check_cgroup.c */
check_fn check_cpuset, check_isolated, check_governor, check_idle, /* check_cpu.c */
	check_virtual, check_clock;
check_fn check_memlock, check_huge_pages, check_shmem, check_balancing; /* check_memory.c */
check_fn check_file_size, check_addresses, check_descriptors, check_threads,
	check_mappings;                                           /* check_limits.c */
check_fn check_kernel, check_io_uring;                            /* check_kernel.c */
check_fn check_driver, check_device_files, check_link, check_mps; /* check_nvidia.c */
check_fn check_hop, check_wake, check_bandwidth;                  /* check_measured.c */
check_fn check_device;                                            /* check_device.c */

#endif

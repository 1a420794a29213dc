/* SPDX-License-Identifier: MIT */
/*
 * subject.h - the process that the machine is examined for: the running quoitd, or one started from
 * here.
 *
 * Limits and masks belong to a process, not to the machine.  A quoitd that runs as a service has
 * other limits than the shell in which quoit doctor was started.
 */
#ifndef QUOIT_TOOLS_DOCTOR_SUBJECT_H
#define QUOIT_TOOLS_DOCTOR_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "numbers.h"

#define SUBJECT_GROUPS    64
#define SUBJECT_UNLIMITED UINT64_MAX

/* Bits of the kernel's capabilities (linux/capability.h). */
#define SUBJECT_MAY_LOCK       (UINT64_C(1) << 14)
#define SUBJECT_MAY_ADMINISTER (UINT64_C(1) << 21)
#define SUBJECT_MAY_OVERRIDE   (UINT64_C(1) << 1)

/* A process's limits, besides that of locked memory. */
enum subject_limit {
	SUBJECT_FILE_SIZE,
	SUBJECT_ADDRESSES,
	SUBJECT_DATA,
	SUBJECT_DESCRIPTORS,
	SUBJECT_THREADS,
	SUBJECT_LIMITS,
};

struct subject {
	uint32_t pid;       /* of the running quoitd; 0: this process stands for one */
	char directory[24]; /* its folder in /proc, relative to the tree's root */
	bool known;         /* its status was read, which gives the following */
	uint32_t uid, gid;
	uint32_t group[SUBJECT_GROUPS];
	unsigned groups;
	uint64_t capabilities; /* 0 in a user namespace, where they do not count outside */
	bool has_cpus, has_memories;
	struct numbers cpus, memories; /* CPUs that it may use, and nodes whose memory it may use */
	bool has_memlock;
	uint64_t memlock; /* SUBJECT_UNLIMITED, or bytes */
	struct {
		bool known;
		/* the hard limit, to which quoitd raises its own; or SUBJECT_UNLIMITED */
		uint64_t value;
	} limit[SUBJECT_LIMITS];
};

/* Read what the tree says about process `pid`; 0: about this process. */
void subject_read(int root, uint32_t pid, struct subject *ret);

bool subject_is_in_group(const struct subject *s, uint64_t gid);

/* May the process read and write a file of this mode and owner? */
bool subject_may_use(const struct subject *s, mode_t mode, uint32_t uid, uint32_t gid);

/* A variable of its environment, cut to fit; false: it is not set, or we may not read it. */
bool subject_variable(int root, const struct subject *s, const char *name, char *ret, size_t size);

#endif

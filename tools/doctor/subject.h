/* SPDX-License-Identifier: MIT */
/*
 * subject.h - for whom the machine is looked at: the quoitd that runs, or one started from here.
 *
 * Limits and masks are a process's, not the machine's.  A quoitd that runs as a service has others
 * than the shell that quoit doctor was started from.
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

/* Limits of a process beside that of locked memory. */
enum subject_limit {
	SUBJECT_FILE_SIZE,
	SUBJECT_ADDRESSES,
	SUBJECT_DATA,
	SUBJECT_DESCRIPTORS,
	SUBJECT_THREADS,
	SUBJECT_LIMITS,
};

struct subject {
	uint32_t pid;       /* of the quoitd that runs; 0: we stand for one */
	char directory[24]; /* its folder of /proc, relative to the tree's root */
	bool known;         /* its status could be read: */
	uint32_t uid, gid;
	uint32_t group[SUBJECT_GROUPS];
	unsigned groups;
	uint64_t capabilities; /* none in a user namespace: they count for nothing outside */
	bool has_cpus, has_memories;
	struct numbers cpus, memories; /* that it may use: CPUs, and nodes' memory */
	bool has_memlock;
	uint64_t memlock; /* SUBJECT_UNLIMITED, or bytes */
	struct {
		bool known;
		uint64_t value; /* the hard one, which quoitd takes; SUBJECT_UNLIMITED */
	} limit[SUBJECT_LIMITS];
};

/* What a tree says of the process `pid`; 0: of ourselves. */
void subject_read(int root, uint32_t pid, struct subject *ret);

bool subject_is_in_group(const struct subject *s, uint64_t gid);

/* May it read and write a file of this mode and owner? */
bool subject_may_use(const struct subject *s, mode_t mode, uint32_t uid, uint32_t gid);

/* A variable of its environment, cut to fit; false: it has none, or that is not ours to see. */
bool subject_variable(int root, const struct subject *s, const char *name, char *ret, size_t size);

#endif

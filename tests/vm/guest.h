/* SPDX-License-Identifier: MIT */
/* guest.h - be the first process of a virtual machine, and find out where things are there. */
#ifndef TESTS_GUEST_H
#define TESTS_GUEST_H

#include <stdbool.h>
#include <sys/types.h>

#include <jansson.h>

#define GUEST_MAX_NODES 4

/* How many pages of a mapping each node has. */
struct guest_pages {
	unsigned on[GUEST_MAX_NODES];
};

/* Mount what a program expects, with the cpuset controller.  0 or -errno. */
int guest_boot(void);

/* Write out the output and switch the machine off. */
_Noreturn void guest_power_off(void);

/* A program's output as JSON, which the caller drops.  NULL: it failed, or printed no JSON. */
json_t *guest_run(const char *const *argv);

/* The pages that a process sees in mappings of this memfd.  -ENOENT: it has no such mapping. */
int guest_find_pages(pid_t pid, const char *memfd, struct guest_pages *ret);

/* KiB that the process maps of this memfd by huge pages. */
unsigned long guest_find_huge(pid_t pid, const char *memfd);

/* Set who gets huge pages for shared memory: "advise", "never" and so on.  0 or -errno. */
int guest_allow_huge(const char *whom);

/* Make a cpuset from lists like "0-1,3".  0 or -errno. */
int guest_make_cpuset(const char *name, const char *cpus, const char *memory_nodes);

/* Move a process to a cpuset; pid 0: the caller.  0 or -errno. */
int guest_join_cpuset(const char *name, pid_t pid);

/* Does the process have a thread of this name that may run only on this CPU? */
bool guest_is_pinned(pid_t pid, const char *thread, unsigned cpu);

/* May all threads of the process run only on these CPUs?  Bit n is CPU n. */
bool guest_stays_within(pid_t pid, unsigned cpus);

#endif

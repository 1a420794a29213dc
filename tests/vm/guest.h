/* SPDX-License-Identifier: MIT */
/*
 * guest.h - to be the first process of a virtual machine, and to see where things are there.
 */
#ifndef TESTS_GUEST_H
#define TESTS_GUEST_H

#include <stdbool.h>
#include <sys/types.h>

#include <jansson.h>

#define GUEST_MAX_NODES 4

/* Pages of a mapping by node. */
struct guest_pages {
	unsigned on[GUEST_MAX_NODES];
};

/* Mount what a program expects, with the cpuset controller.  0 or -errno. */
int guest_boot(void);

/* Write out what was printed and switch the machine off. */
_Noreturn void guest_power_off(void);

/* What a program prints, as JSON; the caller's.  NULL: it failed, or it is none. */
json_t *guest_run(const char *const *argv);

/* The pages that a process sees in mappings of this memfd.  -ENOENT: it maps none of that name. */
int guest_find_pages(pid_t pid, const char *memfd, struct guest_pages *ret);

/* KiB that the process maps of this memfd by huge pages. */
unsigned long guest_find_huge(pid_t pid, const char *memfd);

/* Who gets huge pages for shared memory: "advise", "never" and so on.  0 or -errno. */
int guest_allow_huge(const char *whom);

/* Make a cpuset, of lists like "0-1,3".  0 or -errno. */
int guest_make_cpuset(const char *name, const char *cpus, const char *memory_nodes);

/* Move a process to a cpuset; 0 is the caller.  0 or -errno. */
int guest_join_cpuset(const char *name, pid_t pid);

/* Does a thread of the process have this name and may run on this CPU alone? */
bool guest_is_pinned(pid_t pid, const char *thread, unsigned cpu);

/* May all threads of the process run on these CPUs only?  Bit n is CPU n. */
bool guest_stays_within(pid_t pid, unsigned cpus);

#endif

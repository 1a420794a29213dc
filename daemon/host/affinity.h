/* SPDX-License-Identifier: MIT */
/*
 * affinity.h - where threads run and where memory lies.
 *
 * All of it makes the daemon faster and none of it makes it right, so nothing here
 * aborts: containers often forbid these calls (-EPERM, -ENOSYS), and the caller says
 * what was refused and goes on.  CPUs and nodes are the kernel's numbers.
 */
#ifndef QUOITD_AFFINITY_H
#define QUOITD_AFFINITY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Pins the calling thread to one CPU.  Returns 0 or -errno: -EINVAL if it is not allowed there. */
int affinity_pin_thread(uint32_t cpu);

/*
 * Lets all threads of a process run on these CPUs and no others; those that it makes later are like
 * who makes them.  A thread that is just being made may be missed: it is not seen yet, and like its
 * maker as that was.  Returns 0 or -errno, of the first thread that it was refused for: -ESRCH if
 * the process has ended.
 */
int affinity_bind_process(pid_t pid, const uint32_t *cpus, uint32_t count);

/* Sets the nice value (-20 to 19) of the calling thread alone.  Returns 0 or -errno. */
int affinity_set_nice(int nice);

/*
 * Asks for a slice of so many nanoseconds (100,000 to 100,000,000) for the calling thread.  A
 * waking thread preempts one with a longer slice at once, where else it may have to wait for
 * the end of the slice: a clock tick.  Since Linux 6.12; before it has no effect.  Returns 0 or
 * -errno.
 */
int affinity_set_slice(uint64_t ns);

/*
 * A thread that computes, a worker's or a module's, asks for the longest slice, 100 ms: threads
 * that wake often and work briefly preempt it at once.  It is a mere wish.
 */
void affinity_set_long_slice(void);

#define AFFINITY_BACKGROUND_NICE 19

/*
 * The same, and gives way by its nice value.  Threads and processes that the caller makes
 * afterwards do the same.  Returns 0 or -errno: nice is as it was.
 */
int affinity_give_way(int nice);

/*
 * Asks that the pages of a mapping, present ones and those to come, lie on a node.
 * A wish, not a bond: when the node is full the pages come from elsewhere, where
 * MPOL_BIND would have the kernel kill us.  For a shared mapping the wish belongs to
 * the file and holds for all who map it.  start is a page boundary.
 * Returns 0 or -errno: -EINVAL for a node that does not exist, has no memory or is not allowed.
 */
int affinity_prefer_node(void *start, size_t bytes, uint32_t node);

/*
 * Counts the pages of a mapping that are present, and those of them that lie on a node.
 * A page counts as present if this process has touched it.  Takes about 0.2 µs for a
 * page, so it is for checks, not for a path.  start is a page boundary.
 * Returns 0 or -errno; the counts are set only on 0.
 */
int affinity_count_pages(void *start, size_t bytes, uint32_t node, size_t *ret_present,
			 size_t *ret_on_node);

#endif

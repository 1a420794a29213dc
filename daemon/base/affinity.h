/* SPDX-License-Identifier: MIT */
/*
 * affinity.h - sets where threads run and where memory lies.
 *
 * All of it makes quoitd faster, none of it makes it correct, so nothing here aborts.  Containers
 * often forbid these calls (-EPERM, -ENOSYS); the caller logs the refusal and goes on.  CPUs and
 * nodes are the kernel's numbers.
 */
#ifndef QUOITD_AFFINITY_H
#define QUOITD_AFFINITY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Pins the calling thread to one CPU.  0, or -errno; -EINVAL: it is not allowed to run there. */
int affinity_pin_thread(uint32_t cpu);

/*
 * Binds all threads of a process to these CPUs.  Threads that it makes later inherit this.  A
 * thread that is being made at this moment may be missed: it keeps the CPUs that its maker had.  0,
 * or -errno for the first thread for which the kernel refused; -ESRCH: the process has ended.
 */
int affinity_bind_process(pid_t pid, const uint32_t *cpus, uint32_t count);

/* Sets the nice value (-20 to 19) of the calling thread only.  0 or -errno. */
int affinity_set_nice(int nice);

/*
 * Asks for a slice of so many nanoseconds (100,000 to 100,000,000) for the calling thread.  A
 * waking thread preempts a thread with a longer slice at once; otherwise it may wait for the end of
 * that slice, up to a clock tick.  No effect before Linux 6.12.  0 or -errno.
 */
int affinity_set_slice(uint64_t ns);

/*
 * Asks for the longest slice, 100 ms, for a thread that computes (a worker's or a module's):
 * threads that wake often and work briefly preempt it at once.  It is only a wish.
 */
void affinity_set_long_slice(void);

#define AFFINITY_BACKGROUND_NICE 19

/*
 * As affinity_set_long_slice, and also gives way by its nice value.  Threads and processes that the
 * caller makes afterwards inherit both.  0, or -errno: the nice value is as it was.
 */
int affinity_give_way(int nice);

/*
 * Asks that the pages of a mapping, present and future ones, lie on a node.  It is only a wish: if
 * the node is full, pages come from elsewhere.  (MPOL_BIND would have the kernel kill quoitd.)  For
 * a shared mapping the wish belongs to the file, and holds for all processes that map it.  start is
 * a page boundary.  0 or -errno; -EINVAL: the node does not exist, has no memory or is not allowed.
 */
int affinity_prefer_node(void *start, size_t bytes, uint32_t node);

/*
 * Counts the pages of a mapping that are present, and those of them that lie on a node.  A page
 * counts as present if this process has touched it.  It takes about 0.2 µs a page: for checks, not
 * for a hot path.  start is a page boundary.  0 or -errno; the counts are set only on 0.
 */
int affinity_count_pages(void *start, size_t bytes, uint32_t node, size_t *ret_present,
			 size_t *ret_on_node);

#endif

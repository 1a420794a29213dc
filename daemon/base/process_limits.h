/* SPDX-License-Identifier: MIT */
/* process_limits.h - raises, reads and explains the limits of this process (setrlimit) */
#ifndef QUOITD_PROCESS_LIMITS_H
#define QUOITD_PROCESS_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Raise soft limits to the hard ones, for which no permission is needed.  From then on a file that
 * becomes too large causes an error, not a signal.
 */
void process_limits_raise(void);

/*
 * Give threads that are made from now on a stack for the kernels of ops/, which take up to a MiB,
 * whatever RLIMIT_STACK says.
 */
void process_limits_set_stacks(void);

/*
 * For how many bytes of leases the limits on addresses and file sizes have room; UINT64_MAX: no
 * limit.  The default of --memory is at most this.
 */
uint64_t process_limits_memory(void);

/*
 * How many bytes of addresses, in one file, the next session may take for a lease that may grow.
 * All sessions have taken `taken`, those of its user `of_user` of it.  It is a part of what is
 * left, so that some is always left.  one_user: there is no other user.
 */
uint64_t process_limits_span(uint64_t taken, uint64_t of_user, bool one_user);

/* Write the words of a negative errno, then the limit that was met and how to raise it. */
void process_limits_explain(int err, char *ret, size_t size);

/* The same, for a line of the log: process_limits_words(err).text */
struct process_limits_words {
	char text[256];
};
struct process_limits_words process_limits_words(int err);

#endif

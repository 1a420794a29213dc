/* SPDX-License-Identifier: MIT */
/* process_limits.h - what this process may have of the machine (setrlimit), and what it costs us */
#ifndef QUOITD_PROCESS_LIMITS_H
#define QUOITD_PROCESS_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Take all that we may have without asking anybody: soft limits become the hard ones, and a file
 * that becomes too large is an error and no signal.
 */
void process_limits_raise(void);

/*
 * Threads that are made from now on have a stack for the kernels of ops/, which take most of a MiB,
 * whatever RLIMIT_STACK says.
 */
void process_limits_set_stacks(void);

/*
 * For how many bytes of leases addresses and files' sizes are allowed; UINT64_MAX: for any.  The
 * default of --memory is no more.
 */
uint64_t process_limits_memory(void);

/*
 * How many bytes of addresses, in one file, one more session may take for a lease that may grow,
 * where all take so many, and those of its user so many of these: of what is left a part, so that
 * there is always some left.  one_user: there is no other user, from whom they could be taken.
 */
uint64_t process_limits_span(uint64_t taken, uint64_t of_user, bool one_user);

/* The words of a negative errno, and behind them the limit that is met there and how it is lifted.
 */
void process_limits_explain(int err, char *ret, size_t size);

#endif

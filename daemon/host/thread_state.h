/* SPDX-License-Identifier: MIT */
/* thread_state.h - does a thread of ours wait for a core that others have? */
#ifndef QUOITD_THREAD_STATE_H
#define QUOITD_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Does it want to run, without having had any time on a core since it was last asked for?  *ticks
 * is what it had had by then, in the kernel's ticks, and becomes what it has had by now.  A thread
 * that sleeps, or spins, does not wait for a core; nor does one of which nothing is known.
 */
bool thread_waits_for_core(pid_t thread, uint64_t *ticks);

#endif

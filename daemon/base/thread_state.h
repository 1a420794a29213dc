/* SPDX-License-Identifier: MIT */
/* thread_state.h - finds out whether a thread waits for a core that other programs use */
#ifndef QUOITD_THREAD_STATE_H
#define QUOITD_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * True: the thread wants to run, but has had no core since the last call.  *ticks: its CPU time at
 * the last call, in the kernel's ticks; set to its CPU time now.  False for a thread that sleeps or
 * spins, or of which nothing is known.  thread 0: it was created, and has not begun yet, so it wants
 * to run.
 */
bool thread_waits_for_core(pid_t thread, uint64_t *ticks);

#endif

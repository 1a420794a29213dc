/* SPDX-License-Identifier: MIT */
/* process.h - stop a process, and see that it stands still. */
#ifndef TESTS_PROCESS_H
#define TESTS_PROCESS_H

#include <sys/types.h>

/* The kernel's letter for what its first thread does (proc(5)); '?': it is gone. */
char process_state(pid_t pid);

/* Send SIGSTOP, and wait until all its threads have stopped.  Asserts success. */
void process_stop(pid_t pid);

/* Wait only: it stops itself. */
void process_await_stop(pid_t pid);

#endif

/* SPDX-License-Identifier: MIT */
/* restart.h - when to start a process again that has ended, and the words for its end */
#ifndef QUOIT_TOOLS_RESTART_H
#define QUOIT_TOOLS_RESTART_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RESTART_MOST_NS UINT64_C(10000000000) /* no pause is longer */
/* A process that has lived as long as this was well: the next pause is the first one again. */
#define RESTART_WELL_NS UINT64_C(10000000000)

/* The pause before the next start.  last_ns: the pause before; 0: there was none.  Pure. */
uint64_t restart_pause_ns(uint64_t first_ns, uint64_t last_ns, uint64_t lived_ns);

/* "was killed by signal 11 (Segmentation fault)", from waitpid's status. */
void restart_say_end(int status, char *ret, size_t size);

/* A time in seconds: "0.004 s", "3.2 s". */
void restart_say_time(uint64_t ns, char *ret, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* statm.h - a process's resident memory, read again and again from a file that stays open */
#ifndef QUOIT_TOOLS_TOP_STATM_H
#define QUOIT_TOOLS_TOP_STATM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Open /proc/PID/statm of the process that existed at by_ns (CLOCK_BOOTTIME) already.  -1: it is
 * gone, or cannot be read.  Close it with statm_close, which sets it to -1; -1 is fine.
 */
int statm_open(uint32_t pid, uint64_t by_ns);
void statm_close(int *statm);

/* False: the process is gone, or a zombie. */
bool statm_read(int statm, uint64_t *ret_bytes);

#endif

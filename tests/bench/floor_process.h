/* SPDX-License-Identifier: MIT */
/* floor_process.h - provide memory, another process and a clock for the floor */
#ifndef FLOOR_PROCESS_H
#define FLOOR_PROCESS_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t floor_now(void);

/* Allocate zeroed, resident memory that a fork shares; NULL with errno set. */
void *floor_map(size_t bytes);
void floor_unmap(void *memory, size_t bytes);

/* Run the calling thread on `cpu` (any: no change); *ret_before: the CPUs before. */
int floor_pin(int cpu, cpu_set_t *ret_before);
void floor_unpin(const cpu_set_t *before);

/*
 * Fork a process that runs serve(memory) on `cpu` and ends; it dies with its parent.  0 or -errno.
 */
int floor_fork(void (*serve)(void *memory), void *memory, int cpu, pid_t *ret_pid);

/* Wait for the process.  0: it returned from serve; else -ECHILD. */
int floor_join(pid_t pid);

#endif

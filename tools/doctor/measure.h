/* SPDX-License-Identifier: MIT */
/* measure.h - measurements of the machine, each within about a second; 0 or a negative errno */
#ifndef QUOIT_TOOLS_DOCTOR_MEASURE_H
#define QUOIT_TOOLS_DOCTOR_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime.h"

/* What a measurement may take where a CPU does not run our thread, or seldom: then -ETIMEDOUT. */
#define MEASURE_MOST_S 2.0

/* A thread on that CPU alone; whoever has started it has to join it. */
int measure_start(unsigned cpu, void (*run)(void *arg), void *arg, void **ret_thread);

/*
 * Waits for a while.  False: it has not ended, since its CPU does not run it, and never may.  Then
 * what it uses must be left alone until the process ends.
 */
bool measure_join(void *thread);

/* Nanoseconds from a store on one CPU until the other sees it, through a ring; a median. */
int measure_hop(unsigned from, unsigned to, double *ret_ns);

/* Microseconds from the call that wakes a thread until that runs, after 2 ms of sleep. */
int measure_wake(unsigned from, unsigned to, double *ret_median, double *ret_p99);

/*
 * Memory of one node.  most: how many bytes may be taken; -ENOMEM: too few are free.
 * Then GB/s at which a thread on a CPU reads it, once for each CPU of interest.
 */
struct measure_memory {
	void *map;
	size_t bytes;
};

int measure_memory_open(struct measure_memory *m, unsigned node, uint64_t most);
int measure_memory_read(struct measure_memory *m, unsigned cpu, double *ret_gb_s);
void measure_memory_close(struct measure_memory *m);

/* What device 1 of a quoitd does. */
struct measure_device {
	double job_us;            /* a small job, there and back; a median */
	double in_gb_s, out_gb_s; /* copies from the pinned region, and to it */
	char text[256];           /* what went wrong */
};

int measure_device(const char *socket, struct measure_device *ret);

#endif

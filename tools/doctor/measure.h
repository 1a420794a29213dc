/* SPDX-License-Identifier: MIT */
/* measure.h - measure the machine, each function within about a second; 0 or a negative errno */
#ifndef QUOIT_TOOLS_DOCTOR_MEASURE_H
#define QUOIT_TOOLS_DOCTOR_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/runtime.h"

/* The most time for a measurement if a CPU runs our thread seldom or never; then -ETIMEDOUT. */
#define MEASURE_MOST_S 2.0

/* Start a thread on that CPU alone; the caller must call measure_join. */
int measure_start(unsigned cpu, void (*run)(void *arg), void *arg, void **ret_thread);

/*
 * Wait for the thread, for a limited time.  False: it has not ended, since its CPU does not run it,
 * and perhaps never will.  Then leave its data alone until the process ends.
 */
bool measure_join(void *thread);

/* Nanoseconds from a store on one CPU until the other sees it, through a ring; the median. */
int measure_hop(unsigned from, unsigned to, double *ret_ns);

/* Microseconds from the call that wakes a thread until the thread runs, after 2 ms of sleep. */
int measure_wake(unsigned from, unsigned to, double *ret_median, double *ret_p99);

/*
 * Allocate memory of one node, at most `most` bytes; -ENOMEM: too few are free.  Then measure the
 * GB/s at which a thread on a CPU reads it, once for each CPU of interest.
 */
struct measure_memory {
	void *map;
	size_t bytes;
};

int measure_memory_open(struct measure_memory *m, unsigned node, uint64_t most);
int measure_memory_read(struct measure_memory *m, unsigned cpu, double *ret_gb_s);
void measure_memory_close(struct measure_memory *m);

/* The speed of a quoitd's device 1. */
struct measure_device {
	double job_us;            /* a small job, there and back; the median */
	double in_gb_s, out_gb_s; /* copies from the pinned region, and copies to it */
	char text[256];           /* what went wrong */
};

int measure_device(const char *socket, struct measure_device *ret);

#endif

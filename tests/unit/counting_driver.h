/* SPDX-License-Identifier: MIT */
/*
 * counting_driver.h - a device's driver that only counts its calls.
 *
 * Its streams write at once, or when the test lets them.  There is one device, with one user at a
 * time; any thread may read the counts.
 */
#ifndef TESTS_COUNTING_DRIVER_H
#define TESTS_COUNTING_DRIVER_H

#include <stdbool.h>

#include <quoit/device.h>

/* The clock's reading, and the time that streams write, in nanoseconds. */
#define COUNTING_READING_NS 1u
#define COUNTING_STAMP_NS   1000000001u

/* Calls so far: those that would cost a launch on a real device, and those that ask for memory. */
struct counting_calls {
	unsigned run, copy, clear, signal, stamp, record, wait;
	unsigned memory_new, memory_free, host_new, host_register, host_unregister, event_new;
	unsigned registered_at_run; /* number of host_register calls at the last run */
	unsigned range_begin, range_end;
	uint8_t range_opcode; /* of the last range that began */
	uint64_t range_job;   /* the job of that range */
};

extern const struct quoit_device_driver counting_driver;

struct counting_calls counting_now(void);

/* From now on reading the clock gives -EAGAIN. */
void counting_be_busy(void);

/* The next n calls of clear find a full stream: -EAGAIN.  Call it before jobs are published. */
void counting_stall(unsigned n);

/* The n-th host_register from now on fails: -ENOMEM. */
void counting_refuse(unsigned n);

/*
 * counting_hold: streams write nothing from now on.  counting_step: one of them, counted in the
 * order in which they were made, writes the next word that is due, if so many are left behind it.
 * counting_let_go: they write all that is due, and from then on at once.
 */
void counting_hold(void);
bool counting_step(unsigned stream, unsigned left);
void counting_let_go(void);

#endif

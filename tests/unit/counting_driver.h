/* SPDX-License-Identifier: MIT */
/*
 * counting_driver.h - a device's driver that does nothing but count its calls.
 *
 * What its streams write comes at once, or when the test lets it.  There is one device, and one
 * user of it at a time; the counts may be read by any thread.
 */
#ifndef TESTS_COUNTING_DRIVER_H
#define TESTS_COUNTING_DRIVER_H

#include <stdbool.h>

#include <quoit/device.h>

/* What its clock's reading says, and what streams write as the time; nanoseconds. */
#define COUNTING_READING_NS 1u
#define COUNTING_STAMP_NS   1000000001u

/* Calls so far: those that cost a launch on a real device, and those that ask for memory. */
struct counting_calls {
	unsigned run, copy, clear, signal, stamp, record, wait;
	unsigned memory_new, memory_free, host_new, host_register, host_unregister, event_new;
	unsigned registered_at_run; /* host_register, when run was called last */
	unsigned range_begin, range_end;
	uint8_t range_opcode; /* of the last that began, */
	uint64_t range_job;   /* and whose it was */
};

extern const struct quoit_device_driver counting_driver;

struct counting_calls counting_now(void);

/* From now on its clock is not told: -EAGAIN. */
void counting_be_busy(void);

/* The next n calls of clear find their stream full: -EAGAIN.  Before jobs are published. */
void counting_stall(unsigned n);

/* The n-th host_register from now on is refused: -ENOMEM. */
void counting_refuse(unsigned n);

/*
 * Streams write nothing from now on; one of them, counted as they were made, writes the next word
 * that is due, if it has so many left behind that; and: they write what is due, and at once again.
 */
void counting_hold(void);
bool counting_step(unsigned stream, unsigned left);
void counting_let_go(void);

#endif

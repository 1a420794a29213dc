/* SPDX-License-Identifier: MIT */
/*
 * soft_faults.h - what goes wrong by order of QUOIT_SOFT_FAULTS, for tests
 *
 * A comma list of
 *
 *   FUNCTION:WHEN:ERROR    a function of struct quoit_device_driver fails
 *   hang:WHEN              an operation never ends
 *   die:WHEN               the process is killed when an operation runs
 *   stop:WHEN              it is stopped (SIGSTOP), and runs the operation once it goes on
 *
 *   silent                 its streams write no words: who wants to know asks events
 *
 *   freeze:WHEN            the consumer of a GPU-direct ring never does anything nor leaves, once
 *                          there is a request
 *   stall:WHEN             the same, but it leaves when it is told to
 *   late:WHEN              it leaves a fifth of a second after it was told to
 *   lie:WHEN               it says it has done requests that there never were
 *
 * WHEN counts the calls of the function, `run` for hang, die and stop, `direct_start` for the last
 * four, from 1 on and over
 * all devices of the process: "3" is the third call, "3-" that and all that follow, "3+5" that
 * and every fifth one after it.  ERROR is a
 * name like ENOMEM, EGPUFAULT or EDEVLOST.  The two sticky ones strike when the work runs if
 * the function puts work into a stream, else at once; others are what the call returns, and
 * nothing is put into the stream.
 *
 * For the thread that calls the driver alone.
 */
#ifndef QUOIT_SOFT_FAULTS_H
#define QUOIT_SOFT_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

#define SOFT_INJECTED "injected by QUOIT_SOFT_FAULTS" /* for people */

enum soft_function {
	SOFT_COUNT,
	SOFT_OPEN,
	SOFT_HEALTH,
	SOFT_CLOCK,
	SOFT_MEMORY_NEW,
	SOFT_MEMORY_FREE,
	SOFT_HOST_NEW,
	SOFT_HOST_REGISTER,
	SOFT_STREAM_NEW,
	SOFT_EVENT_NEW,
	SOFT_EVENT_RECORD,
	SOFT_EVENT_DONE,
	SOFT_STREAM_WAIT,
	SOFT_COPY,
	SOFT_CLEAR,
	SOFT_RUN,
	SOFT_SIGNAL,
	SOFT_STAMP,
	SOFT_MODULE_NEW,
	SOFT_KERNEL_FIND,
	SOFT_LAUNCH,
	SOFT_DIRECT_OPEN,
	SOFT_DIRECT_START,
	SOFT_POOL_EXPORT,
	SOFT_POOL_IMPORT,
	SOFT_MEMORY_EXPORT,
	SOFT_MEMORY_IMPORT,
	SOFT_FUNCTION_NR,
};

/* What a call suffers beside errors, which are negative. */
enum soft_effect {
	SOFT_NOTHING,
	SOFT_HANG,
	SOFT_DIE,
	SOFT_STOP,
	SOFT_FREEZE,
	SOFT_STALL,
	SOFT_LATE,
	SOFT_LIE,
};

/* Read the list, once.  -EINVAL: it makes no sense, text says where. */
int soft_faults_init(char *text, size_t size);

/* Is the device silent? */
bool soft_is_silent(void);

/* Count a call: enum soft_effect, or the -errno or sticky error that it suffers. */
int soft_faults_next(enum soft_function function);

#endif

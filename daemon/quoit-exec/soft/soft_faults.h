/* SPDX-License-Identifier: MIT */
/*
 * soft_faults.h - the faults that QUOIT_SOFT_FAULTS asks for, for tests.
 *
 * The variable is a comma list of
 *
 *   FUNCTION:WHEN:ERROR    a function of struct quoit_device_driver fails
 *   hang:WHEN              an operation never ends
 *   die:WHEN               the process is killed when an operation runs
 *   stop:WHEN              it is stopped (SIGSTOP), and runs the operation once it goes on
 *
 *   silent                 streams write no words; events must be asked instead
 *
 *   freeze:WHEN            once there is a request, the consumer of a GPU-direct ring does nothing,
 *                          and never leaves
 *   stall:WHEN             the same, but the consumer leaves when it is told to
 *   late:WHEN              the consumer leaves a fifth of a second after it was told to
 *   lie:WHEN               the consumer claims to have done requests that were never made
 *
 * WHEN counts calls from 1 on, over all devices of the process: of the function, of `run` for hang,
 * die and stop, and of `direct_start` for the last four.  "3" is the third call, "3-" that and all
 * later ones, "3+5" that and every fifth one after it.
 *
 * ERROR is a name like ENOMEM, EGPUFAULT or EDEVLOST.  The sticky two, EGPUFAULT and EDEVLOST,
 * strike when the work runs if the function puts work into a stream, else at once.  Any other error
 * is returned by the call, and nothing is put into the stream.
 *
 * Only the thread that calls the driver may call these functions.
 */
#ifndef QUOIT_SOFT_FAULTS_H
#define QUOIT_SOFT_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

#define SOFT_INJECTED "injected by QUOIT_SOFT_FAULTS" /* for messages */

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

/* What a call suffers; errors, which are negative, come besides. */
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

/* Read the list, once.  0; -EINVAL: an entry is invalid, and text says which; -ENOMEM. */
int soft_faults_init(char *text, size_t size);

/* Is the device silent (see above)? */
bool soft_is_silent(void);

/* Count a call: returns an enum soft_effect, or the -errno or sticky error that it suffers. */
int soft_faults_next(enum soft_function function);

#endif

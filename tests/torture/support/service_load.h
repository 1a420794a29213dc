/* SPDX-License-Identifier: MIT */
/*
 * service_load.h - processes that serve, and processes that call and know what must come back
 *
 * Each call has a number, by which its function says that it ran: a call that has succeeded ran
 * once, one that failed ran at most once.
 */
#ifndef TORTURE_SERVICE_LOAD_H
#define TORTURE_SERVICE_LOAD_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#define LOAD_NAME    "load"
#define LOAD_CALLERS 3u
#define LOAD_SERVERS 3u
#define LOAD_NUMBERS 65536u /* of one caller's calls, until they come again */

/* What calls may end with, besides their results. */
#define LOAD_MAY_DIE    0x1u /* -QUOIT_EEXEC: a process that served was killed */
#define LOAD_MAY_CANCEL 0x2u /* -ECANCELED: their caller closed the service */
#define LOAD_MAY_LATE   0x4u /* -ETIME: they have short deadlines */

/* All processes share it. */
struct load {
	const char *socket;
	uint32_t may; /* LOAD_MAY_*; _CANCEL and _LATE: callers do that now and then */
	atomic_bool stop;
	struct {
		_Atomic uint64_t ended; /* calls */
		_Atomic uint64_t died;  /* those of them that failed with their process */
		char wrong[200];        /* "": nothing is */
		_Atomic uint8_t ran[LOAD_NUMBERS];
	} caller[LOAD_CALLERS];
	struct {
		atomic_bool leave, serves;
	} server[LOAD_SERVERS];
};

/* NULL: there is no memory.  load_free unmaps it. */
struct load *load_new(const char *socket, uint32_t may);
void load_free(struct load *l);

/* Start one in a process of its own.  It exits with 0 once it is told to leave. */
pid_t load_server(struct load *l, unsigned i);
pid_t load_caller(struct load *l, unsigned i);

/* Calls that have ended by now. */
uint64_t load_ended(const struct load *l);

#endif

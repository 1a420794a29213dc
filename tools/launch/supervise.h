/* SPDX-License-Identifier: MIT */
/*
 * supervise.h - run several processes of one program, start them again when they end, and leave
 * none behind.
 */
#ifndef QUOIT_TOOLS_SUPERVISE_H
#define QUOIT_TOOLS_SUPERVISE_H

#include <stdbool.h>
#include <stdint.h>

#define SUPERVISE_MOST 1024u /* processes */

struct supervise_params {
	char *const *argv;   /* the program and its arguments, ended by NULL */
	const char *command; /* messages begin with "quoit <command>" */
	/* the environment variable that tells a process its number, counted from 0 */
	const char *number_variable;
	unsigned processes;  /* 1 to SUPERVISE_MOST */
	uint64_t restart_ns; /* the first pause before a start */
	uint64_t stop_ns;    /* how long the processes may take to end when they are told to */
	bool pinned;         /* each to its share of our CPUs */
	bool once;           /* do not start again; the first failure ends all */
};

/*
 * Run them until SIGTERM, SIGINT, SIGHUP or SIGQUIT comes, and pass that on; a second one kills.
 * SIGUSR1 and SIGUSR2 are passed on, too.  Returns the exit status, as program.h has them: 0 after
 * such a signal; with `once` 0 if all have ended well, else the status of the first that has not.
 */
int supervise(const struct supervise_params *params);

#endif

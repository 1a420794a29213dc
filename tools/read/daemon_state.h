/* SPDX-License-Identifier: MIT */
/* daemon_state.h - find out whether a quoitd is there and moves, and say so if it does not */
#ifndef QUOIT_TOOLS_DAEMON_STATE_H
#define QUOIT_TOOLS_DAEMON_STATE_H

#include <stdbool.h>

#include "counters.h"

/* Found from the counter files and the kernel's list of sockets; quoitd is not asked. */
enum daemon_state {
	DAEMON_UP, /* its process lives, and its reactors update their counters */
	/* its process lives, but a reactor has not updated its counters for RUNTIME_SILENT_S */
	DAEMON_SILENT,
	DAEMON_DEAD, /* its process has ended and left its files behind */
	/* it has not started; another process, such as systemd, listens at its socket */
	DAEMON_WAITING,
	DAEMON_ABSENT, /* there are neither files nor a listener */
	DAEMON_STATES
};

/* One word: "up", "silent", "dead", "waiting", "absent". */
const char *daemon_state_word(enum daemon_state state);

/*
 * The state of the quoitd at this socket.  totals: as read from this directory; NULL: there are
 * none. socket NULL: do not look for a successor.
 */
enum daemon_state daemon_state_look(int directory, const char *socket,
				    const struct counters_totals *totals);

/*
 * If a quoitd with these totals is not up, print a line on stderr for `quoit COMMAND`: what is the
 * matter, and that these figures are its last ones.  Returns true if it printed that line.  Prints
 * one more line if quoitd is of another version than this tool.
 */
bool daemon_state_warn(const char *command, enum daemon_state state,
		       const struct counters_totals *totals);

/*
 * Print a line on stderr for `quoit COMMAND`, when the counter files beside the socket cannot be
 * read (-errno): why, and what to do.  Returns 1, the exit status.
 */
int daemon_state_refuse(const char *command, const char *socket, int err);

/* Why the counter files cannot be read, in a few words. */
const char *daemon_state_reason(int err);

/* The version of a quoitd in words; false: it is ours, or not known. */
bool daemon_state_version(const struct counters_totals *t, char *ret, size_t size);

/* "of version 1.2.3 (ABI 4), this tool of ..."; false: both are of one version. */
bool daemon_state_differs(const struct counters_totals *t, char *ret, size_t size);

/* If the version is not ours, print a line on stderr for `quoit COMMAND`. */
void daemon_state_compare_versions(const char *command, const struct counters_totals *t);

/* The same for the quoitd at this socket, if its totals can be read. */
void daemon_state_check_version(const char *command, const char *socket);

/* Does a process listen at this path?  Listeners of another network namespace are not seen. */
bool daemon_state_is_listened_to(const char *socket);

#endif

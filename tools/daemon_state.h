/* SPDX-License-Identifier: MIT */
/* daemon_state.h - is a quoitd there, does it move, and what a tool says where it does not */
#ifndef QUOIT_TOOLS_DAEMON_STATE_H
#define QUOIT_TOOLS_DAEMON_STATE_H

#include <stdbool.h>

#include "counters.h"

/* As the counter files and the kernel's list of sockets have it: quoitd is not asked. */
enum daemon_state {
	DAEMON_UP,      /* its process lives, and its reactors tell their counters */
	DAEMON_SILENT,  /* its process lives, and a reactor has told nothing for RUNTIME_SILENT_S */
	DAEMON_DEAD,    /* its process has ended without taking its files along */
	DAEMON_WAITING, /* it has not started: somebody, as systemd, listens at its socket */
	DAEMON_ABSENT,  /* there is neither */
	DAEMON_STATES
};

/* One word: "up", "silent", "dead", "waiting", "absent". */
const char *daemon_state_word(enum daemon_state state);

/*
 * With the totals that were read from this directory, of the quoitd at this socket (NULL: its
 * successor is not looked for); totals NULL: there were none.
 */
enum daemon_state daemon_state_look(int directory, const char *socket,
				    const struct counters_totals *totals);

/*
 * A line on stderr, for `quoit COMMAND`, where a quoitd with these totals is not up: what is the
 * matter, and that these figures are its last ones.  True: there was such a line.  One more where
 * it is of another version than this tool.
 */
bool daemon_state_warn(const char *command, enum daemon_state state,
		       const struct counters_totals *totals);

/*
 * A line on stderr, for `quoit COMMAND`, where the counter files beside the socket cannot be read
 * (-errno): why, and what to do.  Returns 1, the exit status.
 */
int daemon_state_refuse(const char *command, const char *socket, int err);

/* Why they cannot be read, in a few words. */
const char *daemon_state_reason(int err);

/* The version of a quoitd in words; false: it is not ours, or not known. */
bool daemon_state_version(const struct counters_totals *t, char *ret, size_t size);

/* "of version 1.2.3 (ABI 4), this tool of ..."; false: they are of one. */
bool daemon_state_differs(const struct counters_totals *t, char *ret, size_t size);

/* A line on stderr, for `quoit COMMAND`, where it is not ours. */
void daemon_state_compare_versions(const char *command, const struct counters_totals *t);

/* The same for the quoitd at this socket, if its totals can be read. */
void daemon_state_check_version(const char *command, const char *socket);

/* Does somebody listen at this path?  In another network namespace nobody is seen. */
bool daemon_state_is_listened_to(const char *socket);

#endif

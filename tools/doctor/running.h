/* SPDX-License-Identifier: MIT */
/* running.h - the quoitd at a socket: is there one, does it live, does it answer, what it found */
#ifndef QUOIT_TOOLS_DOCTOR_RUNNING_H
#define QUOIT_TOOLS_DOCTOR_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

#include "numbers.h"
#include "runtime.h"

#define RUNNING_PATIENCE_S 5

enum running_state {
	RUNNING_NOT,       /* there is no socket, nor counter files of one that lives */
	RUNNING_DEAD,      /* a socket or files were left behind, and nobody is there */
	RUNNING_FORBIDDEN, /* we may not connect */
	RUNNING_SILENT,    /* it does not answer */
	RUNNING_STRANGE,   /* what answers is no quoitd */
	RUNNING_REFUSES,   /* it answers, and does not serve us */
	RUNNING_WELL,
};

struct running {
	enum running_state state;
	char socket[QUOIT_SOCKET_BYTES];
	uint32_t pid;       /* where it is a process that we can see; else 0 */
	bool has_text;      /* it lives, and its topology text could be read: */
	char text[65536];   /* printable, ended by a NUL */
	char refusal[1024]; /* in its own words, escaped */

	/* It lives, and its totals could be read: */
	char other_version[128]; /* daemon_state_differs; "": it is of ours */
	uint64_t host_limit;     /* what it lends out, in bytes; 0: not known */
	struct numbers reactors; /* CPUs of its reactors */
};

/* socket: the path, as quoit_socket_path says.  Asks again for RUNNING_PATIENCE_S while it is
 * silent. */
void running_look(const char *socket, struct running *ret);

#endif

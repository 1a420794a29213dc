/* SPDX-License-Identifier: MIT */
/* running.h - look at the quoitd of a socket: does it live, does it answer, what it found */
#ifndef QUOIT_TOOLS_DOCTOR_RUNNING_H
#define QUOIT_TOOLS_DOCTOR_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

#include "numbers.h"
#include "read/runtime.h"

#define RUNNING_PATIENCE_S 5

enum running_state {
	RUNNING_NOT,  /* there is no socket, and there are no counter files of a living quoitd */
	RUNNING_DEAD, /* a socket or files were left behind, and there is no quoitd */
	RUNNING_FORBIDDEN, /* we may not connect */
	RUNNING_SILENT,    /* it does not answer */
	RUNNING_STRANGE,   /* something that is not quoitd answers */
	RUNNING_REFUSES,   /* it answers, but refuses us */
	RUNNING_WELL,
};

struct running {
	enum running_state state;
	char socket[QUOIT_SOCKET_BYTES];
	uint32_t pid;       /* if we can see the process; else 0 */
	bool has_text;      /* it lives, and its topology text was read */
	char text[65536];   /* printable, ended by a NUL */
	char refusal[1024]; /* its words, escaped */

	/* If it lives, and its totals could be read: */
	char other_version[128]; /* daemon_state_differs; "": it has our version */
	uint64_t host_limit;     /* the bytes that it lends out; 0: not known */
	struct numbers reactors; /* CPUs of its reactors */
};

/*
 * socket: a path from quoit_socket_path.  While quoitd is silent, asks again for
 * RUNNING_PATIENCE_S.
 */
void running_look(const char *socket, struct running *ret);

#endif

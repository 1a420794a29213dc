/* SPDX-License-Identifier: MIT */
/* callers.h - the names of the programs behind sessions that call services */
#ifndef QUOIT_TOOLS_CALLERS_H
#define QUOIT_TOOLS_CALLERS_H

#include <stddef.h>
#include <stdint.h>

#include "format.h"
#include "session_files.h"

/* Where to look the names up. */
struct callers {
	struct session_files files;
	bool opened; /* the directory beside the socket */
	bool here;   /* quoitd's PIDs are those of our PID namespace */
};

void callers_open(struct callers *c, const char *socket);
void callers_close(struct callers *c);

/*
 * The name of this session, as `quoit ps` has it in COMMAND; if we may not read it, as of other
 * users, the name of its process.  Escaped; "": not known.
 */
void callers_command(struct callers *c, uint64_t session, uint32_t pid,
		     char ret[FORMAT_CELL_BYTES]);

#endif

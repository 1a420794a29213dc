/* SPDX-License-Identifier: MIT */
/*
 * reload.h - SIGHUP: reads the configuration again, and changes what can be changed at run time.
 *
 * Reading files and names may take long, so a thread of its own reads and checks them all.  The
 * control thread takes over the result, or logs an error and keeps the present configuration.
 */
#ifndef QUOITD_RELOAD_H
#define QUOITD_RELOAD_H

#include <stdbool.h>

#include "config/config.h"

struct control;
struct reading_again;

struct reload {
	struct config *config; /* in force; only the control thread changes it */
	int argc;              /* the command line that it was made of; outlives this */
	char **argv;
	struct reading_again *reading; /* the reading under way; NULL: none */
	bool again;                    /* read once more when that is done */
};

/* Begin to read; if a reading is under way, begin once more after it. */
void reload_request(struct control *c);

/* Once a turn of the loop: take over a reading that is done. */
void reload_advance(struct control *c);

/* Do not wait for a reading under way: it ends with the process. */
void reload_done(struct control *c);

#endif

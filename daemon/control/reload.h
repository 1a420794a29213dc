/* SPDX-License-Identifier: MIT */
/*
 * reload.h - SIGHUP: the configuration is read again, and what can be changed is.
 *
 * Files and names may take their time: a thread of its own reads and judges them all, and the
 * control thread takes over the result, or, if anything is wrong, keeps what is in force and says
 * so.
 */
#ifndef QUOITD_RELOAD_H
#define QUOITD_RELOAD_H

#include <stdbool.h>

#include "host/config.h"

struct control;
struct reading_again;

struct reload {
	struct config *config; /* in force; the control thread alone changes it */
	int argc;              /* the command line that it was made of; stays */
	char **argv;
	struct reading_again *reading; /* under way; NULL: none */
	bool again;                    /* once more when that is done */
};

/* Begin, or begin once more where one is under way. */
void reload_request(struct control *c);

/* Take over what has been read, if it has; in each turn of the loop. */
void reload_advance(struct control *c);

/* What is still read is left to the end of the process. */
void reload_done(struct control *c);

#endif

/* SPDX-License-Identifier: MIT */
/* fail_script.h - what a client does while calls of quoitd fail, and how far it came */
#ifndef TORTURE_FAIL_SCRIPT_H
#define TORTURE_FAIL_SCRIPT_H

#include "raw_client.h"

enum departure { STAYED_OUT, LEFT, DIED, ENDED, REFUSED };

struct script {
	struct raw_client c;
	char text[QUOIT_TEXT_BYTES]; /* of a refusal or end */
	enum departure departure;    /* that quoitd counts */
	bool alone;                  /* without a module and a device */
};

/*
 * One session, from its connection to its end, with something of everything: rings, a file, jobs on
 * the CPU, in the pinned region and, unless `alone` says else, by a module and on a device.  The
 * rest of *p is the outcome.  0, or -errno of what failed first,
 * after which the client has gone.
 */
int script_play(struct script *p, const char *socket);

#endif

/* SPDX-License-Identifier: MIT */
/* fail_script.h - run a client while calls of quoitd fail, and tell how far it came */
#ifndef TORTURE_FAIL_SCRIPT_H
#define TORTURE_FAIL_SCRIPT_H

#include "raw_client.h"

enum departure { STAYED_OUT, LEFT, DIED, ENDED, REFUSED };

struct script {
	struct raw_client c;
	char text[QUOIT_TEXT_BYTES]; /* of a refusal or end */
	enum departure departure;    /* the end that quoitd counts */
	bool alone;                  /* without a module and a device */
};

/*
 * Run one session, from its connection to its end, with some of everything: rings, a file, jobs on
 * the CPU, in the pinned region and, unless `alone`, by a module and on a device.  The rest of *p
 * is the result.  0, or -errno of the first failure, after which the client has gone.
 */
int script_play(struct script *p, const char *socket);

#endif

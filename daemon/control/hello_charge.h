/* SPDX-License-Identifier: MIT */
/* hello_charge.h - charges what a hello takes, and gives it back if no session comes of it */
#ifndef QUOITD_HELLO_CHARGE_H
#define QUOITD_HELLO_CHARGE_H

#include "connection.h"

/*
 * Charge the lease and the tables, on the host and on each device, and take processes of the user's
 * own for a session that brings kernels.  0, with what is left out in *limits (device memory that
 * was not asked for, GPU-direct mode); or -errno with nothing charged, and the sentence in
 * answer->text.
 */
int hello_charge(struct connection *c, const struct quoit_hello *h, struct session_limits *limits,
		 struct quoit_ctl *answer);

/* The session could not be made: give all of it back. */
void hello_uncharge(struct connection *c);

#endif

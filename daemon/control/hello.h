/* SPDX-License-Identifier: MIT */
/* hello.h - decides what a client gets at HELLO, or why it is refused */
#ifndef QUOITD_HELLO_H
#define QUOITD_HELLO_H

#include "connection.h"

/*
 * Check a hello, charge its user, make the session and give it to a reactor.  0 and *ret; or
 * -errno, with the sentence in answer->text.  The answer has the daemon's ABI version either way.
 */
int session_admit(struct connection *c, const struct quoit_hello *hello, struct quoit_ctl *answer,
		  struct session **ret);

#endif

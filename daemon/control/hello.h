/* SPDX-License-Identifier: MIT */
/*
 * hello.h - what a client asks for at hello, what it gets, and why it is refused.
 */
#ifndef QUOITD_HELLO_H
#define QUOITD_HELLO_H

#include "connection.h"

/* No session has less, so that even the smallest can run something. */
#define HELLO_LEAST_BYTES (UINT64_C(1) << 20)

/*
 * Check a hello, lease the bytes, make the session and give it to a reactor.  0 and *ret;
 * or -errno, with the sentence in answer->text.  The daemon's version is in the answer
 * either way.
 */
int hello_check(struct connection *c, const struct quoit_hello *hello, struct quoit_ctl *answer,
		struct session **ret);

#endif

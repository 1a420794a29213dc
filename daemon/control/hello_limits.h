/* SPDX-License-Identifier: MIT */
/* hello_limits.h - works out from a hello what its session may have */
#ifndef QUOITD_HELLO_LIMITS_H
#define QUOITD_HELLO_LIMITS_H

#include "connection.h"

/* The smallest lease: with it a session can still run something. */
#define HELLO_LEAST_BYTES (UINT64_C(1) << 20)

/*
 * Fill in the defaults, and check the whole; nothing is charged yet (hello_charge.h).  False: the
 * request asks for what cannot be, and the text says why.  *ret is written either way.
 */
bool hello_limits(const struct connection *c, const struct quoit_hello *h,
		  struct session_limits *ret, char *text, size_t size);

#endif

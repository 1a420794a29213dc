/* SPDX-License-Identifier: MIT */
/* client.h - open a private quoitd, a session and a ring: most tests begin with these. */
#ifndef TESTS_CLIENT_H
#define TESTS_CLIENT_H

#include <quoit.h>

#include "daemon.h"

struct client {
	struct daemon d;
	struct quoit_session *s;
	struct quoit_ring *q;
};

/* Options of quoitd and parameters of the ring; each may be NULL.  Asserts success. */
void client_open(struct client *c, const char *const *options,
		 const struct quoit_ring_params *ring);
void client_close(struct client *c);

/* Open one more session of the same quoitd, with `lease` bytes. */
struct quoit_session *client_session(const struct client *c, uint64_t lease);

/* Start a job in its ring. */
quoit_job client_start(struct client *c, struct quoit_sqe sqe);

/*
 * A sum of 2^32 elements, all the same one, which is written now; it takes hundreds of milliseconds
 * on any core.
 */
struct quoit_sqe client_giant(struct client *c);

/* A vector of f32 that is so large that one job on it takes a millisecond or more. */
quoit_tensor client_large(struct client *c);

/* Keep t busy with `jobs` long jobs in a row. */
void client_busy(struct client *c, quoit_tensor t, unsigned jobs);

/*
 * Keep t busy while the test does something else: for about half a second, since a busy machine may
 * keep the test from its core for a tenth.
 */
void client_hold(struct client *c, quoit_tensor t);

#endif

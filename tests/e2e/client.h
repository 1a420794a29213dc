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

/* Code with sanitizers adds some 40 times as slowly, so that an eighth is long enough. */
#ifdef QUOIT_SANITIZE
#define CLIENT_EASE 8u
#else
#define CLIENT_EASE 1u
#endif

/*
 * A matrix of 2^32 elements, 2^29 with sanitizers, all the same one: their sum takes hundreds of
 * milliseconds on any core.
 */
#define CLIENT_GIANT_ROWS    (128u / CLIENT_EASE)
#define CLIENT_GIANT_COLUMNS (1u << 25)

/* The sum of such a matrix, of an element that is written now. */
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

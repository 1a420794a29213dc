/* SPDX-License-Identifier: MIT */
/* client.c - open a session to begin a test with */
#include "client.h"

#include <criterion/criterion.h>

#define LARGE (1u << 20) /* elements */

struct quoit_session *client_session(const struct client *c, uint64_t lease)
{
	struct quoit_open_params p = {.socket = c->d.socket, .host_bytes = lease};
	struct quoit_session *s = NULL;

	cr_assert_eq(quoit_open(&p, &s), 0, "%s", quoit_open_text());
	return s;
}

void client_open(struct client *c, const char *const *options, const struct quoit_ring_params *ring)
{
	cr_assert_eq(daemon_start(&c->d, options), 0);
	c->s = client_session(c, UINT64_C(64) << 20);
	cr_assert_eq(quoit_open_ring(c->s, ring, &c->q), 0);
}

void client_close(struct client *c)
{
	cr_assert_eq(quoit_close(c->s, 0), 0);
	daemon_stop(&c->d);
}

quoit_job client_start(struct client *c, struct quoit_sqe sqe)
{
	quoit_job job;

	cr_assert_eq(quoit_start(c->q, sqe, &job), 0);
	return job;
}

struct quoit_sqe client_giant(struct client *c)
{
	const struct quoit_shape many = {.dtype = QUOIT_F32,
					 .dim = {1, 1, CLIENT_GIANT_ROWS, CLIENT_GIANT_COLUMNS},
					 .stride = {1}};
	quoit_tensor one = quoit_create_vector(c->q, QUOIT_F32, 1);

	/* Before the giant: who sees one job run, and another wait, takes no other for it. */
	cr_assert_eq(quoit_push(c->q, quoit_fill(one, 1)), 0);
	cr_assert_eq(quoit_wait_tensor(c->q, one, QUOIT_FOREVER), 0);
	return quoit_sum(quoit_create_vector(c->q, QUOIT_F32, 1), quoit_view(c->q, one, &many, 0),
			 QUOIT_AXIS_ALL);
}

quoit_tensor client_large(struct client *c)
{
	return quoit_create_vector(c->q, QUOIT_F32, LARGE);
}

void client_busy(struct client *c, quoit_tensor t, unsigned jobs)
{
	for (unsigned i = 0; i < jobs; i++)
		cr_assert_eq(quoit_push(c->q, quoit_normal(t, i, 0)), 0);
	cr_assert_eq(quoit_flush(c->q), 0);
}

void client_hold(struct client *c, quoit_tensor t)
{
	client_busy(c, t, 800 / CLIENT_EASE);
}

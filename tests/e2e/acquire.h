/* SPDX-License-Identifier: MIT */
/* acquire.h - a session with a shared region and two rings, and what tests of acquires do there */
#ifndef TESTS_ACQUIRE_H
#define TESTS_ACQUIRE_H

#include <errno.h>

#include <criterion/criterion.h>

#include "client.h"

#define MIB    (UINT64_C(1) << 20)
#define SHARED (4 * MIB)
#define N      1024u

struct fixture {
	struct daemon d;
	struct quoit_session *s;
	struct quoit_ring *q, *p; /* two rings */
};

/* Options of quoitd and parameters of the first ring may be NULL. */
static inline struct fixture begin_as(const char *const *options, uint64_t shared,
				      const struct quoit_ring_params *ring)
{
	struct fixture f = {0};
	struct quoit_open_params p = {
		.host_bytes = 64 * MIB, .arena_bytes = MIB, .shared_bytes = shared};

	cr_assert_eq(daemon_start(&f.d, options), 0);
	p.socket = f.d.socket;
	cr_assert_eq(quoit_open(&p, &f.s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(f.s, ring, &f.q), 0);
	cr_assert_eq(quoit_open_ring(f.s, NULL, &f.p), 0);
	return f;
}

static inline struct fixture begin_with(uint64_t shared, const struct quoit_ring_params *ring)
{
	return begin_as(NULL, shared, ring);
}

static inline struct fixture begin(void)
{
	return begin_with(SHARED, NULL);
}

static inline void end(struct fixture *f)
{
	cr_expect_eq(quoit_close(f->s, 0), 0);
	daemon_stop(&f->d);
}

static inline quoit_tensor create(struct quoit_ring *q, uint32_t n, unsigned flags)
{
	struct quoit_shape shape = {.dtype = QUOIT_I32, .dim = {1, 1, 1, n}};
	quoit_tensor t = quoit_create(q, &shape, flags);

	cr_assert_neq(t, QUOIT_NO_TENSOR, "%s", quoit_error_text(q));
	return t;
}

static inline quoit_tensor shared(struct fixture *f)
{
	return create(f->q, N, QUOIT_CREATE_SHARED);
}

static inline int32_t *acquire(struct quoit_ring *q, quoit_tensor t, enum quoit_access access)
{
	void *at = NULL;
	int err = quoit_acquire(q, t, access, QUOIT_FOREVER, &at);

	cr_assert_eq(err, 0, "%d: %s", err, quoit_error_text(q));
	return at;
}

static inline void release(struct quoit_ring *q, quoit_tensor t)
{
	cr_assert_eq(quoit_release_tensor(q, t), 0, "%s", quoit_error_text(q));
}

static inline quoit_job start(struct quoit_ring *q, struct quoit_sqe sqe)
{
	quoit_job job;

	cr_assert_eq(quoit_start(q, sqe, &job), 0);
	cr_assert_eq(quoit_flush(q), 0);
	return job;
}

static inline int run(struct quoit_ring *q, struct quoit_sqe sqe)
{
	return quoit_wait(q, start(q, sqe), QUOIT_FOREVER);
}

static inline void expect_all(struct quoit_ring *q, quoit_tensor t, int32_t value)
{
	int32_t got[N];

	cr_assert_eq(quoit_read(q, t, got, sizeof got), 0, "%s", quoit_error_text(q));
	for (unsigned i = 0; i < N; i++)
		cr_assert_eq(got[i], value, "element %u is %d", i, got[i]);
}

/* All that was put in before has been fetched, and what could end has ended. */
static inline void settle(struct quoit_ring *q)
{
	quoit_job nop = start(q, quoit_nop(0));

	cr_assert_eq(quoit_wait(q, nop, QUOIT_FOREVER), 0);
}

static inline bool is_open(struct quoit_ring *q, quoit_job job)
{
	settle(q);
	return quoit_get_result(q, job) == -EINPROGRESS;
}

#endif

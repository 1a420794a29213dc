/* SPDX-License-Identifier: MIT */
/* test_lease.c - no more pages are resident than a session has leased */
#include <errno.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>
#include <quoit/stats.h>

#include "client.h"

TestSuite(lease, .timeout = 120);

#define LEASE (UINT64_C(64) << 20)
#define OLD   3400u /* buffers of one size */
#define NEW   2500u /* buffers of another size; together they exceed the lease */

static void fill_many(struct quoit_ring *q, quoit_tensor *t, unsigned count, uint32_t elements)
{
	for (unsigned i = 0; i < count; i++) {
		t[i] = quoit_create_vector(q, QUOIT_F32, elements);
		cr_assert_eq(quoit_push(q, quoit_fill(t[i], 1.0)), 0);
	}
	cr_assert_eq(quoit_wait_all(q, 60000), 0);
	cr_assert_eq(quoit_count_failures(q, NULL), 0);
}

/* However much the memory thread is asked at a time. */
Test(lease, pages_of_freed_buffers_go_before_it_would_be_exceeded)
{
	static quoit_tensor t[OLD];
	struct quoit_info info;
	struct client c;
	uint64_t used = 0, cached;

	client_open(&c, NULL, NULL); /* in a session of LEASE bytes */
	quoit_get_info(c.s, &info);
	fill_many(c.q, t, OLD, 4096);
	for (unsigned i = 0; i < OLD; i++)
		quoit_free(c.q, t[i]);
	fill_many(c.q, t, NEW, 5120);
	for (int naps = 0; used < NEW * UINT64_C(5120) * 4 && naps < 1000; naps++) {
		usleep(10000); /* counters are published now and then */
		used = daemon_session_counter(&c.d, info.session, QUOIT_SESSION_HOST_USED);
	}
	cached = daemon_session_counter(&c.d, info.session, QUOIT_SESSION_HOST_CACHED);
	cr_expect_leq(used + cached, LEASE, "%llu in use, %llu kept", (unsigned long long)used,
		      (unsigned long long)cached);
	client_close(&c);
}

/* The wait's own job wants the same bytes, but the program must hear of the job that writes. */
Test(lease, who_waits_for_what_never_fits_is_told_of_its_writer)
{
	struct quoit_error e;
	struct client c;
	quoit_tensor t, sum;
	float x;

	client_open(&c, NULL, NULL);
	t = quoit_create_vector(c.q, QUOIT_F32, LEASE / 2);
	sum = quoit_create_vector(c.q, QUOIT_F32, 1);
	cr_assert_eq(quoit_push(c.q, quoit_fill(t, 1)), 0);
	cr_assert_eq(quoit_push(c.q, quoit_sum(sum, t, QUOIT_AXIS_ALL)), 0);
	cr_expect_eq(quoit_wait_tensor(c.q, t, 60000), -QUOIT_EPOISON);
	cr_assert(quoit_get_wait_error(c.q, &e));
	cr_expect_eq(e.opcode, QUOIT_OP_FILL, "%u", e.opcode);
	cr_expect_eq(e.code, -ENOMEM);
	cr_expect_eq(e.field, QUOIT_FIELD_MEMORY);
	cr_expect_eq(quoit_read(c.q, sum, &x, sizeof x), -QUOIT_EPOISON);
	cr_assert(quoit_get_wait_error(c.q, &e));
	cr_expect_eq(e.opcode, QUOIT_OP_FILL, "and of no reader in between: %u", e.opcode);
	client_close(&c);
}

/* SPDX-License-Identifier: MIT */
/* test_lease.c - no more pages are resident than a session has leased */
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>
#include <quoit/stats.h>

#include "client.h"

TestSuite(lease, .timeout = 120);

#define LEASE (UINT64_C(64) << 20)
#define OLD   3400u /* buffers of a size, */
#define NEW   2500u /* and of another: together more than the lease */

static void fill_many(struct quoit_ring *q, quoit_tensor *t, unsigned count, uint32_t elements)
{
	for (unsigned i = 0; i < count; i++) {
		t[i] = quoit_vector(q, QUOIT_F32, elements);
		cr_assert_eq(quoit_push(q, quoit_fill(t[i], 1.0)), 0);
	}
	cr_assert_eq(quoit_wait_all(q, 60000), 0);
	cr_assert_eq(quoit_failures(q, NULL), 0);
}

/* Whatever the memory thread is asked at a time. */
Test(lease, pages_of_freed_buffers_go_before_it_would_be_exceeded)
{
	static quoit_tensor t[OLD];
	struct quoit_info info;
	struct client c;
	uint64_t used = 0, cached;

	client_open(&c, NULL, NULL); /* of a session of LEASE bytes */
	quoit_info(c.s, &info);
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

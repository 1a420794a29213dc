/* SPDX-License-Identifier: MIT */
/*
 * test_growth.c - a default lease promises little memory; it grows, shrinks, and never lets one
 * session wait for another.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>
#include <quoit/stats.h>

#include "client.h"
#include "hog.h"
#include "users.h"

#define MIB  (UINT64_C(1) << 20)
#define MANY 1000u

TestSuite(growth, .timeout = 240);

/* Open a session with the default lease. */
static struct quoit_session *open_default(const struct client *c)
{
	struct quoit_open_params p = {.socket = c->d.socket};
	struct quoit_session *s = NULL;

	cr_assert_eq(quoit_open(&p, &s), 0, "%s", quoit_open_text());
	return s;
}

static void begin(struct client *c, const char *memory)
{
	const char *const options[] = {memory, NULL};

	cr_assert_eq(daemon_start(&c->d, options), 0);
	c->s = open_default(c);
	cr_assert_eq(quoit_open_ring(c->s, NULL, &c->q), 0, "%s", quoit_open_text());
}

static uint64_t figure(const struct client *c, unsigned counter)
{
	struct quoit_info info;

	quoit_get_info(c->s, &info);
	return daemon_session_counter(&c->d, info.session, counter);
}

static quoit_tensor filled(struct client *c, uint64_t bytes, double value)
{
	quoit_tensor t = quoit_create_vector(c->q, QUOIT_F32, (uint32_t)(bytes / 4));

	cr_assert_neq(t, QUOIT_NO_TENSOR);
	cr_assert_eq(quoit_push(c->q, quoit_fill(t, value)), 0);
	return t;
}

/* ---- the number of sessions ---- */

static void allow_descriptors(void)
{
	struct rlimit limit;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < 16 * MANY)
		cr_skip_test("RLIMIT_NOFILE is too low for so many sessions");
}

Test(growth, a_thousand_default_sessions_have_room_in_three_gigabytes)
{
	static struct quoit_session *s[MANY];
	static struct quoit_ring *q[MANY];
	struct client c;

	allow_descriptors();
	begin(&c, "--memory=3G");
	for (unsigned i = 0; i < MANY; i++) {
		s[i] = open_default(&c);
		cr_assert_eq(quoit_open_ring(s[i], NULL, &q[i]), 0, "%u: %s", i, quoit_open_text());
	}
	for (unsigned i = 0; i < MANY; i++) {
		quoit_tensor t = quoit_create_vector(q[i], QUOIT_F32, 1000);
		float x[1000];

		cr_assert_eq(quoit_push(q[i], quoit_fill(t, i)), 0);
		cr_assert_eq(quoit_read(q[i], t, x, sizeof x), 0);
		cr_assert_eq(x[999], (float)i);
	}
	for (unsigned i = 0; i < MANY; i++)
		cr_assert_eq(quoit_close(s[i], 0), 0);
	client_close(&c);
}

#define SOME 150u

static uint64_t most_lease_of(const struct daemon *d, uid_t uid)
{
	const struct client c = {.d = *d};
	struct quoit_session *s;
	struct quoit_info info;

	cr_assert_eq(seteuid(uid), 0);
	s = open_default(&c);
	quoit_get_info(s, &info);
	cr_assert_eq(quoit_close(s, 0), 0);
	cr_assert_eq(seteuid(0), 0);
	return info.host_bytes_most;
}

/* Here addresses are the limit. */
Test(growth, sessions_of_one_user_leave_others_the_leases_that_they_may_have)
{
	static struct quoit_session *s[SOME];
	const char *const options[] = {"--memory=64G", NULL};
	struct client c;
	uint64_t before, after, own;

	allow_descriptors();
	users_start(&c.d, options);
	before = most_lease_of(&c.d, USERS_BOB);
	if (before < 2048 * MIB)
		cr_skip_test("memory limits leases here, or addresses that a sanitizer has");
	cr_assert_eq(seteuid(USERS_ALICE), 0);
	for (unsigned i = 0; i < SOME; i++)
		s[i] = open_default(&c);
	cr_assert_eq(seteuid(0), 0);
	after = most_lease_of(&c.d, USERS_BOB);
	own = most_lease_of(&c.d, USERS_ALICE);
	cr_expect_eq(after, before);
	cr_expect_lt(own, before / 2, "or nothing was tried");
	cr_expect_geq(own, 64 * MIB);
	for (unsigned i = 0; i < SOME; i++)
		cr_assert_eq(quoit_close(s[i], 0), 0);
	daemon_stop(&c.d);
}

Test(growth, a_refusal_ends_with_what_can_be_done)
{
	struct quoit_open_params p;
	struct quoit_session *s;
	struct quoit_ring *q;
	struct client c;
	struct hog hog;

	begin(&c, "--memory=256M");
	hog_take(&hog, c.d.socket);
	p = (struct quoit_open_params){.socket = c.d.socket};
	cr_expect_eq(quoit_open(&p, &s), -EDQUOT);
	cr_expect(strstr(quoit_open_text(),
			 "are left; ask for less, close sessions, or raise memory"),
		  "%s", quoit_open_text());
	cr_expect_eq(quoit_open_ring(c.s, &(struct quoit_ring_params){.entries = 32768}, &q),
		     -EDQUOT);
	cr_expect(strstr(quoit_open_text(), "left; ask for less, close some, or raise memory"),
		  "%s", quoit_open_text());
	hog_release(&hog);
	client_close(&c);
}

/* ---- up and down ---- */

Test(growth, it_gets_what_it_needs_and_gives_it_back)
{
	struct quoit_info info;
	struct client c;
	quoit_tensor t;
	uint64_t lease = 0;

	begin(&c, "--memory=1G");
	quoit_get_info(c.s, &info);
	cr_expect_leq(info.host_bytes, MIB);
	cr_expect_geq(info.host_bytes_most, 512 * MIB);
	t = filled(&c, 256 * MIB, 3);
	cr_expect_eq(quoit_wait_all(c.q, -1), 0);
	for (int naps = 0; lease < 256 * MIB && naps < 100; naps++) {
		usleep(20000); /* counters are published now and then */
		lease = figure(&c, QUOIT_SESSION_HOST_LEASE);
	}
	cr_expect_geq(lease, 256 * MIB);
	cr_expect_eq(figure(&c, QUOIT_SESSION_HOST_PROMISED), info.host_bytes);
	quoit_free(c.q, t);
	cr_expect_eq(quoit_wait_all(c.q, -1), 0);
	for (int naps = 0; lease > 2 * MIB && naps < 300; naps++) {
		usleep(100000);
		lease = figure(&c, QUOIT_SESSION_HOST_LEASE);
	}
	cr_expect_leq(lease, 2 * MIB, "%llu bytes were kept", (unsigned long long)lease);
	client_close(&c);
}

/* Far more than is promised, with any number of jobs in flight. */
Test(growth, a_deep_queue_grows_too)
{
	struct client c;

	begin(&c, "--memory=1G");
	for (unsigned i = 0; i < 200; i++)
		quoit_free(c.q, filled(&c, 2 * MIB, i));
	cr_expect_eq(quoit_wait_all(c.q, -1), 0);
	cr_expect_eq(quoit_count_failures(c.q, NULL), 0);
	client_close(&c);
}

/* Bytes of quoitd's page tables. */
static uint64_t page_tables(const struct client *c)
{
	char path[32], line[128];
	unsigned long long kib = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)c->d.pid);
	f = fopen(path, "r");
	cr_assert(f);
	while (fgets(line, sizeof line, f))
		(void)sscanf(line, "VmPTE: %llu", &kib);
	cr_assert_eq(fclose(f), 0);
	return (uint64_t)kib << 10;
}

/* Bytes that are charged in addition to the lease itself. */
static uint64_t charged_beside(const struct client *c)
{
	const struct quoit_totals *t = daemon_totals(&c->d);
	uint64_t leased;

	cr_assert(t);
	usleep(300000); /* counters are published now and then */
	leased = __atomic_load_n(&t->value[QUOIT_DAEMON_HOST_LEASED], __ATOMIC_RELAXED);
	daemon_totals_unmap(t);
	return leased - figure(c, QUOIT_SESSION_HOST_LEASE);
}

/*
 * A piece of each size class may have been anywhere, and the kernel keeps the page tables that it
 * made for it.
 */
Test(growth, page_tables_are_charged_as_they_come)
{
	uint64_t tables, charged;
	struct client c;

#ifdef QUOIT_SANITIZE
	cr_skip_test("a sanitizer has page tables of its own");
#endif
	begin(&c, "--memory=2G");
	(void)filled(&c, 4, 0);
	cr_assert_eq(quoit_wait_all(c.q, -1), 0);
	charged = charged_beside(&c);
	tables = page_tables(&c);
	for (uint64_t bytes = 64 << 10; bytes <= 8 * MIB; bytes += bytes / 4 / 4096 * 4096) {
		static quoit_tensor t[1024];
		unsigned n = (unsigned)(48 * MIB / bytes);

		for (unsigned i = 0; i < n; i++)
			t[i] = filled(&c, bytes, i);
		for (unsigned i = 0; i < n; i++)
			quoit_free(c.q, t[i]);
	}
	cr_assert_eq(quoit_wait_all(c.q, -1), 0);
	cr_expect_eq(quoit_count_failures(c.q, NULL), 0);
	tables = page_tables(&c) - tables;
	charged = charged_beside(&c) - charged;
	cr_expect_gt(tables, MIB, "or nothing was tried");
	cr_expect_geq(charged, tables);
	client_close(&c);
}

/* ---- without more memory ---- */

Test(growth, beyond_the_promise_a_job_fails_at_once_and_not_before_its_own_have_ended)
{
	struct quoit_error e;
	struct client c;
	struct hog hog;

	begin(&c, "--memory=256M");
	hog_take(&hog, c.d.socket);
	/* Each needs the memory of the one before: all wait for it, and all end. */
	for (unsigned i = 0; i < 50; i++)
		quoit_free(c.q, filled(&c, 512 << 10, i));
	cr_expect_eq(quoit_wait_all(c.q, -1), 0);
	cr_expect_eq(quoit_count_failures(c.q, NULL), 0);
	(void)filled(&c, 64 * MIB, 1);
	cr_expect_eq(quoit_wait_all(c.q, 20000), 0);
	cr_assert_eq(quoit_count_failures(c.q, &e), 1);
	cr_expect_eq(e.code, -ENOMEM);
	cr_expect_eq(e.field, QUOIT_FIELD_MEMORY);
	hog_release(&hog);
	(void)filled(&c, 64 * MIB, 1);
	cr_expect_eq(quoit_wait_all(c.q, 20000), 0);
	cr_expect_eq(quoit_count_failures(c.q, NULL), 1, "there is room again");
	client_close(&c);
}

/* Both want all of the memory: whether they succeed or fail, neither waits for the other. */
Test(growth, two_that_grow_do_not_wait_for_each_other)
{
	struct client c;
	struct quoit_session *other;
	struct quoit_ring *q;
	unsigned failed = 0;

	begin(&c, "--memory=256M");
	other = open_default(&c);
	cr_assert_eq(quoit_open_ring(other, NULL, &q), 0);
	for (unsigned i = 0; i < 60; i++) {
		quoit_tensor t = quoit_create_vector(q, QUOIT_F32, 1 << 20);

		cr_assert_eq(quoit_push(q, quoit_fill(t, 1)), 0);
		(void)filled(&c, 4 * MIB, 1);
	}
	(void)!quoit_wait_all(c.q, 60000);
	(void)!quoit_wait_all(q, 60000);
	failed +=
		(unsigned)quoit_count_failures(c.q, NULL) + (unsigned)quoit_count_failures(q, NULL);
	cr_expect_geq(failed, 60, "all of it had room for %u", 120 - failed);
	cr_expect_leq(failed, 80, "%u did not fit", failed);
	cr_assert_eq(quoit_close(other, 0), 0);
	client_close(&c);
}

/* ---- tables ---- */

#define TENSORS 10000u

Test(growth, tables_grow_with_what_is_alive)
{
	static quoit_tensor t[TENSORS];
	struct client c;

	begin(&c, "--memory=1G");
	for (unsigned i = 0; i < TENSORS; i++)
		t[i] = filled(&c, 4, i);
	cr_expect_eq(quoit_wait_all(c.q, -1), 0);
	cr_expect_eq(quoit_count_failures(c.q, NULL), 0);
	for (unsigned i = 0; i < TENSORS; i += 1000) {
		float x;

		cr_assert_eq(quoit_read(c.q, t[i], &x, sizeof x), 0);
		cr_expect_eq(x, (float)i);
	}
	client_close(&c);
}

Test(growth, where_tables_cannot_grow_what_is_promised_works_and_more_is_refused)
{
	struct quoit_error e;
	struct client c;
	struct hog hog;

	begin(&c, "--memory=256M");
	hog_take(&hog, c.d.socket);
	for (unsigned i = 0; i < 4 * TENSORS; i++) /* jobs hold views beyond their ends */
		quoit_free(c.q, filled(&c, 4, i));
	cr_expect_eq(quoit_wait_all(c.q, -1), 0);
	cr_expect_eq(quoit_count_failures(c.q, NULL), 0);
	for (unsigned i = 0; i < TENSORS; i++)
		(void)quoit_create_vector(c.q, QUOIT_F32, 1);
	cr_expect_eq(quoit_wait_all(c.q, 20000), 0);
	cr_expect_gt(quoit_count_failures(c.q, &e), TENSORS / 2);
	cr_expect_eq(e.code, -ENOMEM, "%d", e.code);
	cr_expect_eq(e.opcode, QUOIT_OP_CREATE);
	hog_release(&hog);
	client_close(&c);
}

/* ---- the arena ---- */

/* Memory that this process shares with quoitd, and has touched. */
static uint64_t shared_memory(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long long kib = 0;
	char line[256];

	cr_assert(f);
	while (fgets(line, sizeof line, f) && sscanf(line, "RssShmem: %llu", &kib) != 1)
		;
	fclose(f);
	return kib << 10;
}

Test(growth, an_arena_that_may_not_grow_takes_no_pages)
{
	struct client c;
	struct hog hog;
	uint64_t before;

	begin(&c, "--memory=256M");
	hog_take(&hog, c.d.socket);
	before = shared_memory();
	cr_expect_null(quoit_alloc(c.s, 8 * MIB));
	cr_expect_leq(shared_memory(), before + MIB);
	hog_release(&hog);
	usleep(200000);           /* until the library asks for as much again */
	before = shared_memory(); /* without that of the hog, which is this process, too */
	cr_expect_not_null(quoit_alloc(c.s, 8 * MIB), "%s", quoit_open_text());
	cr_expect_geq(shared_memory(), before + 7 * MIB, "the figure is not exact");
	client_close(&c);
}

Test(growth, the_arena_grows_with_what_is_taken_of_it)
{
	struct quoit_info info;
	struct client c;
	float *a, *b, sum;
	quoit_tensor t, one;

	begin(&c, "--memory=2G");
	quoit_get_info(c.s, &info);
	cr_assert_leq(info.arena_bytes, MIB);
	a = quoit_alloc(c.s, 4 * MIB);
	b = quoit_alloc(c.s, 32 * MIB);
	cr_assert(a && b, "%s", quoit_open_text());
	for (unsigned i = 0; i < 1 << 20; i++)
		a[i] = 1;
	t = quoit_create_in(
		c.q, &(struct quoit_shape){.dtype = QUOIT_F32, .dim = {1, 1, 1, 1 << 20}}, a);
	one = quoit_create_vector(c.q, QUOIT_F32, 1);
	cr_assert_eq(quoit_push(c.q, quoit_sum(one, t, QUOIT_AXIS_ALL)), 0);
	cr_assert_eq(quoit_read(c.q, one, &sum, sizeof sum), 0);
	cr_expect_eq(sum, (float)(1 << 20));
	quoit_get_info(c.s, &info);
	cr_expect_geq(info.arena_bytes, 36 * MIB);
	cr_expect_null(quoit_alloc(c.s, (size_t)info.arena_bytes_most));
	client_close(&c);
}

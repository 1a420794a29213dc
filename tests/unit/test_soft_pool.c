/* SPDX-License-Identifier: MIT */
/* test_soft_pool.c - one soft device reads another one's memory. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "soft_case.h"

#define P SOFT_CASE_PAGE

static const struct quoit_device_driver *const soft = &soft_device_driver;

static struct quoit_device *owner, *reader;
static struct quoit_device_stream *of_owner, *of_reader;
static struct quoit_device_pool *pool;
static uint8_t *host;

static void open_both(void)
{
	struct quoit_device_info info;
	char text[128];
	int fd = -1;

	(void)setenv("QUOIT_SOFT_DEVICES", "2", 1);
	owner = soft_case_open("1M");
	cr_assert_eq(soft->open(1, &reader, &info, text, sizeof text), 0);
	of_owner = soft_case_stream(owner);
	of_reader = soft_case_stream(reader);
	cr_assert_eq(soft->pool_export(owner, &fd), 0);
	cr_assert_eq(soft->pool_import(reader, 0, fd, &pool), 0);
	close(fd);
}

static void close_both(void)
{
	soft->close(reader);
	soft->close(owner);
}

TestSuite(soft_pool, .init = open_both, .fini = close_both, .timeout = 60);

/* Make two pages on the owner's device, all of this byte. */
static uint64_t make(uint8_t byte)
{
	uint64_t at = soft_case_memory(owner, 2 * P);

	host = soft_case_host(owner, 2 * P);
	memset(host, byte, 2 * P);
	soft_case_in(of_owner, at, host, 2 * P);
	cr_assert_eq(soft_case_finish(owner, of_owner), 1);
	return at;
}

static uint64_t import(uint64_t at, uint64_t bytes)
{
	struct quoit_device_export name;
	uint64_t here = 0;

	cr_assert_eq(soft->memory_export(owner, at, &name), 0);
	cr_assert_eq(soft->memory_import(pool, &name, bytes, &here), 0);
	return here;
}

Test(soft_pool, a_stream_reads_what_the_other_device_has)
{
	uint64_t there = import(make(7), 2 * P), mine = soft_case_memory(reader, P);
	uint8_t *got = soft_case_host(reader, P);

	cr_assert_eq(soft->copy(of_reader, mine, there + P, P, QUOIT_DEVICE_WITHIN), 0);
	soft_case_out(of_reader, got, mine, P);
	cr_assert_eq(soft_case_finish(reader, of_reader), 1);
	cr_expect_eq(got[0], 7);
	cr_expect_eq(got[P - 1], 7);
}

Test(soft_pool, what_was_not_imported_is_not_reached)
{
	uint64_t there = import(make(7), P), mine = soft_case_memory(reader, 2 * P);
	const struct quoit_device_verdict *verdict;

	cr_assert_eq(soft->copy(of_reader, mine, there, 2 * P, QUOIT_DEVICE_WITHIN), 0);
	cr_expect_eq(soft_case_break(reader, &verdict), -QUOIT_EGPUFAULT);
}

Test(soft_pool, what_was_released_is_not_reached)
{
	uint64_t there = import(make(7), P), mine = soft_case_memory(reader, P);
	const struct quoit_device_verdict *verdict;

	cr_assert_eq(soft->memory_release(pool, there), 0);
	cr_expect_eq(soft->memory_release(pool, there), -EINVAL);
	cr_assert_eq(soft->copy(of_reader, mine, there, P, QUOIT_DEVICE_WITHIN), 0);
	cr_expect_eq(soft_case_break(reader, &verdict), -QUOIT_EGPUFAULT);
}

Test(soft_pool, only_what_is_allocated_has_a_name)
{
	struct quoit_device_export name;
	uint64_t at = make(7);

	cr_expect_eq(soft->memory_export(owner, at + P, &name), -EINVAL);
	cr_assert_eq(soft->memory_free(owner, at), 0);
	cr_expect_eq(soft->memory_export(owner, at, &name), -EINVAL);
}

/* A name comes from another process, so it may be anything. */
Test(soft_pool, a_name_that_cannot_be_is_refused)
{
	const struct quoit_device_export names[] = {
		{.word = {0}},
		{.word = {UINT64_MAX, UINT64_MAX}},
		{.word = {UINT64_C(0x5080) << 48, 2u << 20}},
		{.word = {(UINT64_C(0x5080) << 48) + (1u << 20), P}},
		{.word = {(UINT64_C(0x5081) << 48), P}},
	};
	uint64_t here;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		cr_expect_eq(soft->memory_import(pool, &names[i], P, &here), -EINVAL, "%zu", i);
}

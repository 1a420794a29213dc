/* SPDX-License-Identifier: MIT */
/* test_io_buffers.c - numbers of registered buffers are in a row, and each is given out once. */
#include <sys/mman.h>

#include <fcntl.h>

#include <criterion/criterion.h>

#include "backend/file/io_ring.h"
#include "memory/io_buffers.h"

#define PART IO_BUFFER_BYTES

static struct io_ring *ring;
static struct io_buffers *buffers;

static void make(void)
{
	int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC), own;

	if (io_ring_new(zeros, &own, &ring) < 0 || io_ring_make_buffers(ring) < 0)
		cr_skip_test("no io_uring, or none with registered buffers");
	cr_assert_eq(io_buffers_new(io_ring_set_buffer, ring, &buffers), 0);
}

static void done(void)
{
	io_ring_free(ring);
	io_buffers_free(buffers);
}

TestSuite(io_buffers, .init = make, .fini = done);

Test(io_buffers, region_has_as_many_numbers_as_it_has_parts)
{
	static const struct {
		uint64_t bytes;
		uint32_t first;
	} row[] = {{1, 0}, {PART, 1}, {PART + 1, 2}, {3 * PART, 4}, {1, 7}};

	for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++)
		cr_expect_eq(io_buffers_take(buffers, row[i].bytes), row[i].first, "row %u", i);
}

Test(io_buffers, lowest_gap_that_is_long_enough_is_used_again)
{
	for (unsigned i = 0; i < 6; i++)
		cr_assert_eq(io_buffers_take(buffers, PART), i);
	io_buffers_give(buffers, 1, PART);
	io_buffers_give(buffers, 3, 2 * PART);
	cr_expect_eq(io_buffers_take(buffers, 3 * PART), 6);
	cr_expect_eq(io_buffers_take(buffers, 2 * PART), 3);
	cr_expect_eq(io_buffers_take(buffers, 2 * PART), 9);
	cr_expect_eq(io_buffers_take(buffers, PART), 1);
}

Test(io_buffers, numbers_end_and_come_back)
{
	cr_expect_eq(io_buffers_take(buffers, (IO_BUFFERS + UINT64_C(1)) * PART), IO_NO_BUFFER);
	cr_expect_eq(io_buffers_take(buffers, (IO_BUFFERS - UINT64_C(1)) * PART), 0);
	cr_expect_eq(io_buffers_take(buffers, 2 * PART), IO_NO_BUFFER);
	cr_expect_eq(io_buffers_take(buffers, PART), IO_BUFFERS - 1);
	cr_expect_eq(io_buffers_take(buffers, 1), IO_NO_BUFFER);
	io_buffers_give(buffers, 0, (IO_BUFFERS - UINT64_C(1)) * PART);
	cr_expect_eq(io_buffers_take(buffers, 1), 0);
}

Test(io_buffers, last_number_can_be_registered_and_no_other_beyond)
{
	size_t bytes = 4096;
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(at, MAP_FAILED);
	cr_expect_eq(io_buffers_register(buffers, IO_BUFFERS - 1, at, bytes), 0);
	cr_expect_lt(io_buffers_register(buffers, IO_BUFFERS, at, bytes), 0);
	io_buffers_unregister(buffers, IO_BUFFERS - 1);
	munmap(at, bytes);
}

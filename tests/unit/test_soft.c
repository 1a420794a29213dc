/* SPDX-License-Identifier: MIT */
/* test_soft.c - a soft device's settings, clock and memory, and the host memory that it knows. */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tsc.h"
#include "soft_case.h"

#define P SOFT_CASE_PAGE

static const struct quoit_device_driver *const soft = &soft_device_driver;

TestSuite(soft, .timeout = 60);

/* ---- devices ---- */

Test(soft, there_are_as_many_devices_as_the_environment_says)
{
	static const struct {
		const char *word;
		int count;
	} rows[] = {{"1", 1},        {"8", 8},         {"0", 0},
		    {"9", -EINVAL},  {"", -EINVAL},    {"-1", -EINVAL},
		    {"1x", -EINVAL}, {"1KK", -EINVAL}, {"K", -EINVAL},
		    {" 1", -EINVAL}, {"1M", -EINVAL},  {"99999999999999999999", -EINVAL}};

	(void)unsetenv("QUOIT_SOFT_DEVICES");
	cr_expect_eq(soft->count((char[64]){""}, 64), 1);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[128] = "";
		int count;

		(void)setenv("QUOIT_SOFT_DEVICES", rows[i].word, 1);
		count = soft->count(text, sizeof text);
		cr_expect_eq(count, rows[i].count, "\"%s\": %d", rows[i].word, count);
		cr_expect_eq(count <= 0, *text != '\0', "\"%s\": says \"%s\"", rows[i].word, text);
	}
}

Test(soft, a_device_has_as_much_memory_as_the_environment_says)
{
	static const struct {
		const char *word;
		uint64_t bytes; /* 0: refused */
	} rows[] = {{"4096", P},
		    {"8191", P},
		    {"4095", 0},
		    {"0", 0},
		    {"64K", 64 << 10},
		    {"3M", 3 << 20},
		    {"64g", 0},
		    {"70368744177664", 1ull << 46},
		    {"65536G", 1ull << 46},
		    {"65537G", 0},
		    {"1G ", 0}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct quoit_device_info info = {.bytes = 0};
		struct quoit_device *d = NULL;
		char text[128] = "";
		int err;

		(void)setenv("QUOIT_SOFT_BYTES", rows[i].word, 1);
		err = soft->open(0, &d, &info, text, sizeof text);
		/* Not every machine has room for so many addresses. */
		if (rows[i].bytes >> 46 && err == -ENOMEM)
			continue;
		cr_expect_eq(err, rows[i].bytes ? 0 : -EINVAL, "\"%s\": %s", rows[i].word, text);
		cr_expect_eq(info.bytes, rows[i].bytes, "\"%s\"", rows[i].word);
		soft->close(d);
	}
}

Test(soft, a_device_says_what_it_is)
{
	struct quoit_device_info info;
	struct quoit_device *d = NULL;
	char text[128] = "";

	(void)setenv("QUOIT_SOFT_DEVICES", "2", 1);
	cr_assert_eq(soft->open(2, &d, &info, text, sizeof text), -ENODEV);
	cr_expect_neq(*text, '\0');
	cr_assert_eq(soft->open(1, &d, &info, text, sizeof text), 0);
	cr_expect_str_eq(info.name, "soft 1");
	cr_expect_str_eq(info.address, "");
	cr_expect_gt(info.units, 0);
	cr_expect_eq(info.flags, QUOIT_DEVICE_SIGNALS | QUOIT_DEVICE_HOST);
	cr_expect(info.ops[QUOIT_OP_ADD / 64] >> QUOIT_OP_ADD % 64 & 1);
	cr_expect(info.ops[QUOIT_OP_GEMM / 64] >> QUOIT_OP_GEMM % 64 & 1);
	cr_expect_not(info.ops[0] >> QUOIT_OP_CREATE & 1);
	cr_expect_not(info.ops[0] >> QUOIT_OP_FILE_READ & 1);
	soft->close(d);
	soft->close(NULL);
}

Test(soft, the_clock_is_ours)
{
	struct quoit_device *d = soft_case_open("1M");
	struct quoit_device_stream *s = soft_case_stream(d);
	uint64_t *stamp = soft_case_host(d, 2 * sizeof *stamp);
	uint64_t before, after, ticks, error;

	cr_assert_eq(soft->clock(d, &before, &ticks, &error), 0);
	cr_expect_eq(before, tsc_to_ns(ticks));
	cr_expect_gt(error, 0);
	cr_assert_eq(soft->stamp(s, &stamp[0]), 0);
	cr_assert_eq(soft->stamp(s, &stamp[1]), 0);
	cr_assert_eq(soft_case_finish(d, s), 1);
	cr_assert_eq(soft->clock(d, &after, &ticks, &error), 0);
	cr_expect(before <= stamp[0] && stamp[0] <= stamp[1] && stamp[1] <= after);
	soft->host_free(d, stamp);
	soft->close(d);
}

/* ---- memory ---- */

static void read_as_a_pointer(uint64_t address)
{
	(void)signal(SIGSEGV, SIG_DFL);
	(void)signal(SIGBUS, SIG_DFL);
	_exit(__atomic_load_n((const uint8_t *)(uintptr_t)address, __ATOMIC_RELAXED) ? 1 : 0);
}

Test(soft, the_host_cannot_read_an_address_of_the_device)
{
	struct quoit_device *d = soft_case_open("1M");
	uint64_t address = soft_case_memory(d, 64);
	pid_t child = fork();
	int status;

	if (!child)
		read_as_a_pointer(address);
	cr_assert_eq(waitpid(child, &status, 0), child);
	/* Kernels differ in which of the two signals it is. */
	cr_expect(WIFSIGNALED(status) &&
			  (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS),
		  "status %#x", status);
	soft->close(d);
}

Test(soft, devices_have_no_address_in_common)
{
	uint64_t address[2];

	(void)setenv("QUOIT_SOFT_DEVICES", "2", 1);
	(void)setenv("QUOIT_SOFT_BYTES", "1M", 1);
	for (uint32_t i = 0; i < 2; i++) {
		struct quoit_device_info info;
		struct quoit_device *d = NULL;

		cr_assert_eq(soft->open(i, &d, &info, (char[64]){""}, 64), 0);
		address[i] = soft_case_memory(d, 1 << 20);
		soft->close(d);
	}
	cr_expect(address[1] - address[0] >= 1 << 20 && address[0] - address[1] >= 1 << 20);
}

Test(soft, memory_is_full_when_all_of_it_is_taken)
{
	struct quoit_device *d = soft_case_open("32K");
	uint64_t address[8], more;

	for (int i = 0; i < 8; i++)
		address[i] = soft_case_memory(d, i % 2 ? P : 1);
	cr_expect_eq(soft->memory_new(d, 1, &more), -ENOMEM);
	for (int i = 0; i < 8; i++)
		for (int k = 0; k < i; k++)
			cr_expect(address[i] - address[k] >= P && address[k] - address[i] >= P);
	cr_expect_eq(soft->memory_free(d, address[3]), 0);
	cr_expect_eq(soft->memory_new(d, P, &more), 0);
	cr_expect_eq(more, address[3]);
	soft->close(d);
}

Test(soft, freed_neighbours_are_one_gap)
{
	static const struct {
		unsigned freed; /* bit n: page n of eight */
		unsigned pages;
		int result;
	} rows[] = {
		{0x00, 1, -ENOMEM}, {0x55, 1, 0},       {0x55, 2, -ENOMEM}, {0x03, 2, 0},
		{0xc0, 2, 0},       {0xc1, 3, -ENOMEM}, {0x38, 3, 0},       {0x38, 4, -ENOMEM},
		{0xff, 8, 0},       {0xff, 9, -ENOMEM}, {0x7f, 8, -ENOMEM},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct quoit_device *d = soft_case_open("32K");
		uint64_t address[8], more;

		for (int k = 0; k < 8; k++)
			address[k] = soft_case_memory(d, P);
		for (int k = 0; k < 8; k++)
			if (rows[i].freed >> k & 1)
				cr_assert_eq(soft->memory_free(d, address[k]), 0);
		cr_expect_eq(soft->memory_new(d, rows[i].pages * P, &more), rows[i].result,
			     "%u pages, free %#x", rows[i].pages, rows[i].freed);
		soft->close(d);
	}
}

Test(soft, memory_that_cannot_be_is_refused)
{
	struct quoit_device *d = soft_case_open("32K");
	uint64_t address = soft_case_memory(d, 2 * P), more;

	cr_expect_eq(soft->memory_new(d, 0, &more), -EINVAL);
	cr_expect_eq(soft->memory_new(d, UINT64_MAX, &more), -ENOMEM);
	cr_expect_eq(soft->memory_free(d, address + P), -EINVAL);
	cr_expect_eq(soft->memory_free(d, address), 0);
	cr_expect_eq(soft->memory_free(d, address), -EINVAL);
	soft->close(d);
}

Test(soft, freed_pages_go_back_to_the_machine)
{
	struct quoit_device *d = soft_case_open("32K");
	struct quoit_device_stream *s = soft_case_stream(d);
	uint64_t *host = soft_case_host(d, P);
	uint64_t address = soft_case_memory(d, P);

	host[0] = 42;
	soft_case_in(s, address, host, P);
	cr_assert_eq(soft_case_finish(d, s), 1);
	cr_assert_eq(soft->memory_free(d, address), 0);
	cr_assert_eq(soft_case_memory(d, P), address);
	soft_case_out(s, host, address, P);
	cr_assert_eq(soft_case_finish(d, s), 1);
	cr_expect_eq(host[0], 0, "the page was kept");
	soft->host_free(d, host);
	soft->close(d);
}

/* ---- host memory ---- */

static struct {
	uint64_t before;
	_Alignas(64) uint64_t known[8];
	uint64_t behind;
} host;

Test(soft, streams_use_no_host_memory_that_they_do_not_know)
{
	struct quoit_device *d = soft_case_open("32K");
	struct quoit_device_stream *s = soft_case_stream(d);
	uint64_t address = soft_case_memory(d, P);
	const struct {
		void *at;
		uint64_t bytes;
		int result;
	} rows[] = {
		{host.known, 64, 0},          {host.known + 7, 8, 0},
		{host.known + 8, 0, 0},       {host.known + 7, 9, -EFAULT},
		{host.known + 8, 4, -EFAULT}, {host.known - 1, 16, -EFAULT},
		{host.known, 65, -EFAULT},    {host.known, UINT64_MAX, -EFAULT},
		{NULL, 4, -EFAULT},
	};

	cr_assert_eq(soft->host_register(d, host.known, sizeof host.known), 0);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		cr_expect_eq(soft->copy(s, (uintptr_t)rows[i].at, address, rows[i].bytes,
					QUOIT_DEVICE_OUT),
			     rows[i].result, "out, row %zu", i);
		cr_expect_eq(soft->copy(s, address, (uintptr_t)rows[i].at, rows[i].bytes,
					QUOIT_DEVICE_IN),
			     rows[i].result, "in, row %zu", i);
	}
	cr_expect_eq(soft->signal(s, (uint32_t *)&host.known[7], 1), 0);
	cr_expect_eq(soft->signal(s, (uint32_t *)&host.behind, 1), -EFAULT);
	cr_expect_eq(soft->stamp(s, &host.known[6]), 0);
	cr_expect_eq(soft->stamp(s, &host.behind), -EFAULT);
	cr_assert_eq(soft_case_finish(d, s), 1);
	soft->host_unregister(d, host.known);
	cr_expect_eq(soft->stamp(s, &host.known[6]), -EFAULT);
	cr_assert_eq(soft_case_finish(d, s), 1);
	soft->close(d);
}

Test(soft, host_memory_is_registered_once)
{
	struct quoit_device *d = soft_case_open("32K");

	cr_assert_eq(soft->host_register(d, host.known, 32), 0);
	cr_expect_eq(soft->host_register(d, host.known, 32), -EEXIST);
	cr_expect_eq(soft->host_register(d, host.known + 3, 32), -EEXIST);
	cr_expect_eq(soft->host_register(d, host.known - 1, 16), -EEXIST);
	cr_expect_eq(soft->host_register(d, host.known + 4, 32), 0);
	soft->close(d);
}

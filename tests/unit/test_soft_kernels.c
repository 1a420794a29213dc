/* SPDX-License-Identifier: MIT */
/* test_soft_kernels.c - the kernels of a soft device, and images without kernels. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "soft_case.h"

static const struct quoit_device_driver *const soft = &soft_device_driver;

TestSuite(soft_kernels, .timeout = 60);

static int stencil(struct quoit_device *d, struct quoit_device_stream *s, uint64_t out, uint64_t in,
		   uint32_t rows, uint32_t cols)
{
	const void *const arg[] = {&out, &in, &rows, &cols};

	return soft_case_launch(d, s, "stencil5", 4, arg, (const uint8_t[]){8, 8, 4, 4});
}

static int saxpy(struct quoit_device *d, struct quoit_device_stream *s, uint32_t n, float a,
		 uint64_t x, uint64_t y)
{
	const void *const arg[] = {&n, &a, &x, &y};

	return soft_case_launch(d, s, "saxpy", 4, arg, (const uint8_t[]){4, 4, 8, 8});
}

Test(soft_kernels, a_module_is_text_that_begins_with_soft)
{
	static const struct {
		const char *image;
		size_t size;
		int result;
	} rows[] = {
		{"soft", 4, 0},       {"soft:", 5, 0},         {"soft:saxpy", 10, 0},
		{"soft", 3, -EINVAL}, {"soft", 5, -EINVAL},    {"softly", 6, -EINVAL},
		{"", 0, -EINVAL},     {"\177ELF", 4, -EINVAL},
	};
	struct quoit_device *d = soft_case_open("1M");

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct quoit_device_module *m = NULL;
		char text[128] = "";

		cr_expect_eq(
			soft->module_new(d, rows[i].image, rows[i].size, &m, text, sizeof text),
			rows[i].result, "\"%s\"", rows[i].image);
		cr_expect_eq(*text != '\0', rows[i].result < 0);
		soft->module_free(m);
	}
	soft->close(d);
}

Test(soft_kernels, a_kernel_that_is_not_built_in_is_not_found)
{
	struct quoit_device *d = soft_case_open("1M");
	struct quoit_device_module *m = NULL;
	struct quoit_device_kernel *k = NULL;
	char text[64];

	cr_assert_eq(soft->module_new(d, "soft", 4, &m, text, sizeof text), 0);
	cr_expect_eq(soft->kernel_find(m, "saxpy", &k, text, sizeof text), 0);
	cr_expect_eq(soft->kernel_find(m, "daxpy", &k, text, sizeof text), -ENOENT);
	cr_expect_eq(soft->kernel_find(m, "", &k, text, sizeof text), -ENOENT);
	soft->module_free(m);
	soft->close(d);
}

Test(soft_kernels, stencil5_averages_neighbours_and_keeps_the_edge)
{
	static const uint32_t sizes[][2] = {{0, 0}, {0, 5}, {1, 1}, {1, 9},  {2, 2},
					    {3, 3}, {3, 7}, {7, 3}, {20, 31}};

	for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
		const uint32_t rows = sizes[k][0], cols = sizes[k][1], n = rows * cols;
		struct quoit_device *d = soft_case_open("1M");
		struct quoit_device_stream *s = soft_case_stream(d);
		float *in = soft_case_host(d, 4096), *out = soft_case_host(d, 4096);
		uint64_t address = soft_case_memory(d, 4096), result = soft_case_memory(d, 4096);

		for (uint32_t i = 0; i < n; i++)
			in[i] = (float)(i * i % 17) / 3;
		soft_case_in(s, address, in, 4096);
		cr_assert_eq(stencil(d, s, result, address, rows, cols), 0);
		soft_case_out(s, out, result, 4096);
		cr_assert_eq(soft_case_finish(d, s), 1);
		for (uint32_t i = 0; i < rows; i++)
			for (uint32_t j = 0; j < cols; j++) {
				const float *at = &in[i * cols + j];
				const bool edge = !i || !j || i + 1 == rows || j + 1 == cols;
				const float want = edge ? *at
							: 0.2f * (*at + *(at - cols) + at[cols] +
								  at[-1] + at[1]);

				cr_expect_float_eq(out[i * cols + j], want, 1e-5, "%u x %u: %u, %u",
						   rows, cols, i, j);
			}
		soft->host_free(d, in);
		soft->host_free(d, out);
		soft->close(d);
	}
}

Test(soft_kernels, saxpy_adds_a_multiple)
{
	struct quoit_device *d = soft_case_open("1M");
	struct quoit_device_stream *s = soft_case_stream(d);
	float *host = soft_case_host(d, 200 * sizeof *host);
	uint64_t address = soft_case_memory(d, 200 * sizeof *host);

	for (int i = 0; i < 200; i++)
		host[i] = (float)i;
	soft_case_in(s, address, host, 200 * sizeof *host);
	cr_assert_eq(saxpy(d, s, 99, 0.5f, address, address + 100 * sizeof *host), 0);
	soft_case_out(s, host, address, 200 * sizeof *host);
	cr_assert_eq(soft_case_finish(d, s), 1);
	for (int i = 0; i < 200; i++)
		cr_expect_eq(host[i],
			     i < 100 || i == 199 ? (float)i : (float)i + 0.5f * (float)(i - 100));
	soft->host_free(d, host);
	soft->close(d);
}

Test(soft_kernels, arguments_are_those_of_the_kernel)
{
	struct quoit_device *d = soft_case_open("1M");
	struct quoit_device_stream *s = soft_case_stream(d);
	const uint64_t zero = 0;
	const void *const arg[] = {&zero, &zero, &zero, &zero, &zero};
	const struct {
		const char *kernel;
		uint32_t count;
		uint8_t bytes[5];
		int result;
	} rows[] = {
		{"spin", 1, {8}, 0},
		{"spin", 1, {4}, -EINVAL},
		{"spin", 0, {0}, -EINVAL},
		{"spin", 2, {8, 8}, -EINVAL},
		{"saxpy", 4, {4, 4, 8, 8}, 0},
		{"saxpy", 4, {4, 4, 8, 4}, -EINVAL},
		{"saxpy", 3, {4, 4, 8}, -EINVAL},
		{"saxpy", 5, {4, 4, 8, 8, 8}, -EINVAL},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		cr_expect_eq(
			soft_case_launch(d, s, rows[i].kernel, rows[i].count, arg, rows[i].bytes),
			rows[i].result, "row %zu", i);
	cr_assert_eq(soft_case_finish(d, s), 1);
	soft->close(d);
}

Test(soft_kernels, a_launch_without_threads_is_refused)
{
	struct quoit_device *d = soft_case_open("1M");
	struct quoit_device_stream *s = soft_case_stream(d);
	struct quoit_device_module *m = NULL;
	struct quoit_device_kernel *k = NULL;
	const uint64_t zero = 0;
	char text[64];

	cr_assert_eq(soft->module_new(d, "soft", 4, &m, text, sizeof text), 0);
	cr_assert_eq(soft->kernel_find(m, "spin", &k, text, sizeof text), 0);
	for (int i = 0; i < 6; i++) {
		struct quoit_device_launch launch = {.grid = {1, 1, 1},
						     .block = {1, 1, 1},
						     .args = 1,
						     .arg = {&zero},
						     .arg_bytes = {8}};

		cr_expect_eq(soft->launch(s, k, &launch), 0);
		*(i < 3 ? &launch.grid[i] : &launch.block[i - 3]) = 0;
		cr_expect_eq(soft->launch(s, k, &launch), -EINVAL);
	}
	soft->module_free(m);
	soft->close(d);
}

Test(soft_kernels, a_kernel_that_leaves_its_memory_breaks_the_device)
{
	static const struct {
		bool stencil;
		/* offsets on two pages, each of one page with none behind it */
		int64_t first, second;
		uint32_t a, b; /* rows and cols, or n */
		bool breaks;
	} rows[] = {
		{true, 0, 0, 32, 32, false},
		{true, 0, 0, 32, 33, true},
		{true, 4, 0, 32, 32, true},
		{true, 0, 4, 32, 32, true},
		{true, 2, 0, 1, 1, true},
		{true, 0, 2, 1, 1, true},
		{true, 0, 0, UINT32_MAX, UINT32_MAX, true},
		{true, 1 << 20, 1 << 20, 0, 9, false},
		{false, 0, 0, 1024, 0, false},
		{false, 0, 0, 1025, 0, true},
		{false, 4096, 0, 1, 0, true},
		{false, 0, -4, 1, 0, true},
		{false, 0, 0, UINT32_MAX, 0, true},
		{false, 4092, 4092, 1, 0, false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct quoit_device *d = soft_case_open("32K");
		struct quoit_device_stream *s = soft_case_stream(d);
		const struct quoit_device_verdict *culprit = NULL;
		uint64_t page[5];

		for (int k = 0; k < 5; k++)
			page[k] = soft_case_memory(d, SOFT_CASE_PAGE);
		for (int k = 0; k < 5; k += 2)
			cr_assert_eq(soft->memory_free(d, page[k]), 0);
		page[1] += (uint64_t)rows[i].first;
		page[3] += (uint64_t)rows[i].second;
		if (rows[i].stencil)
			cr_assert_eq(stencil(d, s, page[1], page[3], rows[i].a, rows[i].b), 0);
		else
			cr_assert_eq(saxpy(d, s, rows[i].a, 1, page[1], page[3]), 0);
		if (rows[i].breaks)
			cr_expect_eq(soft_case_break(d, &culprit), -QUOIT_EGPUFAULT);
		else
			cr_expect_eq(soft_case_finish(d, s), 1, "row %zu", i);
		soft->close(d);
	}
}

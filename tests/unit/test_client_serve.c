/* SPDX-License-Identifier: MIT */
/* test_client_serve.c - results that quoitd copies, callers' tensors, names of services */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <quoit.h>

#include "library.h"
#include "serve.h"
#include "service.h"

/* ---- results that quoitd copies ---- */

Test(results, come_back_in_any_order_when_quoitd_names_their_call)
{
	struct results r[2] = {{.id = UINT64_C(7) << 32 | 1}, {.id = UINT64_C(8) << 32 | 3}};
	struct results *list = &r[0];
	uint32_t done[4] = {0};

	r[0].next = &r[1];
	cr_expect_null(libquoit_results_pop(&list, done, 3));
	done[3] = 8;
	cr_expect_eq(libquoit_results_pop(&list, done, 3), &r[1]);
	cr_expect_null(libquoit_results_pop(&list, done, 3));
	done[1] = 7;
	cr_expect_eq(libquoit_results_pop(&list, done, 3), &r[0]);
	cr_expect_null(list);
}

Test(results, serial_of_another_call_of_that_number_frees_nothing)
{
	struct results r = {.id = UINT64_C(7) << 32 | 1}, *list = &r;
	const uint32_t before[4] = {[1] = 6}, after[4] = {[1] = 8};

	cr_expect_null(libquoit_results_pop(&list, before, 3));
	cr_expect_null(libquoit_results_pop(&list, after, 3));
	cr_expect_eq(list, &r);
}

/* ---- where a tensor lies ---- */

#define F64_TENSOR(at, d2, d3, s2, s3)                                                             \
	{                                                                                          \
		.place = (at), .dtype = QUOIT_F64, .given = 1, .dim = {1, 1, (d2), (d3)},          \
		.stride = {                                                                        \
			1,                                                                         \
			1,                                                                         \
			(s2),                                                                      \
			(s3)                                                                       \
		}                                                                                  \
	}

struct place_case {
	struct quoit_call_tensor tensor;
	uint64_t bytes;
	int within;
};

ParameterizedTestParameters(serve, tensor_lies_within_the_memory)
{
	static struct place_case cases[] = {
		{F64_TENSOR(0, 1, 1, 1, 1), 8, 1},
		{F64_TENSOR(0, 1, 1, 1, 1), 7, 0},
		{F64_TENSOR(8, 2, 3, 3, 1), 56, 1},
		{F64_TENSOR(8, 2, 3, 3, 1), 55, 0},
		{F64_TENSOR(8, 2, 3, 4, 1), 56, 0},
		{F64_TENSOR(40, 2, 3, -3, 1), 64, 1},
		{F64_TENSOR(40, 2, 3, -3, 1), 63, 0},
		{F64_TENSOR(40, 2, 3, -6, 1), 64, 0},
		{F64_TENSOR(48, 2, 3, 0, -3), 64, 1},
		{F64_TENSOR(64, 0, 3, 100, 1), 64, 1},
		{F64_TENSOR(65, 0, 3, 100, 1), 64, 0},
		{F64_TENSOR(UINT64_MAX, 1, 1, 1, 1), UINT64_MAX, 0},
		{F64_TENSOR(INT64_MAX, 1, 1, 1, 1), UINT64_MAX, 0},
		{F64_TENSOR(0, UINT32_MAX, UINT32_MAX, INT32_MAX, INT32_MAX), UINT64_MAX, 0},
		{F64_TENSOR(0, UINT32_MAX, UINT32_MAX, INT32_MIN, INT32_MIN), UINT64_MAX, 0},
	};

	return cr_make_param_array(struct place_case, cases, sizeof cases / sizeof *cases);
}

ParameterizedTest(struct place_case *c, serve, tensor_lies_within_the_memory)
{
	cr_expect_eq(libquoit_is_within(&c->tensor, c->bytes), c->within);
}

Test(serve, bytes_of_a_dense_tensor)
{
	struct quoit_call_tensor t = F64_TENSOR(0, 3, 5, 7, 2);
	uint64_t bytes;

	cr_expect(libquoit_dense_bytes(&t, &bytes));
	cr_expect_eq(bytes, 3u * 5 * 8);
	t.dtype = QUOIT_BF16;
	cr_expect(libquoit_dense_bytes(&t, &bytes));
	cr_expect_eq(bytes, 3u * 5 * 2);
	t.dim[0] = t.dim[1] = t.dim[2] = UINT32_MAX;
	cr_expect_not(libquoit_dense_bytes(&t, &bytes));
	t.dim[3] = 0;
	cr_expect(libquoit_dense_bytes(&t, &bytes));
	cr_expect_eq(bytes, 0u);
}

/* ---- a dense copy ---- */

struct gather_case {
	uint8_t dtype;
	uint32_t dim[QUOIT_MAX_DIMS];
	int32_t stride[QUOIT_MAX_DIMS];
};

ParameterizedTestParameters(serve, dense_copy_has_all_elements_in_their_order)
{
	static struct gather_case cases[] = {
		{QUOIT_I64, {2, 3, 4, 5}, {60, 20, 5, 1}},
		{QUOIT_I64, {2, 3, 4, 5}, {1, 2, 6, 24}},
		{QUOIT_I32, {2, 3, 4, 5}, {80, 24, 6, 1}},
		{QUOIT_I32, {1, 1, 4, 5}, {0, 9, 10, 2}},
		{QUOIT_F16, {2, 1, 4, 5}, {20, 7, 5, 1}},
		{QUOIT_F16, {1, 2, 4, 5}, {9, -20, -5, -1}},
		{QUOIT_I64, {2, 3, 4, 1}, {60, 4, 1, 77}},
		{QUOIT_I32, {2, 3, 4, 1}, {12, 4, 1, 1}},
		{QUOIT_I32, {2, 0, 4, 5}, {60, 20, 5, 1}},
		{QUOIT_F64, {1, 1, 1, 1}, {0, 0, 0, 0}},
	};

	return cr_make_param_array(struct gather_case, cases, sizeof cases / sizeof *cases);
}

ParameterizedTest(struct gather_case *c, serve, dense_copy_has_all_elements_in_their_order)
{
	static uint8_t memory[4096], to[4096];
	struct quoit_call_tensor t = {.dtype = c->dtype, .given = 1};
	const size_t size = libquoit_element_bytes(c->dtype);
	const uint8_t *first = memory + 2048, *got = to;

	for (unsigned i = 0; i < sizeof memory; i++)
		memory[i] = (uint8_t)(i * 7 + i / 256);
	memcpy(t.dim, c->dim, sizeof t.dim);
	memcpy(t.stride, c->stride, sizeof t.stride);
	memset(to, 0xaa, sizeof to);
	libquoit_gather_dense(to, first, &t);
	for (uint32_t i = 0; i < c->dim[0]; i++)
		for (uint32_t j = 0; j < c->dim[1]; j++)
			for (uint32_t k = 0; k < c->dim[2]; k++)
				for (uint32_t l = 0; l < c->dim[3]; l++, got += size) {
					ptrdiff_t at = (ptrdiff_t)i * c->stride[0] +
						       (ptrdiff_t)j * c->stride[1] +
						       (ptrdiff_t)k * c->stride[2] +
						       (ptrdiff_t)l * c->stride[3];

					cr_assert_eq(
						memcmp(got, first + at * (ptrdiff_t)size, size), 0,
						"element %u %u %u %u", i, j, k, l);
				}
	cr_expect_eq(*got, 0xaa, "nothing is written behind the last element");
}

/* ---- names ---- */

Test(service, name_may_have_a_user)
{
	struct service_name name;

	cr_expect_eq(libquoit_service_parse("fft", &name), 0);
	cr_expect_str_eq(name.name, "fft");
	cr_expect_eq(name.uid, QUOIT_SERVICE_OWN);
	cr_expect_eq(libquoit_service_parse("root/fft-2", &name), 0);
	cr_expect_str_eq(name.name, "fft-2");
	cr_expect_eq(name.uid, 0u);
	cr_expect_eq(libquoit_service_parse("4242/a", &name), 0);
	cr_expect_eq(name.uid, 4242u);
	cr_expect_eq(libquoit_service_parse("1234567890123456789012345678901", &name), 0);
}

Test(service, what_is_no_name_is_refused)
{
	static const char *const bad[] = {"",
					  "a b",
					  "a\n",
					  "/a",
					  "a/b/c",
					  "0/",
					  "\xc3",
					  "1/ ",
					  "4294967295/a",
					  "99999999999999999999/a",
					  "12345678901234567890123456789012"};
	struct service_name name;

	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		const int err = libquoit_service_parse(bad[i], &name);

		/* a number that no user can have is a name that no user has */
		cr_expect(err == -EINVAL || (err == -ENOENT && bad[i][0] >= '0'), "'%s': %d",
			  bad[i], err);
	}
	cr_expect_eq(libquoit_service_parse("nobody-of-that-name/a", &name), -ENOENT);
	cr_expect(strstr(quoit_open_text(), "there is no user 'nobody-of-that-name'"), "%s",
		  quoit_open_text());
}

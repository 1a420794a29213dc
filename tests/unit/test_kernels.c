/* SPDX-License-Identifier: MIT */
/* test_kernels.c - valid descriptions of a client's kernel, and valid jobs with it */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "core_case.h"
#include "job/tensor.h"
#include "job/validate.h"
#include "session/kernels.h"

#define H CORE_HANDLE

static const struct quoit_kernel_arg tensor0 = {.kind = QUOIT_ARG_TENSOR, .bytes = 8};
static const struct quoit_kernel_arg scalar1 = {.kind = QUOIT_ARG_SCALAR, .bytes = 4, .index = 1};
static const struct quoit_kernel_arg seven = {.kind = QUOIT_ARG_CONSTANT, .bytes = 1, .value = 7};

static struct quoit_kernel_desc good(void)
{
	return (struct quoit_kernel_desc){.name = "_Z3addPfS_",
					  .grid = {3, 2, 1},
					  .block = {32, 8, 4},
					  .access = "WR--",
					  .args = 3,
					  .arg = {tensor0, scalar1, seven}};
}

static int check(const struct quoit_kernel_desc *d)
{
	char text[QUOIT_TEXT_BYTES] = "";
	int err = kernel_check(d, text, sizeof text);

	cr_expect_eq(!err, !*text, "a refusal has a sentence: %d '%s'", err, text);
	return err;
}

/* ---- descriptions ---- */

Test(kernels, a_good_description_is_taken)
{
	struct quoit_kernel_desc d = good();

	cr_expect_eq(check(&d), 0);
	d.args = 0;
	memset(d.arg, 0, sizeof d.arg);
	cr_expect_eq(check(&d), 0, "without arguments");
	memcpy(d.access, "----", 4);
	cr_expect_eq(check(&d), 0, "without tensors");
	memset(d.name, 'x', sizeof d.name - 1);
	cr_expect_eq(check(&d), 0, "with the longest name");
}

/* One word of a good description is changed. */
Test(kernels, sizes_are_those_that_a_device_can_have)
{
	static const struct {
		const char *what;
		uint32_t grid[3], block[3], shared;
		int err;
	} rows[] = {
		{"the widest grid", {0x7fffffff, 65535, 65535}, {1, 1, 1}, 0, 0},
		{"the largest block", {1, 1, 1}, {1024, 1, 1}, 49152, 0},
		{"the deepest block", {1, 1, 1}, {1, 1, 1024}, 0, 0},
		{"no grid in x", {0, 1, 1}, {1, 1, 1}, 0, -EINVAL},
		{"no grid in z", {1, 1, 0}, {1, 1, 1}, 0, -EINVAL},
		{"too wide", {0x80000000, 1, 1}, {1, 1, 1}, 0, -EINVAL},
		{"too high", {1, 65536, 1}, {1, 1, 1}, 0, -EINVAL},
		{"too deep", {1, 1, 65536}, {1, 1, 1}, 0, -EINVAL},
		{"no block", {1, 1, 1}, {1, 0, 1}, 0, -EINVAL},
		{"a block of one too many", {1, 1, 1}, {1025, 1, 1}, 0, -EINVAL},
		{"a product of one row too many", {1, 1, 1}, {32, 33, 1}, 0, -EINVAL},
		{"a product that wraps", {1, 1, 1}, {1024, 1024, 1024}, 0, -EINVAL},
		{"a word that wraps", {1, 1, 1}, {UINT32_MAX, 2, 1}, 0, -EINVAL},
		{"more shared bytes", {1, 1, 1}, {1, 1, 1}, 49153, -EINVAL},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct quoit_kernel_desc d = good();

		memcpy(d.grid, rows[i].grid, sizeof d.grid);
		memcpy(d.block, rows[i].block, sizeof d.block);
		d.shared_bytes = rows[i].shared;
		cr_expect_eq(check(&d), rows[i].err, "%s", rows[i].what);
	}
}

Test(kernels, names_are_printable_and_end)
{
	static const char *const bad[] = {"", " ", "a b", "a\n", "\x80", "a\177"};
	struct quoit_kernel_desc d;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		d = good();
		memset(d.name, 0, sizeof d.name);
		memcpy(d.name, bad[i], strlen(bad[i]));
		cr_expect_eq(check(&d), -EINVAL, "name %zu", i);
	}
	d = good();
	memset(d.name, 'x', sizeof d.name);
	cr_expect_eq(check(&d), -EINVAL, "one without an end");
	d = good();
	d.name[sizeof d.name - 1] = 'x';
	cr_expect_eq(check(&d), -EINVAL, "one with something behind its end");
}

Test(kernels, access_is_four_letters)
{
	static const struct {
		char access[8];
		int err;
	} rows[] = {{"WMR-", 0},        {"WWWW", 0},        {"W", -EINVAL},
		    {"WR-", -EINVAL},   {"wR--", -EINVAL},  {"WR-x", -EINVAL},
		    {"WR---", -EINVAL}, {"W\0--", -EINVAL}, {"WR--\0\0\0x", -EINVAL}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct quoit_kernel_desc d = good();

		memcpy(d.access, rows[i].access, sizeof d.access);
		cr_expect_eq(check(&d), rows[i].err, "access %zu", i);
	}
}

Test(kernels, arguments_are_of_known_kinds_and_sizes)
{
	static const struct {
		const char *what;
		struct quoit_kernel_arg arg;
		int err;
	} rows[] = {
		{"the other tensor", {QUOIT_ARG_TENSOR, 8, 1, {0}, 0}, 0},
		{"a tensor of 4 bytes", {QUOIT_ARG_TENSOR, 4, 0, {0}, 0}, -EINVAL},
		{"a tensor that it has not", {QUOIT_ARG_TENSOR, 8, 2, {0}, 0}, -EINVAL},
		{"a fifth tensor", {QUOIT_ARG_TENSOR, 8, 4, {0}, 0}, -EINVAL},
		{"the last tensor", {QUOIT_ARG_TENSOR, 8, 255, {0}, 0}, -EINVAL},
		{"a tensor with a value", {QUOIT_ARG_TENSOR, 8, 0, {0}, 1}, -EINVAL},
		{"a whole scalar", {QUOIT_ARG_SCALAR, 8, 0, {0}, 0}, 0},
		{"a third scalar", {QUOIT_ARG_SCALAR, 8, 2, {0}, 0}, -EINVAL},
		{"a scalar of 3 bytes", {QUOIT_ARG_SCALAR, 3, 0, {0}, 0}, -EINVAL},
		{"a scalar of none", {QUOIT_ARG_SCALAR, 0, 0, {0}, 0}, -EINVAL},
		{"the largest constant", {QUOIT_ARG_CONSTANT, 8, 0, {0}, UINT64_MAX}, 0},
		{"a constant as large as fits", {QUOIT_ARG_CONSTANT, 2, 0, {0}, 65535}, 0},
		{"a larger one", {QUOIT_ARG_CONSTANT, 2, 0, {0}, 65536}, -EINVAL},
		{"a constant of 16 bytes", {QUOIT_ARG_CONSTANT, 16, 0, {0}, 0}, -EINVAL},
		{"a constant with an index", {QUOIT_ARG_CONSTANT, 4, 1, {0}, 1}, -EINVAL},
		{"a reserved byte", {QUOIT_ARG_CONSTANT, 4, 0, {0, 0, 0, 0, 1}, 1}, -EINVAL},
		{"no kind", {0, 8, 0, {0}, 0}, -EINVAL},
		{"an unknown kind", {4, 8, 0, {0}, 0}, -EINVAL},
	};
	struct quoit_kernel_desc d;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		d = good();
		d.arg[2] = rows[i].arg;
		cr_expect_eq(check(&d), rows[i].err, "%s", rows[i].what);
	}
	d = good();
	d.args = QUOIT_MAX_KERNEL_ARGS + 1;
	cr_expect_eq(check(&d), -EINVAL, "one too many");
	d.args = UINT32_MAX;
	cr_expect_eq(check(&d), -EINVAL, "as many as can be said");
	d = good();
	d.args = 2;
	cr_expect_eq(check(&d), -EINVAL, "one more that is not counted");
}

/* ---- the table, and jobs ---- */

#define FIRST_DEVICE 2u

enum { HOST = 1, ONE, ONE2, TWO };

static struct session *session;
static struct kernels_ask ask;

static void create_on(uint8_t device, uint32_t index)
{
	const struct quoit_sqe sqe = {.opcode = QUOIT_OP_CREATE,
				      .device = device,
				      .base = {H(index)},
				      .dim = {1, 1, 4, 6}};
	struct fault fault;

	cr_assert_eq(tensor_create(session, &sqe, &fault), 0);
}

static int add_image(uint32_t device)
{
	int err;

	ask = (struct kernels_ask){.of = device, .fd = memfd_create("image", 0), .bytes = 4};
	err = kernels_add_image(session, &ask);
	if (ask.fd >= 0)
		close(ask.fd);
	return err ? err : (int)ask.index;
}

/* Its number; the client has been told. */
static int add_kernel(uint32_t image, const char *access)
{
	int err;

	ask = (struct kernels_ask){.of = image, .desc = good()};
	memcpy(ask.desc.access, access, 4);
	err = kernels_add_kernel(session, &ask);
	if (err)
		return err;
	session->kernels->kernel[ask.index].ready = true;
	return (int)ask.index;
}

static void open_session(void)
{
	session = core_session(64);
	session->devices = 2;
	session->first_device = FIRST_DEVICE;
	session->kernels = kernels_new();
	create_on(0, HOST);
	create_on(1, ONE);
	create_on(1, ONE2);
	create_on(2, TWO);
}

static void close_session(void)
{
	core_session_free(session);
}

TestSuite(kernel_jobs, .init = open_session, .fini = close_session);

static int validate(struct quoit_sqe sqe, struct plan *plan, uint8_t *ret_field)
{
	struct fault fault = {0};
	int err;

	sqe.opcode = QUOIT_OP_LAUNCH;
	err = validate_job(session, &sqe, plan, &fault);
	*ret_field = fault.field;
	return err;
}

Test(kernel_jobs, a_job_has_the_tensors_that_its_kernel_says)
{
	const struct {
		const char *what;
		struct quoit_sqe sqe;
		int err;
		uint8_t field;
	} rows[] = {
		{"as it says", {.tensor = {H(ONE), H(ONE2)}}, 0, 0},
		{"with the scalar that it takes",
		 {.tensor = {H(ONE), H(ONE2)}, .scalar = {0, 9}},
		 0,
		 0},
		{"with another",
		 {.tensor = {H(ONE), H(ONE2)}, .scalar = {9}},
		 -EINVAL,
		 QUOIT_FIELD_SCALAR0},
		{"one too few", {.tensor = {H(ONE)}}, -EBADF, QUOIT_FIELD_TENSOR1},
		{"one too many",
		 {.tensor = {H(ONE), H(ONE2), H(ONE2)}},
		 -EINVAL,
		 QUOIT_FIELD_TENSOR2},
		{"the same twice", {.tensor = {H(ONE), H(ONE)}}, -EINVAL, QUOIT_FIELD_TENSOR1},
		{"one on the host", {.tensor = {H(ONE), H(HOST)}}, -EXDEV, QUOIT_FIELD_TENSOR1},
		{"one on another device",
		 {.tensor = {H(TWO), H(ONE2)}},
		 -EXDEV,
		 QUOIT_FIELD_TENSOR0},
		{"none that there is", {.tensor = {H(ONE), H(40)}}, -EBADF, QUOIT_FIELD_TENSOR1},
		{"of a kernel that is not there",
		 {.arg = 1, .tensor = {H(ONE), H(ONE2)}},
		 -EINVAL,
		 QUOIT_FIELD_ARG},
		{"of the last number",
		 {.arg = 255, .tensor = {H(ONE), H(ONE2)}},
		 -EINVAL,
		 QUOIT_FIELD_ARG},
	};

	cr_assert_eq(add_kernel((uint32_t)add_image(1), "WR--"), 0);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct plan plan;
		uint8_t field;
		int err = validate(rows[i].sqe, &plan, &field);

		cr_expect_eq(err, rows[i].err, "%s: %d", rows[i].what, err);
		cr_expect_eq(field, rows[i].field, "%s: field %u", rows[i].what, field);
	}
}

Test(kernel_jobs, a_plan_has_the_access_that_was_registered)
{
	static const struct {
		const char *access;
		uint32_t tensors;
		uint8_t reads, writes;
	} rows[] = {{"WR--", 2, 2, 1}, {"RW--", 2, 1, 2}, {"MR--", 2, 3, 1},
		    {"RR--", 2, 3, 0}, {"M---", 1, 1, 1}, {"----", 0, 0, 0}};
	uint32_t image = (uint32_t)add_image(1);

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct quoit_sqe sqe = {.arg = (uint8_t)add_kernel(image, rows[i].access)};
		struct plan plan;
		uint8_t field;

		for (uint32_t t = 0; t < rows[i].tensors; t++)
			sqe.tensor[t] = H(ONE + t);
		cr_assert_eq(validate(sqe, &plan, &field), 0, "%s: field %u", rows[i].access,
			     field);
		cr_expect_eq(plan.reads, rows[i].reads, "%s", rows[i].access);
		cr_expect_eq(plan.writes, rows[i].writes, "%s", rows[i].access);
		cr_expect_eq(plan.on_device, plan.tensors);
		cr_expect_eq(plan.executor, FIRST_DEVICE);
	}
}

Test(kernel_jobs, a_kernel_without_tensors_is_where_its_image_is)
{
	int kernel = add_kernel((uint32_t)add_image(2), "----");
	struct plan plan;
	uint8_t field;

	cr_assert_eq(validate((struct quoit_sqe){.arg = (uint8_t)kernel}, &plan, &field), 0);
	cr_expect_eq(plan.executor, FIRST_DEVICE + 1);
}

Test(kernel_jobs, a_session_that_brings_none_has_none)
{
	struct plan plan;
	uint8_t field;

	kernels_free(session->kernels, NULL);
	session->kernels = NULL;
	cr_expect_eq(validate((struct quoit_sqe){.arg = 0}, &plan, &field), -EINVAL);
	cr_expect_eq(field, QUOIT_FIELD_ARG);
}

Test(kernel_jobs, nobody_launches_a_kernel_before_its_client_was_told_the_number)
{
	struct plan plan;
	uint8_t field;
	int kernel = add_kernel((uint32_t)add_image(1), "----");

	session->kernels->kernel[kernel].ready = false;
	cr_expect_eq(validate((struct quoit_sqe){.arg = (uint8_t)kernel}, &plan, &field), -EINVAL);
}

Test(kernel_jobs, there_are_as_many_as_there_may_be)
{
	cr_expect_eq(add_image(0), -ENODEV);
	cr_expect_eq(add_image(3), -ENODEV);
	for (unsigned i = 0; i < QUOIT_MAX_IMAGES; i++)
		cr_assert_eq(add_image(1), (int)i);
	cr_expect_eq(add_image(1), -ENFILE);
	for (unsigned i = 0; i < QUOIT_MAX_KERNELS; i++)
		cr_assert_eq(add_kernel(i % QUOIT_MAX_IMAGES, "W---"), (int)i);
	cr_expect_eq(add_kernel(0, "W---"), -ENFILE);
	cr_expect_eq(add_kernel(QUOIT_MAX_IMAGES, "W---"), -EBADF);
	cr_expect_eq(add_kernel(UINT32_MAX, "W---"), -EBADF);
}

Test(kernel_jobs, an_image_that_is_removed_goes_with_its_last_job)
{
	uint32_t image = (uint32_t)add_image(1);
	uint8_t kernel = (uint8_t)add_kernel(image, "----");
	struct plan plan;
	uint8_t field;

	kernels_hold(session, kernel);
	cr_assert_eq(kernels_remove_image(session, image), 0);
	cr_expect_eq(kernels_remove_image(session, image), -EBADF, "once");
	cr_expect_eq(validate((struct quoit_sqe){.arg = kernel}, &plan, &field), -EINVAL);
	cr_expect_eq(add_kernel(image, "----"), -EBADF);
	session->kernels->waits = false;
	kernels_drop(session, kernel);
	cr_expect(session->kernels->waits, "it is to be unloaded now");
	kernels_free_image(session, image);
	cr_expect_eq(add_image(1), (int)image);
	cr_expect_eq(add_kernel(image, "----"), kernel);
}

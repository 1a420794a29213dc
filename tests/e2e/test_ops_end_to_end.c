/* SPDX-License-Identifier: MIT */
/* test_ops_end_to_end.c - run every operation of ops.def once, from the builder to the bytes. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "client.h"

static struct client c;
static uint64_t seen[QUOIT_OP_NR / 64]; /* operations that were checked */

static void run(struct quoit_sqe sqe)
{
	int res;

	seen[sqe.opcode / 64] |= UINT64_C(1) << sqe.opcode % 64;
	res = quoit_wait(c.q, client_start(&c, sqe), QUOIT_FOREVER);
	cr_expect_geq(res, 0, "operation %u: %d", sqe.opcode, res);
}

/* Make an f32 tensor of 2 x 3 with these elements. */
static quoit_tensor floats(const float values[6])
{
	quoit_tensor t = quoit_create_matrix(c.q, QUOIT_F32, 2, 3);

	cr_assert_eq(quoit_write(c.q, t, values, 6 * sizeof *values), 0);
	return t;
}

static quoit_tensor ints(uint32_t rows, uint32_t cols, const int32_t *values)
{
	quoit_tensor t = quoit_create_matrix(c.q, QUOIT_I32, rows, cols);

	cr_assert_eq(quoit_write(c.q, t, values, rows * cols * sizeof *values), 0);
	return t;
}

static void expect_floats(quoit_tensor t, unsigned n, const float *expected, const char *what)
{
	float found[6];

	cr_assert_eq(quoit_read(c.q, t, found, n * sizeof *found), 0, "%s", what);
	for (unsigned i = 0; i < n; i++)
		cr_expect_float_eq(found[i], expected[i], 1e-5, "%s: element %u is %g, not %g",
				   what, i, found[i], expected[i]);
}

static void expect_ints(quoit_tensor t, unsigned n, const int32_t *expected, const char *what)
{
	int32_t found[6];

	cr_assert_eq(quoit_read(c.q, t, found, n * sizeof *found), 0, "%s", what);
	for (unsigned i = 0; i < n; i++)
		cr_expect_eq(found[i], expected[i], "%s: element %u is %d, not %d", what, i,
			     found[i], expected[i]);
}

#define EXPECT_FLOATS(t, what, ...)                                                                \
	expect_floats(t, sizeof((float[]){__VA_ARGS__}) / sizeof(float), (float[]){__VA_ARGS__},   \
		      what)
#define EXPECT_INTS(t, what, ...)                                                                  \
	expect_ints(t, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t),                         \
		    (int32_t[]){__VA_ARGS__}, what)

static const float x_values[6] = {1, -2, 3, 4, 0.25f, -6};
static const float y_values[6] = {2, 2, 2, 4, 4, 4};

static void check_moves(void)
{
	quoit_tensor x = floats(x_values), out = floats(y_values);
	quoit_tensor turned = quoit_create_matrix(c.q, QUOIT_F32, 3, 2);
	quoit_tensor whole = quoit_create_matrix(c.q, QUOIT_I32, 2, 3);
	quoit_tensor index = ints(1, 3, (int32_t[]){2, 0, 0});

	run(quoit_fill(out, 1.5));
	EXPECT_FLOATS(out, "fill", 1.5f, 1.5f, 1.5f, 1.5f, 1.5f, 1.5f);
	run(quoit_copy(out, x));
	EXPECT_FLOATS(out, "copy", 1, -2, 3, 4, 0.25f, -6);
	run(quoit_cast(whole, x));
	EXPECT_INTS(whole, "cast", 1, -2, 3, 4, 0, -6);
	run(quoit_transpose(turned, x, QUOIT_PERM(0, 1, 3, 2)));
	EXPECT_FLOATS(turned, "transpose", 1, 4, -2, 0.25f, 3, -6);
	run(quoit_roll(out, x, 3, 1));
	EXPECT_FLOATS(out, "roll", 3, 1, -2, -6, 4, 0.25f);
	run(quoit_gather(out, x, index, 3));
	EXPECT_FLOATS(out, "gather", 3, 1, 1, -6, 4, 4);
	run(quoit_compare_scalar(whole, x, QUOIT_CMP_GT, 0.5));
	EXPECT_INTS(whole, "compare", 1, 0, 1, 1, 0, 0);
	run(quoit_select(out, whole, x, floats(y_values)));
	EXPECT_FLOATS(out, "select", 1, 2, 3, 4, 4, 4);
}

static void check_binary(void)
{
	quoit_tensor x = floats(x_values), y = floats(y_values), out = floats(y_values);

	run(quoit_add(out, x, y));
	EXPECT_FLOATS(out, "add", 3, 0, 5, 8, 4.25f, -2);
	run(quoit_sub(out, x, y));
	EXPECT_FLOATS(out, "sub", -1, -4, 1, 0, -3.75f, -10);
	run(quoit_mul(out, x, y));
	EXPECT_FLOATS(out, "mul", 2, -4, 6, 16, 1, -24);
	run(quoit_div(out, x, y));
	EXPECT_FLOATS(out, "div", 0.5f, -1, 1.5f, 1, 0.0625f, -1.5f);
	run(quoit_min(out, x, y));
	EXPECT_FLOATS(out, "min", 1, -2, 2, 4, 0.25f, -6);
	run(quoit_max_scalar(out, x, 0.5));
	EXPECT_FLOATS(out, "max", 1, 0.5f, 3, 4, 0.5f, 0.5f);
	run(quoit_axpby(out, 2, x, -1, y));
	EXPECT_FLOATS(out, "axpby", 0, -6, 4, 4, -3.5f, -16);
	run(quoit_pow(out, x, y));
	EXPECT_FLOATS(out, "pow", 1, 4, 9, 256, 0.00390625f, 1296);
	run(quoit_pow_scalar(out, x, -1));
	EXPECT_FLOATS(out, "pow of a scalar", 1, -0.5f, 1 / 3.0f, 0.25f, 4, -1 / 6.0f);
	run(quoit_relu_grad(out, x, y));
	EXPECT_FLOATS(out, "relu_grad", 2, 0, 2, 4, 4, 0);
}

static void check_unary(void)
{
	static const struct {
		uint8_t opcode;
		double (*reference)(double);
	} rows[] = {{QUOIT_OP_EXP, exp},   {QUOIT_OP_LOG, log}, {QUOIT_OP_SQRT, sqrt},
		    {QUOIT_OP_TANH, tanh}, {QUOIT_OP_SIN, sin}, {QUOIT_OP_COS, cos}};
	static const float values[6] = {0.5f, 1, 2, 3, 0.125f, 1.5f};
	quoit_tensor x = floats(values), out = floats(values);
	float expected[6];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		for (unsigned j = 0; j < 6; j++)
			expected[j] = (float)rows[i].reference((double)values[j]);
		run(quoit_op4(rows[i].opcode, out, x, 0, 0));
		expect_floats(out, 6, expected, "unary");
	}
	run(quoit_sigmoid(out, x));
	for (unsigned j = 0; j < 6; j++)
		expected[j] = 1 / (1 + expf(-values[j]));
	expect_floats(out, 6, expected, "sigmoid");
	run(quoit_relu(out, floats(x_values)));
	EXPECT_FLOATS(out, "relu", 1, 0, 3, 4, 0.25f, 0);
	run(quoit_abs(out, floats(x_values)));
	EXPECT_FLOATS(out, "abs", 1, 2, 3, 4, 0.25f, 6);
	run(quoit_sub_scalar(out, floats(x_values), 0.5));
	run(quoit_floor(out, out));
	EXPECT_FLOATS(out, "floor", 0, -3, 2, 3, -1, -7);
}

static void check_random(void)
{
	quoit_tensor a = quoit_create_vector(c.q, QUOIT_F32, 6),
		     b = quoit_create_vector(c.q, QUOIT_F32, 6);
	float first[6], second[6];

	run(quoit_uniform(a, 7, 0));
	run(quoit_uniform(b, 7, 0));
	cr_assert_eq(quoit_read(c.q, a, first, sizeof first), 0);
	cr_assert_eq(quoit_read(c.q, b, second, sizeof second), 0);
	cr_expect_arr_eq(first, second, sizeof first, "one seed, one sequence");
	for (unsigned i = 0; i < 6; i++)
		cr_expect(first[i] >= 0 && first[i] < 1);
	run(quoit_normal(a, 7, 0));
	run(quoit_normal(b, 8, 0));
	cr_assert_eq(quoit_read(c.q, a, first, sizeof first), 0);
	cr_assert_eq(quoit_read(c.q, b, second, sizeof second), 0);
	cr_expect_neq(memcmp(first, second, sizeof first), 0, "another seed, another sequence");
}

static void expect_no_axis(struct quoit_sqe sqe, const char *words)
{
	char text[256];
	quoit_job job;

	cr_assert_eq(quoit_start(c.q, sqe, &job), 0);
	cr_expect_eq(quoit_wait(c.q, job, QUOIT_FOREVER), -EINVAL);
	quoit_strerror_wait(c.q, -EINVAL, text, sizeof text);
	cr_expect(strstr(text, words), "%s", text);
}

static void check_reductions(void)
{
	quoit_tensor x = floats(x_values), y = floats(y_values), gradient = floats(y_values);
	quoit_tensor one = quoit_create_vector(c.q, QUOIT_F32, 1);
	quoit_tensor rows = quoit_create_matrix(c.q, QUOIT_F32, 2, 1);
	quoit_tensor where = quoit_create_vector(c.q, QUOIT_I64, 1);
	quoit_tensor square = quoit_create_matrix(c.q, QUOIT_F32, 2, 2);
	int64_t at = -1;

	run(quoit_sum(rows, x, 3));
	EXPECT_FLOATS(rows, "sum", 2, -1.75f);
	run(quoit_fill(rows, 0));
	run(quoit_sum(rows, x, -1));
	EXPECT_FLOATS(rows, "sum over the last axis", 2, -1.75f);
	expect_no_axis(quoit_sum(rows, x, 4), "axis 4 does not exist");
	expect_no_axis(quoit_sum(rows, x, -5), "the axis does not exist");
	run(quoit_mean(one, y, QUOIT_AXIS_ALL));
	EXPECT_FLOATS(one, "mean", 3);
	run(quoit_amax(one, x, QUOIT_AXIS_ALL));
	EXPECT_FLOATS(one, "amax", 4);
	run(quoit_argmax(where, x, QUOIT_AXIS_ALL));
	cr_expect_eq(quoit_read(c.q, where, &at, sizeof at), 0);
	cr_expect_eq(at, 3);
	run(quoit_prod(rows, x, 3));
	EXPECT_FLOATS(rows, "prod", -6, -6);
	run(quoit_amin(one, x, QUOIT_AXIS_ALL));
	EXPECT_FLOATS(one, "amin", -6);
	run(quoit_argmin(where, x, QUOIT_AXIS_ALL));
	cr_expect_eq(quoit_read(c.q, where, &at, sizeof at), 0);
	cr_expect_eq(at, 5);
	run(quoit_sqnorm(one, y, QUOIT_AXIS_ALL));
	EXPECT_FLOATS(one, "sqnorm", 60);
	run(quoit_sqloss(one, x, y, gradient, 0.5));
	EXPECT_FLOATS(one, "sqloss", (1 + 16 + 1 + 0 + 3.75f * 3.75f + 100) / 2);
	EXPECT_FLOATS(gradient, "gradient", -1, -4, 1, 0, -3.75f, -10);
	run(quoit_gemm(square, x, y, QUOIT_GEMM_TRANS_B, 1, 0));
	EXPECT_FLOATS(square, "gemm", 4, 8, -3.5f, -7);
}

/* Convert 2 x 3 numbers that need no rounding to halves and back. */
static void check_halves(enum quoit_dtype dtype)
{
	quoit_tensor x = quoit_create_matrix(c.q, dtype, 2, 3),
		     y = quoit_create_matrix(c.q, dtype, 2, 3);
	quoit_tensor square = quoit_create_matrix(c.q, dtype, 2, 2);
	quoit_tensor sum = quoit_create_matrix(c.q, QUOIT_F32, 2, 2);
	uint16_t halves[6];

	for (unsigned i = 0; i < 6; i++)
		halves[i] = dtype == QUOIT_BF16 ? quoit_bf16_from_float(x_values[i])
						: quoit_f16_from_float(x_values[i]);
	cr_assert_eq(quoit_write(c.q, x, halves, sizeof halves), 0);
	run(quoit_cast(y, floats(y_values)));
	run(quoit_gemm(square, x, y, QUOIT_GEMM_TRANS_B, 1, 0));
	run(quoit_cast(sum, square));
	EXPECT_FLOATS(sum, "gemm of halves", 4, 8, -3.5f, -7);
	run(quoit_fill(y, 0.5));
	run(quoit_gemm(sum, x, y, QUOIT_GEMM_TRANS_B, 1, 1));
	EXPECT_FLOATS(sum, "gemm of halves into f32", 5, 9, -4.375f, -7.875f);
	cr_expect_eq(quoit_read(c.q, y, halves, sizeof halves), 0);
	cr_expect_eq(halves[5], dtype == QUOIT_BF16 ? 0x3f00 : 0x3800);
}

/* So large that workers run it, in blocks and panels. */
static void check_large_halves(void)
{
	enum { N = 400 };
	quoit_tensor a = quoit_create_matrix(c.q, QUOIT_BF16, N, N),
		     b = quoit_create_matrix(c.q, QUOIT_BF16, N, N);
	quoit_tensor product = quoit_create_matrix(c.q, QUOIT_F32, N, N);
	uint16_t *halves = malloc(N * N * sizeof *halves);
	float *found = malloc(N * N * sizeof *found);

	for (unsigned i = 0; i < N * N; i++)
		halves[i] = quoit_bf16_from_float((float)(i / N % 7));
	cr_assert_eq(quoit_write(c.q, a, halves, N * N * sizeof *halves), 0);
	run(quoit_fill(b, 0.5));
	run(quoit_gemm(product, a, b, 0, 1, 0));
	cr_assert_eq(quoit_read(c.q, product, found, N * N * sizeof *found), 0);
	for (unsigned i = 0; i < N * N; i++)
		cr_assert_eq(found[i], (float)(i / N % 7) * 0.5f * N, "element %u is %g", i,
			     found[i]);
	free(halves);
	free(found);
}

static void check_files(void)
{
	char path[] = "/tmp/quoit-e2e-file-XXXXXX";
	int fd = mkstemp(path), file = quoit_add_file(c.s, fd);
	quoit_tensor x = floats(x_values), back = floats(y_values);

	unlink(path);
	cr_assert_geq(file, 0);
	run(quoit_write_file(x, file, 8));
	run(quoit_read_file(back, file, 8));
	EXPECT_FLOATS(back, "file", 1, -2, 3, 4, 0.25f, -6);
	cr_expect_eq(quoit_remove_file(c.s, file), 0);
	close(fd);
}

Test(ops_e2e, every_operation_of_the_table_does_what_its_line_says, .timeout = 60)
{
	static const struct {
		uint8_t number;
		const char *name, *flags;
	} operations[] = {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help)                  \
	{nr, #name, #flags},
#include <quoit/ops.def>
#undef QUOIT_OP
	};
	struct quoit_info info;

	client_open(&c, (const char *const[]){"--blas=auto", NULL}, NULL);
	quoit_get_info(c.s, &info);
	run(quoit_nop(0));
	check_moves();
	check_binary();
	check_unary();
	check_random();
	check_reductions();
	check_halves(QUOIT_BF16);
	check_halves(QUOIT_F16);
	check_large_halves();
	check_files();
	for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
		uint8_t number = operations[i].number;
		uint64_t bit = UINT64_C(1) << number % 64;
		bool control = !strcmp(operations[i].flags, "CONTROL");
		bool launch = !strcmp(operations[i].flags, "LAUNCH"); /* tested by test_kernels.c */
		bool held = !strcmp(operations[i].flags, "ACQUIRE") || /* by test_acquire.c */
			    !strcmp(operations[i].flags, "RELEASE");
		bool called = !strcmp(operations[i].flags, "CALL") || /* by test_team.c */
			      !strcmp(operations[i].flags, "RETURN");

		cr_expect(info.ops[number / 64] & bit, "operation %s is not offered",
			  operations[i].name);
		cr_expect(control || launch || held || called || seen[number / 64] & bit,
			  "operation %s is not checked", operations[i].name);
	}
	client_close(&c);
}

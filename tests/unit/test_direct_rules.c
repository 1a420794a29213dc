/* SPDX-License-Identifier: MIT */
/* test_direct_rules.c - which jobs GPU-direct mode takes */
#include <criterion/criterion.h>

#include "core_case.h"
#include "job/direct_rules.h"
#include "job/tensor.h"

#define H(index) CORE_HANDLE(index)
#define MOST     QUOIT_DIRECT_ELEMENTS
#define SIDE     QUOIT_DIRECT_SIDE

enum {
	ONE = 1, /* f32 1 x 2; others are f32, too, unless they say otherwise */
	ONE2,
	SCALAR,    /* 1 x 1 */
	MANY,      /* as many elements as are allowed, in a row */
	TOO_MANY,  /* one element more */
	NOTHING,   /* no elements */
	HALF,      /* bf16 */
	INDEX,     /* i64 1 x 1 */
	CONDITION, /* i32 */
	SQUARE,    /* SIDE x SIDE */
	SQUARE2,
	SQUARE3,
	THIN, /* 1 x (SIDE + 1) */
	DEEP, /* (SIDE + 1) x 1 */
	HOST,
	HOST2,
};

static struct session *session;

static void create(uint8_t device, uint32_t index, uint8_t dtype, uint32_t batch, uint32_t rows,
		   uint32_t columns)
{
	const struct quoit_sqe sqe = {.opcode = QUOIT_OP_CREATE,
				      .arg = dtype,
				      .device = device,
				      .base = {H(index)},
				      .dim = {1, batch, rows, columns}};
	struct fault fault;

	cr_assert_eq(tensor_create(session, &sqe, &fault), 0);
}

static void open_session(void)
{
	session = core_session(64);
	session->devices = 1;
	create(1, ONE, QUOIT_F32, 1, 1, 2);
	create(1, ONE2, QUOIT_F32, 1, 1, 2);
	create(1, SCALAR, QUOIT_F32, 1, 1, 1);
	create(1, MANY, QUOIT_F32, 1, 1, MOST);
	create(1, TOO_MANY, QUOIT_F32, 1, 1, MOST + 1);
	create(1, NOTHING, QUOIT_F32, 1, 0, 2);
	create(1, HALF, QUOIT_BF16, 1, 1, 2);
	create(1, INDEX, QUOIT_I64, 1, 1, 1);
	create(1, CONDITION, QUOIT_I32, 1, 1, 2);
	create(1, SQUARE, QUOIT_F32, 1, SIDE, SIDE);
	create(1, SQUARE2, QUOIT_F32, 1, SIDE, SIDE);
	create(1, SQUARE3, QUOIT_F32, 1, SIDE, SIDE);
	create(1, THIN, QUOIT_F32, 1, 1, SIDE + 1);
	create(1, DEEP, QUOIT_F32, 1, SIDE + 1, 1);
	create(0, HOST, QUOIT_F32, 1, 1, 2);
	create(0, HOST2, QUOIT_F32, 1, 1, 2);
}

static void close_session(void)
{
	core_session_free(session);
}

TestSuite(direct_rules, .init = open_session, .fini = close_session);

struct row {
	const char *what;
	struct quoit_sqe sqe;
	bool small;
};

#define JOB(op, ...)                                                                               \
	{                                                                                          \
		.opcode = QUOIT_OP_##op, __VA_ARGS__                                               \
	}
#define ON(...) .tensor = {__VA_ARGS__}

static const struct row rows[] = {
	{"two and two", JOB(ADD, ON(H(ONE), H(ONE), H(ONE2))), true},
	{"a scalar", JOB(MUL, .arg = QUOIT_EW_SCALAR, ON(H(ONE), H(ONE2))), true},
	{"broadcast", JOB(AXPBY, ON(H(ONE), H(ONE2), H(SCALAR))), true},
	{"a function", JOB(SIGMOID, ON(H(ONE), H(ONE2))), true},
	{"a comparison", JOB(COMPARE, ON(H(CONDITION), H(ONE), H(ONE2))), true},
	{"a choice", JOB(SELECT, ON(H(ONE), H(CONDITION), H(ONE), H(ONE2))), true},
	{"the most elements", JOB(FILL, ON(H(MANY))), true},
	{"one more", JOB(FILL, ON(H(TOO_MANY))), false},
	{"nothing", JOB(FILL, ON(H(NOTHING))), false},
	{"a half", JOB(FILL, ON(H(HALF))), false},
	{"within the device", JOB(COPY, ON(H(ONE), H(ONE2))), true},
	{"from the host", JOB(COPY, ON(H(ONE), H(HOST))), false},
	{"to the host", JOB(COPY, ON(H(HOST), H(ONE))), false},
	{"on the host", JOB(ADD, ON(H(HOST), H(HOST), H(HOST2))), false},
	{"a sum of many", JOB(SUM, .arg = QUOIT_AXIS_ALL, ON(H(SCALAR), H(MANY))), true},
	{"a sum of one more", JOB(SUM, .arg = QUOIT_AXIS_ALL, ON(H(SCALAR), H(TOO_MANY))), false},
	{"the largest of nothing", JOB(AMAX, .arg = QUOIT_AXIS_ALL, ON(H(SCALAR), H(NOTHING))),
	 false},
	{"a place", JOB(ARGMAX, .arg = QUOIT_AXIS_ALL, ON(H(INDEX), H(ONE))), true},
	{"the smallest", JOB(AMIN, .arg = QUOIT_AXIS_ALL, ON(H(SCALAR), H(ONE))), true},
	{"a place of the smallest", JOB(ARGMIN, .arg = QUOIT_AXIS_ALL, ON(H(INDEX), H(ONE))), true},
	{"factors", JOB(PROD, .arg = QUOIT_AXIS_ALL, ON(H(SCALAR), H(ONE))), true},
	{"a power", JOB(POW, .arg = QUOIT_EW_SCALAR, ON(H(ONE), H(ONE2))), true},
	{"an amount", JOB(ABS, ON(H(CONDITION), H(CONDITION))), true},
	{"rounded", JOB(FLOOR, ON(H(ONE), H(ONE2))), true},
	{"a loss", JOB(SQLOSS, ON(H(SCALAR), H(ONE), H(ONE2))), true},
	{"a product", JOB(GEMM, ON(H(SQUARE), H(SQUARE2), H(SQUARE3))), true},
	{"too deep", JOB(GEMM, ON(H(SCALAR), H(THIN), H(DEEP))), false},
	{"what may fail", JOB(GATHER, .arg = 3, ON(H(SCALAR), H(ONE), H(INDEX))), false},
	{"random numbers", JOB(NORMAL, ON(H(ONE))), false},
	{"a conversion", JOB(CAST, ON(H(ONE), H(CONDITION))), false},
	{"a wait", JOB(NOP, ON(H(ONE))), false},
};

static const struct {
	const char *what;
	uint8_t dtype;
	uint32_t c[QUOIT_MAX_DIMS], a[QUOIT_MAX_DIMS];
	bool small;
} products[] = {
	{"the largest", QUOIT_F32, {1, 1, SIDE, SIDE}, {1, 1, SIDE, SIDE}, true},
	{"of 64 bits", QUOIT_F64, {1, 1, SIDE, SIDE}, {1, 1, SIDE, SIDE}, true},
	{"of halves", QUOIT_BF16, {1, 1, 2, 2}, {1, 1, 2, 2}, false},
	{"one more row", QUOIT_F32, {1, 1, SIDE + 1, 1}, {1, 1, SIDE + 1, 1}, false},
	{"one more column", QUOIT_F32, {1, 1, 1, SIDE + 1}, {1, 1, 1, 1}, false},
	{"one more to sum", QUOIT_F32, {1, 1, 1, 1}, {1, 1, 1, SIDE + 1}, false},
	{"the same, turned", QUOIT_F32, {1, 1, 1, 1}, {1, 1, SIDE + 1, 1}, false},
	{"two at once", QUOIT_F32, {1, 2, 2, 2}, {1, 2, 2, 2}, false},
	{"two, of the outer dim", QUOIT_F32, {2, 1, 2, 2}, {2, 1, 2, 2}, false},
};

Test(direct_rules, small_jobs_that_cannot_fail_are_for_it)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct fault fault;
		struct plan plan;
		int err = validate_job(session, &rows[i].sqe, &plan, &fault);

		cr_assert_eq(err, 0, "%s: %d", rows[i].what, err);
		cr_expect_eq(direct_is_small(&plan), rows[i].small, "%s", rows[i].what);
	}
}

Test(direct_rules, products_are_small_up_to_a_side)
{
	for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
		cr_expect_eq(quoit_direct_product(products[i].c, products[i].a, products[i].dtype),
			     products[i].small, "%s", products[i].what);
}

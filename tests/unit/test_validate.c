/* SPDX-License-Identifier: MIT */
/*
 * test_validate.c - every word of a job's SQE: which are accepted, and which field a refusal names.
 */
#include <errno.h>
#include <string.h>

#include <criterion/criterion.h>

#include "core_case.h"
#include "job/tensor.h"

#define H(index) CORE_HANDLE(index)

/* The tensors of the rows below. */
enum {
	A = 1,   /* f32 1 1 4 6 */
	B,       /* the same shape */
	ROW,     /* f32 1 1 1 6 */
	COL,     /* f32 1 1 4 1 */
	ONE,     /* f32 1 1 1 1 */
	T,       /* f32 1 1 6 4 */
	K,       /* f32 1 1 4 0: no elements */
	DOUBLE,  /* f64 1 1 4 6 */
	INT,     /* i32 1 1 4 6 */
	INDEX,   /* i64 1 1 1 4 */
	SUM,     /* i64 1 1 1 1 */
	FLAT,    /* f32 1 1 1 24 */
	LOW,     /* FLAT[0, 12) */
	MIDDLE,  /* FLAT[6, 18) */
	HIGH,    /* FLAT[12, 24) */
	EVEN,    /* every second of FLAT */
	REVERSE, /* FLAT backwards */
	SAME,    /* FLAT[0, 12) once more */
	STILL,   /* FLAT[0] twelve times */
	SQUARE,  /* f32 1 1 4 4 */
	OTHER,   /* the same shape */
	DOT,     /* f32 1 1 1 1 */
	CHOICE,  /* i32 1 1 1 12 */
	WIDE,    /* f32 1 1 2^14 2^32 - 1: one element, by strides of 0 */
	BRAIN,   /* bf16 1 1 4 6 */
	HALF,    /* f16 1 1 4 6 */
	FREED,   /* freed */
};

static struct session *session;

static void open_session(void)
{
	struct fault fault;
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_VIEW,
				.base = {H(WIDE), H(FLAT)},
				.dim = {1, 1, 1u << 14, UINT32_MAX},
				.stride = {1}};

	session = core_session(64);
	core_create(session, A, QUOIT_F32, 1, 1, 4, 6);
	core_create(session, B, QUOIT_F32, 1, 1, 4, 6);
	core_create(session, ROW, QUOIT_F32, 1, 1, 1, 6);
	core_create(session, COL, QUOIT_F32, 1, 1, 4, 1);
	core_create(session, ONE, QUOIT_F32, 1, 1, 1, 1);
	core_create(session, T, QUOIT_F32, 1, 1, 6, 4);
	core_create(session, K, QUOIT_F32, 1, 1, 4, 0);
	core_create(session, DOUBLE, QUOIT_F64, 1, 1, 4, 6);
	core_create(session, INT, QUOIT_I32, 1, 1, 4, 6);
	core_create(session, INDEX, QUOIT_I64, 1, 1, 1, 4);
	core_create(session, SUM, QUOIT_I64, 1, 1, 1, 1);
	core_create(session, FLAT, QUOIT_F32, 1, 1, 1, 24);
	core_view(session, LOW, FLAT, 0, 12, 1);
	core_view(session, MIDDLE, FLAT, 6, 12, 1);
	core_view(session, HIGH, FLAT, 12, 12, 1);
	core_view(session, EVEN, FLAT, 0, 12, 2);
	core_view(session, REVERSE, FLAT, 23, 24, -1);
	core_view(session, SAME, FLAT, 0, 12, 1);
	core_view(session, STILL, FLAT, 0, 12, 0);
	core_create(session, SQUARE, QUOIT_F32, 1, 1, 4, 4);
	core_create(session, OTHER, QUOIT_F32, 1, 1, 4, 4);
	core_create(session, DOT, QUOIT_F32, 1, 1, 1, 1);
	core_create(session, CHOICE, QUOIT_I32, 1, 1, 1, 12);
	cr_assert_eq(tensor_view(session, &sqe, &fault), 0);
	core_create(session, BRAIN, QUOIT_BF16, 1, 1, 4, 6);
	core_create(session, HALF, QUOIT_F16, 1, 1, 4, 6);
	core_create(session, FREED, QUOIT_F32, 1, 1, 4, 6);
	sqe = (struct quoit_sqe){.opcode = QUOIT_OP_FREE, .base = {H(FREED)}};
	cr_assert_eq(tensor_free(session, &sqe, &fault), 0);
}

static void close_session(void)
{
	core_session_free(session);
}

TestSuite(validate, .init = open_session, .fini = close_session);

struct row {
	const char *what;
	struct quoit_sqe sqe;
	int err;
	uint8_t field; /* of a refusal */
};

static void check(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i];
		struct fault fault = {0};
		struct plan plan;
		int err = validate_job(session, &row->sqe, &plan, &fault);

		cr_expect_eq(err, row->err, "%s: %d", row->what, err);
		if (err) {
			cr_expect_eq(fault.code, err, "%s", row->what);
			cr_expect_eq(fault.field, row->field, "%s: field %d", row->what,
				     fault.field);
		}
	}
}

#define CHECK(rows) check(rows, sizeof rows / sizeof rows[0])

/* The words of one operation: its tensors, and other fields that are set. */
#define JOB(op, ...)                                                                               \
	{                                                                                          \
		.opcode = QUOIT_OP_##op, __VA_ARGS__                                               \
	}
#define ON(...)      .tensor = {__VA_ARGS__}
#define NONE         0
#define ADD_AND(...) JOB(ADD, ON(H(A), H(B), H(ROW)), __VA_ARGS__)

/* ---- words with one meaning for all operations ---- */

Test(validate, a_word_that_no_job_may_have_is_refused)
{
	static const struct row rows[] = {
		{"nothing unusual", ADD_AND(.user_data = UINT64_MAX), 0, 0},
		{"an operation that never was", {.opcode = 4}, -EINVAL, QUOIT_FIELD_OPCODE},
		{"the last number", {.opcode = 255}, -EINVAL, QUOIT_FIELD_OPCODE},
		{"sort, which is to come", {.opcode = QUOIT_OP_SORT}, -ENOTSUP, QUOIT_FIELD_OPCODE},
		{"scatter, which is to come",
		 {.opcode = QUOIT_OP_SCATTER},
		 -ENOTSUP,
		 QUOIT_FIELD_OPCODE},
		{"a module's number without a module",
		 {.opcode = QUOIT_OP_MODULE_FIRST},
		 -EINVAL,
		 QUOIT_FIELD_OPCODE},
		{"a control operation", {.opcode = QUOIT_OP_CREATE}, -EINVAL, QUOIT_FIELD_OPCODE},
		{"QUIET", ADD_AND(.flags = QUOIT_SQE_QUIET), 0, 0},
		{"a flag that is not", ADD_AND(.flags = 0x20), -EINVAL, QUOIT_FIELD_FLAGS},
		{"all flags", ADD_AND(.flags = 0xff), -EINVAL, QUOIT_FIELD_FLAGS},
		{"AFTER_ALL of no NOP", ADD_AND(.flags = QUOIT_SQE_AFTER_ALL), -EINVAL,
		 QUOIT_FIELD_FLAGS},
		{"AFTER_ALL of a NOP", {.flags = QUOIT_SQE_AFTER_ALL}, 0, 0},
		{"a device", ADD_AND(.device = 1), -ENODEV, QUOIT_FIELD_DEVICE},
		{"a reserved word", ADD_AND(.reserved0 = 1), -EINVAL, QUOIT_FIELD_RESERVED},
		{"a link", ADD_AND(.flags = QUOIT_SQE_LINK, .link = 1), 0, 0},
		{"a link to itself", ADD_AND(.flags = QUOIT_SQE_LINK), -EINVAL, QUOIT_FIELD_LINK},
		{"a link without the flag", ADD_AND(.link = 1), -EINVAL, QUOIT_FIELD_LINK},
		{"a link around the world", ADD_AND(.flags = QUOIT_SQE_LINK, .link = UINT32_MAX), 0,
		 0},
		{"no deadline", ADD_AND(.deadline = 0), 0, 0},
		{"the longest deadline", ADD_AND(.deadline = UINT32_MAX), 0, 0},
		{"the last priority", ADD_AND(.priority = QUOIT_PRIO_NR - 1), 0, 0},
		{"one priority more", ADD_AND(.priority = QUOIT_PRIO_NR), -EINVAL,
		 QUOIT_FIELD_PRIORITY},
		{"the first reserved byte", ADD_AND(.reserved = {1}), -EINVAL,
		 QUOIT_FIELD_RESERVED},
		{"the last reserved bit", ADD_AND(.reserved = {[3] = 0x80}), -EINVAL,
		 QUOIT_FIELD_RESERVED},
		{"a function", ADD_AND(.function = 1), -EINVAL, QUOIT_FIELD_RESERVED},
		{"a team", ADD_AND(.team = 1), -EINVAL, QUOIT_FIELD_RESERVED},
		{"an event's ring without the flag", ADD_AND(.event_ring = 1), -EINVAL,
		 QUOIT_FIELD_RESERVED},
		{"an event", ADD_AND(.flags = QUOIT_SQE_EVENT, .link = 7, .event_ring = 3), 0, 0},
		{"the first event", ADD_AND(.flags = QUOIT_SQE_EVENT), 0, 0},
		{"an event and a link",
		 ADD_AND(.flags = QUOIT_SQE_EVENT | QUOIT_SQE_LINK, .link = 1), -EINVAL,
		 QUOIT_FIELD_FLAGS},
	};

	CHECK(rows);
}

Test(validate, release_takes_the_number_of_an_acquire_and_nothing_else)
{
	static const struct row rows[] = {
		{"the largest", JOB(RELEASE, .scalar = {UINT32_MAX}), 0, 0},
		{"a larger one", JOB(RELEASE, .scalar = {UINT64_C(1) << 32}), -EINVAL,
		 QUOIT_FIELD_SCALAR0},
		{"a second one", JOB(RELEASE, .scalar = {1, 1}), -EINVAL, QUOIT_FIELD_SCALAR1},
		{"an argument", JOB(RELEASE, .arg = 1), -EINVAL, QUOIT_FIELD_ARG},
		{"a tensor", JOB(RELEASE, ON(H(A))), -EINVAL, QUOIT_FIELD_TENSOR0},
		{"a link", JOB(RELEASE, .flags = QUOIT_SQE_LINK, .link = 1), -EINVAL,
		 QUOIT_FIELD_FLAGS},
		{"a deadline", JOB(RELEASE, .deadline = 1), -EINVAL, QUOIT_FIELD_DEADLINE},
		{"a priority", JOB(RELEASE, .priority = 1), -EINVAL, QUOIT_FIELD_PRIORITY},
	};

	CHECK(rows);
}

Test(validate, a_handle_names_a_tensor_that_is_there_or_nothing)
{
	static const struct row rows[] = {
		{"no output", JOB(COPY, ON(NONE, H(A))), -EBADF, QUOIT_FIELD_TENSOR0},
		{"no input", JOB(COPY, ON(H(A))), -EBADF, QUOIT_FIELD_TENSOR1},
		{"one input too many", JOB(COPY, ON(H(A), H(B), H(B))), -EINVAL,
		 QUOIT_FIELD_TENSOR2},
		{"a fourth tensor", JOB(ADD, ON(H(A), H(B), H(B), H(B))), -EINVAL,
		 QUOIT_FIELD_TENSOR3},
		{"a freed tensor", JOB(COPY, ON(H(A), H(FREED))), -EBADF, QUOIT_FIELD_TENSOR1},
		{"an index never used", JOB(COPY, ON(H(A), H(63))), -EBADF, QUOIT_FIELD_TENSOR1},
		{"an index beyond the table", JOB(COPY, ON(H(A), H(64))), -EBADF,
		 QUOIT_FIELD_TENSOR1},
		{"the largest index", JOB(COPY, ON(H(A), UINT32_MAX)), -EBADF, QUOIT_FIELD_TENSOR1},
		{"another generation", JOB(COPY, ON(H(A), 2u << QUOIT_HANDLE_INDEX_BITS | B)),
		 -EBADF, QUOIT_FIELD_TENSOR1},
		{"no generation", JOB(COPY, ON(H(A), B)), -EBADF, QUOIT_FIELD_TENSOR1},
		{"index 0 with a generation", JOB(COPY, ON(H(A), H(0))), -EBADF,
		 QUOIT_FIELD_TENSOR1},
		{"a NOP on four tensors", JOB(NOP, ON(H(A), H(B), H(A), H(INT))), 0, 0},
		{"a NOP with an arg", JOB(NOP, ON(H(A)), .arg = 1), -EINVAL, QUOIT_FIELD_ARG},
		{"a NOP with a scalar", JOB(NOP, ON(H(A)), .scalar = {0, 1}), -EINVAL,
		 QUOIT_FIELD_SCALAR0},
	};

	CHECK(rows);
}

/* ---- each rule of shapes ---- */

Test(validate, element_wise_inputs_broadcast_to_the_output)
{
	static const struct row rows[] = {
		{"rows", JOB(ADD, ON(H(A), H(B), H(ROW))), 0, 0},
		{"columns", JOB(ADD, ON(H(A), H(COL), H(B))), 0, 0},
		{"one element", JOB(ADD, ON(H(A), H(ONE), H(ONE))), 0, 0},
		{"an output smaller than its input", JOB(COPY, ON(H(ROW), H(A))), -EINVAL,
		 QUOIT_FIELD_TENSOR1},
		{"other dims", JOB(ADD, ON(H(A), H(B), H(T))), -EINVAL, QUOIT_FIELD_TENSOR2},
		{"another type", JOB(COPY, ON(H(A), H(DOUBLE))), -EINVAL, QUOIT_FIELD_TENSOR1},
		{"nothing to nothing", JOB(COPY, ON(H(K), H(K))), 0, 0},
		{"much to nothing", JOB(COPY, ON(H(K), H(A))), -EINVAL, QUOIT_FIELD_TENSOR1},
		{"nothing", JOB(FILL, ON(H(K))), 0, 0},
		{"a scalar", JOB(ADD, ON(H(A), H(B)), .arg = QUOIT_EW_SCALAR), 0, 0},
		{"a scalar first",
		 JOB(SUB, ON(H(A), H(B)), .arg = QUOIT_EW_SCALAR | QUOIT_EW_REVERSE), 0, 0},
		{"a scalar and a tensor", JOB(ADD, ON(H(A), H(B), H(B)), .arg = QUOIT_EW_SCALAR),
		 -EINVAL, QUOIT_FIELD_TENSOR2},
		{"neither", JOB(ADD, ON(H(A), H(B))), -EINVAL, QUOIT_FIELD_TENSOR2},
		{"REVERSE alone", JOB(ADD, ON(H(A), H(B), H(B)), .arg = QUOIT_EW_REVERSE), -EINVAL,
		 QUOIT_FIELD_ARG},
		{"an arg that is not", JOB(ADD, ON(H(A), H(B), H(B)), .arg = 4), -EINVAL,
		 QUOIT_FIELD_ARG},
		{"an arg where there is none", JOB(FILL, ON(H(A)), .arg = 1), -EINVAL,
		 QUOIT_FIELD_ARG},
		{"an integer where only reals are", JOB(EXP, ON(H(INT), H(INT))), -ENOTSUP,
		 QUOIT_FIELD_TENSOR0},
		{"types that differ, to be cast", JOB(CAST, ON(H(INT), H(DOUBLE))), 0, 0},
		{"integers divided",
		 JOB(DIV, ON(H(INT), H(INT)), .arg = QUOIT_EW_SCALAR, .flags = QUOIT_SQE_INT), 0,
		 0},
	};

	CHECK(rows);
}

#define BY_INT(op, ...) JOB(op, .flags = QUOIT_SQE_INT, __VA_ARGS__)
#define SCALAR          .arg = QUOIT_EW_SCALAR
#define LESS            .arg = QUOIT_CMP_LT | QUOIT_CMP_SCALAR

Test(validate, a_scalar_is_of_the_kind_of_its_tensors)
{
	static const struct row rows[] = {
		{"reals filled", JOB(FILL, ON(H(A))), 0, 0},
		{"halves filled", JOB(FILL, ON(H(HALF))), 0, 0},
		{"integers filled", BY_INT(FILL, ON(H(INT))), 0, 0},
		{"integers filled with a real", JOB(FILL, ON(H(INT))), -EINVAL,
		 QUOIT_FIELD_SCALAR_KIND},
		{"reals filled with an integer", BY_INT(FILL, ON(H(A))), -EINVAL,
		 QUOIT_FIELD_SCALAR_KIND},
		{"halves filled with an integer", BY_INT(FILL, ON(H(BRAIN))), -EINVAL,
		 QUOIT_FIELD_SCALAR_KIND},
		{"an integer added", BY_INT(ADD, ON(H(INT), H(INT)), SCALAR), 0, 0},
		{"a real added to integers", JOB(ADD, ON(H(INT), H(INT)), SCALAR), -EINVAL,
		 QUOIT_FIELD_SCALAR_KIND},
		{"an integer added to reals", BY_INT(ADD, ON(H(A), H(B)), SCALAR), -EINVAL,
		 QUOIT_FIELD_SCALAR_KIND},
		{"integers combined", BY_INT(AXPBY, ON(H(INT), H(INT), H(INT))), 0, 0},
		{"integers combined by reals", JOB(AXPBY, ON(H(INT), H(INT), H(INT))), -EINVAL,
		 QUOIT_FIELD_SCALAR_KIND},
		{"reals combined by integers", BY_INT(AXPBY, ON(H(A), H(B), H(B))), -EINVAL,
		 QUOIT_FIELD_SCALAR_KIND},
		{"reals compared to a real", JOB(COMPARE, ON(H(INT), H(A)), LESS), 0, 0},
		{"integers compared to an integer", BY_INT(COMPARE, ON(H(INT), H(INT)), LESS), 0,
		 0},
		{"integers compared to a real", JOB(COMPARE, ON(H(INT), H(INT)), LESS), -EINVAL,
		 QUOIT_FIELD_SCALAR_KIND},
		{"reals compared to an integer", BY_INT(COMPARE, ON(H(INT), H(A)), LESS), -EINVAL,
		 QUOIT_FIELD_SCALAR_KIND},
		/* without a scalar, or with tensors of another kind */
		{"tensors", BY_INT(ADD, ON(H(INT), H(INT), H(INT))), -EINVAL, QUOIT_FIELD_FLAGS},
		{"a product", BY_INT(GEMM, ON(H(SQUARE), H(OTHER), H(OTHER))), -EINVAL,
		 QUOIT_FIELD_FLAGS},
		{"a roll", BY_INT(ROLL, ON(H(INT), H(INT)), .arg = 3), -EINVAL, QUOIT_FIELD_FLAGS},
		{"a NOP", BY_INT(NOP, ON(NONE)), -EINVAL, QUOIT_FIELD_FLAGS},
	};

	CHECK(rows);
}

Test(validate, operations_that_move_elements_have_their_dims)
{
	static const struct row rows[] = {
		{"transpose", JOB(TRANSPOSE, ON(H(T), H(A)), .arg = QUOIT_PERM(0, 1, 3, 2)), 0, 0},
		{"transpose to its own shape",
		 JOB(TRANSPOSE, ON(H(B), H(A)), .arg = QUOIT_PERM(0, 1, 3, 2)), -EINVAL,
		 QUOIT_FIELD_TENSOR0},
		{"no permutation", JOB(TRANSPOSE, ON(H(B), H(A)), .arg = QUOIT_PERM(0, 1, 2, 2)),
		 -EINVAL, QUOIT_FIELD_ARG},
		{"roll", JOB(ROLL, ON(H(B), H(A)), .arg = 3, .scalar = {UINT64_MAX}), 0, 0},
		{"roll along a fifth axis", JOB(ROLL, ON(H(B), H(A)), .arg = 4), -EINVAL,
		 QUOIT_FIELD_ARG},
		{"roll with broadcast", JOB(ROLL, ON(H(B), H(ROW)), .arg = 3), -EINVAL,
		 QUOIT_FIELD_TENSOR1},
		{"gather rows", JOB(GATHER, ON(H(B), H(A), H(INDEX)), .arg = 2), 0, 0},
		{"gather along a fifth axis", JOB(GATHER, ON(H(B), H(A), H(INDEX)), .arg = 4),
		 -EINVAL, QUOIT_FIELD_ARG},
		{"gather by reals", JOB(GATHER, ON(H(B), H(A), H(ROW)), .arg = 3), -EINVAL,
		 QUOIT_FIELD_TENSOR2},
		{"an index of two dims", JOB(GATHER, ON(H(B), H(A), H(INT)), .arg = 3), -EINVAL,
		 QUOIT_FIELD_TENSOR2},
		{"an index of another length", JOB(GATHER, ON(H(B), H(A), H(INDEX)), .arg = 3),
		 -EINVAL, QUOIT_FIELD_TENSOR0},
		{"select", JOB(SELECT, ON(H(A), H(INT), H(B), H(ROW))), 0, 0},
		{"select by reals", JOB(SELECT, ON(H(A), H(B), H(B), H(B))), -EINVAL,
		 QUOIT_FIELD_TENSOR1},
		{"compare", JOB(COMPARE, ON(H(INT), H(A), H(ROW)), .arg = QUOIT_CMP_GE), 0, 0},
		{"compare to reals", JOB(COMPARE, ON(H(A), H(A), H(B))), -EINVAL,
		 QUOIT_FIELD_TENSOR0},
		{"a predicate that is not",
		 JOB(COMPARE, ON(H(INT), H(A), H(B)), .arg = QUOIT_CMP_NR), -EINVAL,
		 QUOIT_FIELD_ARG},
		{"a predicate with unknown bits", JOB(COMPARE, ON(H(INT), H(A), H(B)), .arg = 0x20),
		 -EINVAL, QUOIT_FIELD_ARG},
		{"compare with a scalar",
		 JOB(COMPARE, ON(H(INT), H(A)), .arg = QUOIT_CMP_LT | QUOIT_CMP_SCALAR), 0, 0},
	};

	CHECK(rows);
}

Test(validate, halves_are_moved_converted_and_multiplied)
{
	static const struct row rows[] = {
		{"fill", JOB(FILL, ON(H(BRAIN))), 0, 0},
		{"copy to another type", JOB(COPY, ON(H(BRAIN), H(HALF))), -EINVAL,
		 QUOIT_FIELD_TENSOR1},
		{"cast of one to the other", JOB(CAST, ON(H(BRAIN), H(HALF))), 0, 0},
		{"cast to an integer", JOB(CAST, ON(H(INT), H(HALF))), 0, 0},
		{"select in place", JOB(SELECT, ON(H(HALF), H(INT), H(HALF), H(HALF))), 0, 0},
		{"an index of halves", JOB(GATHER, ON(H(ROW), H(A), H(HALF)), .arg = 3), -EINVAL,
		 QUOIT_FIELD_TENSOR2},
		{"a sum", JOB(ADD, ON(H(HALF), H(HALF), H(HALF))), -ENOTSUP, QUOIT_FIELD_TENSOR0},
		{"a half as input", JOB(EXP, ON(H(A), H(BRAIN))), -ENOTSUP, QUOIT_FIELD_TENSOR1},
		{"a comparison", JOB(COMPARE, ON(H(INT), H(HALF), H(HALF))), -ENOTSUP,
		 QUOIT_FIELD_TENSOR1},
		{"a reduction", JOB(AMAX, ON(H(HALF), H(HALF)), .arg = 3), -ENOTSUP,
		 QUOIT_FIELD_TENSOR0},
	};

	CHECK(rows);
}

Test(validate, products_and_reductions_have_their_dims)
{
	static const struct row rows[] = {
		{"gemm", JOB(GEMM, ON(H(A), H(FREED))), -EBADF, QUOIT_FIELD_TENSOR1},
		{"gemm of A and its transpose",
		 JOB(GEMM, ON(H(A), H(B), H(T)), .arg = QUOIT_GEMM_TRANS_A), -EINVAL,
		 QUOIT_FIELD_TENSOR1},
		{"gemm with nothing between", JOB(GEMM, ON(H(A), H(K), H(K))), -EINVAL,
		 QUOIT_FIELD_TENSOR2},
		{"a transpose that is not", JOB(GEMM, ON(H(A), H(B), H(T)), .arg = 8), -EINVAL,
		 QUOIT_FIELD_ARG},
		{"gemm that may use TF32",
		 JOB(GEMM, ON(H(SQUARE), H(A), H(B)), .arg = QUOIT_GEMM_TF32 | QUOIT_GEMM_TRANS_B),
		 0, 0},
		{"TF32 for doubles", JOB(GEMM, ON(H(DOUBLE), H(DOUBLE), H(DOUBLE)), .arg = 4),
		 -EINVAL, QUOIT_FIELD_ARG},
		{"TF32 for halves",
		 JOB(GEMM, ON(H(SQUARE), H(HALF), H(HALF)), .arg = 4 | QUOIT_GEMM_TRANS_B), -EINVAL,
		 QUOIT_FIELD_ARG},
		{"gemm of halves into f32",
		 JOB(GEMM, ON(H(SQUARE), H(HALF), H(HALF)), .arg = QUOIT_GEMM_TRANS_B), 0, 0},
		{"gemm of halves whose dims do not fit", JOB(GEMM, ON(H(HALF), H(HALF), H(HALF))),
		 -EINVAL, QUOIT_FIELD_TENSOR2},
		{"gemm of halves into doubles", JOB(GEMM, ON(H(DOUBLE), H(HALF), H(HALF))), -EINVAL,
		 QUOIT_FIELD_TENSOR1},
		{"gemm of one half into the other", JOB(GEMM, ON(H(BRAIN), H(HALF), H(HALF))),
		 -EINVAL, QUOIT_FIELD_TENSOR1},
		{"gemm of two halves", JOB(GEMM, ON(H(SQUARE), H(HALF), H(BRAIN))), -EINVAL,
		 QUOIT_FIELD_TENSOR2},
		{"gemm of floats into halves", JOB(GEMM, ON(H(HALF), H(A), H(B))), -EINVAL,
		 QUOIT_FIELD_TENSOR1},
		{"gemm of integers", JOB(GEMM, ON(H(INT), H(INT), H(INT))), -ENOTSUP,
		 QUOIT_FIELD_TENSOR0},
		{"gemm of two types", JOB(GEMM, ON(H(A), H(DOUBLE), H(B))), -EINVAL,
		 QUOIT_FIELD_TENSOR1},
		{"sum of rows", JOB(SUM, ON(H(COL), H(A)), .arg = 3), 0, 0},
		{"sum of columns", JOB(SUM, ON(H(ROW), H(A)), .arg = 2), 0, 0},
		{"sum of all", JOB(SUM, ON(H(ONE), H(A)), .arg = QUOIT_AXIS_ALL), 0, 0},
		{"sum along a fifth axis", JOB(SUM, ON(H(ONE), H(A)), .arg = 4), -EINVAL,
		 QUOIT_FIELD_ARG},
		{"sum to a shape that stays", JOB(SUM, ON(H(B), H(A)), .arg = 3), -EINVAL,
		 QUOIT_FIELD_TENSOR0},
		{"sum to another type", JOB(SUM, ON(H(SUM), H(A)), .arg = QUOIT_AXIS_ALL), -EINVAL,
		 QUOIT_FIELD_TENSOR0},
		{"mean of integers", JOB(MEAN, ON(H(ONE), H(INT)), .arg = QUOIT_AXIS_ALL), -ENOTSUP,
		 QUOIT_FIELD_TENSOR1},
		{"argmax", JOB(ARGMAX, ON(H(SUM), H(A)), .arg = QUOIT_AXIS_ALL), 0, 0},
		{"argmax to reals", JOB(ARGMAX, ON(H(ONE), H(A)), .arg = QUOIT_AXIS_ALL), -EINVAL,
		 QUOIT_FIELD_TENSOR0},
		{"loss", JOB(SQLOSS, ON(H(ONE), H(A), H(B))), 0, 0},
		{"loss that broadcasts", JOB(SQLOSS, ON(H(ONE), H(A), H(ROW))), -EINVAL,
		 QUOIT_FIELD_TENSOR2},
		{"loss of many elements", JOB(SQLOSS, ON(H(ROW), H(A), H(B))), -EINVAL,
		 QUOIT_FIELD_TENSOR0},
		{"a file that was not added", JOB(FILE_READ, ON(H(A)), .scalar = {0, 0}), -EBADF,
		 QUOIT_FIELD_FILE},
		{"a file beyond all files", JOB(FILE_WRITE, ON(H(A)), .scalar = {0, UINT64_MAX}),
		 -EBADF, QUOIT_FIELD_FILE},
	};

	CHECK(rows);
}

/* ---- overlaps ---- */

Test(validate, an_output_overlaps_an_input_only_where_elements_stay_apart)
{
	static const struct row rows[] = {
		{"in place", JOB(ADD, ON(H(A), H(A), H(A))), 0, 0},
		{"in place by two names", JOB(COPY, ON(H(LOW), H(SAME))), 0, 0},
		{"two halves", JOB(COPY, ON(H(LOW), H(HIGH))), 0, 0},
		{"two halves, the other way", JOB(COPY, ON(H(HIGH), H(LOW))), 0, 0},
		{"shifted by some", JOB(COPY, ON(H(MIDDLE), H(LOW))), -EINVAL, QUOIT_FIELD_TENSOR1},
		{"shifted by some, the other way", JOB(COPY, ON(H(LOW), H(MIDDLE))), -EINVAL,
		 QUOIT_FIELD_TENSOR1},
		{"backwards", JOB(COPY, ON(H(FLAT), H(REVERSE))), -EINVAL, QUOIT_FIELD_TENSOR1},
		{"every second, in its own bytes", JOB(COPY, ON(H(EVEN), H(LOW))), -EINVAL,
		 QUOIT_FIELD_TENSOR1},
		{"an output that steps nowhere", JOB(FILL, ON(H(STILL))), -EINVAL,
		 QUOIT_FIELD_STRIDE},
		{"an input that steps nowhere", JOB(COPY, ON(H(HIGH), H(STILL))), 0, 0},
		{"a sum into its input", JOB(SUM, ON(H(ONE), H(ONE)), .arg = QUOIT_AXIS_ALL),
		 -EINVAL, QUOIT_FIELD_TENSOR1},
		{"a roll in place", JOB(ROLL, ON(H(A), H(A)), .arg = 3), -EINVAL,
		 QUOIT_FIELD_TENSOR1},
		{"a product into its factor", JOB(GEMM, ON(H(ONE), H(ONE), H(ONE))), -EINVAL,
		 QUOIT_FIELD_TENSOR1},
		{"a product into its other factor", JOB(GEMM, ON(H(SQUARE), H(OTHER), H(SQUARE))),
		 -EINVAL, QUOIT_FIELD_TENSOR2},
		{"a transpose in place",
		 JOB(TRANSPOSE, ON(H(SQUARE), H(SQUARE)), .arg = QUOIT_PERM(0, 1, 3, 2)), -EINVAL,
		 QUOIT_FIELD_TENSOR1},
		{"a gather in place", JOB(GATHER, ON(H(SQUARE), H(SQUARE), H(INDEX)), .arg = 3),
		 -EINVAL, QUOIT_FIELD_TENSOR1},
		{"a cast in place", JOB(CAST, ON(H(A), H(A))), -EINVAL, QUOIT_FIELD_TENSOR1},
		{"a cast shifted by some", JOB(CAST, ON(H(LOW), H(MIDDLE))), -EINVAL,
		 QUOIT_FIELD_TENSOR1},
		{"a comparison in place", JOB(COMPARE, ON(H(INT), H(INT), H(INT))), 0, 0},
		{"a selection in place", JOB(SELECT, ON(H(INT), H(INT), H(INT), H(INT))), 0, 0},
		{"a selection from bytes shifted by some",
		 JOB(SELECT, ON(H(LOW), H(CHOICE), H(SAME), H(MIDDLE))), -EINVAL,
		 QUOIT_FIELD_TENSOR3},
		{"a mean into its input", JOB(MEAN, ON(H(ONE), H(ONE)), .arg = QUOIT_AXIS_ALL),
		 -EINVAL, QUOIT_FIELD_TENSOR1},
		{"a largest into its input", JOB(AMAX, ON(H(ONE), H(ONE)), .arg = QUOIT_AXIS_ALL),
		 -EINVAL, QUOIT_FIELD_TENSOR1},
		{"a place into its input", JOB(ARGMAX, ON(H(SUM), H(SUM)), .arg = QUOIT_AXIS_ALL),
		 -EINVAL, QUOIT_FIELD_TENSOR1},
		{"a norm into its input", JOB(SQNORM, ON(H(ONE), H(ONE)), .arg = QUOIT_AXIS_ALL),
		 -EINVAL, QUOIT_FIELD_TENSOR1},
		{"a loss into its only input", JOB(SQLOSS, ON(H(ONE), H(ONE), H(DOT))), 0, 0},
		{"a gradient into its input", JOB(SQLOSS, ON(H(ONE), H(A), H(B), H(A))), 0, 0},
		{"a gradient shifted by some", JOB(SQLOSS, ON(H(ONE), H(LOW), H(SAME), H(MIDDLE))),
		 -EINVAL, QUOIT_FIELD_TENSOR1},
		{"two outputs on the same bytes", JOB(SQLOSS, ON(H(ONE), H(ONE), H(ONE), H(ONE))),
		 -EINVAL, QUOIT_FIELD_TENSOR3},
	};

	CHECK(rows);
}

/* Every operation on tensors of one shape, and which of them it reads. */
static const struct {
	const char *name, *access, *shape;
	uint8_t opcode;
} operations[] = {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help)                  \
	{#name, access, #shape, nr},
#include <quoit/ops.def>
#undef QUOIT_OP
};

static void expect_overlap(const char *what, struct quoit_sqe sqe, unsigned input, uint32_t handle,
			   int err)
{
	struct fault fault = {0};
	struct plan plan;

	sqe.tensor[input] = handle;
	cr_expect_eq(validate_job(session, &sqe, &plan, &fault), err, "%s, input %u", what, input);
	if (err)
		cr_expect_eq(fault.field, QUOIT_FIELD_TENSOR0 + input, "%s: field %u", what,
			     fault.field);
}

Test(validate, every_element_wise_operation_runs_in_place_and_on_no_other_overlap)
{
	unsigned tried = 0;

	for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
		const char *access = operations[i].access, *what = operations[i].name;
		struct quoit_sqe sqe = {.opcode = operations[i].opcode, .tensor = {H(LOW)}};

		if (strcmp(operations[i].shape, "SAME") || access[1] == '-')
			continue;
		for (unsigned k = 1; k < 3 && access[k] != '-'; k++)
			sqe.tensor[k] = H(HIGH);
		for (unsigned k = 1; k < 3 && access[k] != '-'; k++) {
			expect_overlap(what, sqe, k, H(HIGH), 0);
			expect_overlap(what, sqe, k, H(SAME), 0);
			expect_overlap(what, sqe, k, H(MIDDLE), -EINVAL);
			expect_overlap(what, sqe, k, H(EVEN), -EINVAL);
			expect_overlap(what, sqe, k, H(STILL), -EINVAL);
		}
		tried++;
	}
	cr_expect_geq(tried, 17);
}

/* ---- the plan ---- */

static struct plan plan_of(const struct quoit_sqe sqe)
{
	struct fault fault;
	struct plan plan;

	cr_assert_eq(validate_job(session, &sqe, &plan, &fault), 0);
	return plan;
}

Test(validate, a_plan_says_what_is_read_and_written)
{
	struct plan plan = plan_of((struct quoit_sqe)JOB(ADD, ON(H(A), H(B), H(ROW))));

	cr_expect_eq(plan.tensors, 7);
	cr_expect_eq(plan.writes, 1);
	cr_expect_eq(plan.reads, 6);
	cr_expect_eq(plan.view[1], session_view(session, H(B)));
	cr_expect_eq(plan.elements, 24);
	plan = plan_of((struct quoit_sqe)JOB(GEMM, ON(H(SQUARE), H(A), H(T)), .scalar = {0, 1}));
	cr_expect_eq(plan.writes, 1);
	cr_expect_eq(plan.reads, 7, "beta reads the output");
}

Test(validate, a_product_without_beta_does_not_read_its_output)
{
	static const double zeros[] = {0.0, -0.0};

	for (unsigned i = 0; i < 2; i++) {
		struct quoit_sqe sqe = JOB(GEMM, ON(H(SQUARE), H(A), H(T)));

		memcpy(&sqe.scalar[1], &zeros[i], sizeof sqe.scalar[1]);
		cr_expect_eq(plan_of(sqe).reads, 6);
	}
}

/* Elements that are spread over many cache lines take far longer. */
Test(validate, cost_grows_with_the_way_between_elements)
{
	enum { N = 4096, SPREAD = 60 };
	uint64_t dense, column;

	core_create(session, SPREAD, QUOIT_F32, 1, 1, N, 256);
	core_view(session, SPREAD + 1, SPREAD, 0, N, 1);
	core_view(session, SPREAD + 2, SPREAD, 0, N, 256);
	dense = plan_of((struct quoit_sqe)JOB(FILL, ON(H(SPREAD + 1)))).cost;
	column = plan_of((struct quoit_sqe)JOB(FILL, ON(H(SPREAD + 2)))).cost;
	cr_expect_geq(column, 10 * dense, "%lu and %lu ns", column, dense);
}

/* Our own code computes twelve rows of 32 columns, and no BLAS takes such strides. */
Test(validate, a_small_product_of_long_rows_costs_what_a_block_does)
{
	enum { FAR = 50, LONG = 100000 };
	uint64_t cost;

	core_create(session, FAR, QUOIT_F32, 1, 1, 1, 1);
	core_view(session, FAR + 1, FAR, 0, LONG, 0);
	cost = plan_of((struct quoit_sqe)JOB(GEMM, ON(H(ONE), H(FAR + 1), H(FAR + 1)),
					     .arg = QUOIT_GEMM_TRANS_B))
		       .cost;
	cr_expect_geq(cost, LONG * UINT64_C(12) * 32 * 20 / 1000, "%lu ns", cost);
}

/* Such a tile could not be interrupted, not even when its client dies. */
Test(validate, a_piece_for_one_core_that_takes_long_is_refused_though_the_whole_is_not)
{
	enum { FAR = 50, LONG = 200000000 };
	struct quoit_sqe sqe =
		JOB(GEMM, ON(H(ONE), H(FAR + 1), H(FAR + 1)), .arg = QUOIT_GEMM_TRANS_B);
	struct fault fault;
	struct plan plan;

	core_create(session, FAR, QUOIT_F32, 1, 1, 1, 1);
	core_view(session, FAR + 1, FAR, 0, LONG, 0);
	core_view(session, FAR + 2, FAR, 0, 2 * LONG, 0);
	cr_expect_lt(plan_of(sqe).cost, VALIDATE_MAX_PIECE_NS);
	sqe.tensor[1] = sqe.tensor[2] = H(FAR + 2);
	cr_expect_eq(validate_job(session, &sqe, &plan, &fault), -E2BIG);
	cr_expect_eq(fault.value[1], VALIDATE_MAX_PIECE_NS);
}

Test(validate, cost_grows_with_the_work_and_an_absurd_job_is_refused)
{
	static const struct row rows[] = {
		{"a sum of 2^46 elements", JOB(SUM, ON(H(ONE), H(WIDE)), .arg = QUOIT_AXIS_ALL),
		 -E2BIG, QUOIT_FIELD_DIM},
	};

	cr_expect_eq(plan_of((struct quoit_sqe)JOB(FILL, ON(H(K)))).cost, 0);
	cr_expect_gt(plan_of((struct quoit_sqe)JOB(GEMM, ON(H(SQUARE), H(K), H(K)),
						   .arg = QUOIT_GEMM_TRANS_B))
			     .cost,
		     0, "without multiply-adds it is still written");
	cr_expect_leq(plan_of((struct quoit_sqe)JOB(FILL, ON(H(ROW)))).cost,
		      plan_of((struct quoit_sqe)JOB(FILL, ON(H(A)))).cost);
	CHECK(rows);
}

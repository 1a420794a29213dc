/* SPDX-License-Identifier: MIT */
/*
 * test_fast_elementwise.c - which jobs fast_elementwise.c takes, that the general path takes them,
 * too, and their results
 */
#include <criterion/criterion.h>

#include "core_case.h"
#include "job/fast_elementwise.h"
#include "job/tensor.h"
#include "job/validate.h"
#include "memory/memory.h"

#define H(index) CORE_HANDLE(index)

/* The tensors of the rows below. */
enum {
	OUT = 1, /* f32 1 1 2 3 */
	X,       /* the same, with bytes */
	Y,       /* the same, with bytes */
	EMPTY,   /* the same, without bytes */
	ROW,     /* f32 1 1 1 3, with bytes */
	FLAT,    /* f32 1 1 1 6, with bytes */
	DOUBLE,  /* f64 1 1 2 3, with bytes */
	INT,     /* i32 1 1 2 3, with bytes */
	INT_OUT, /* i32 1 1 2 3 */
	LONG,    /* f32, one element more than OP_SHORT */
	LONG_X,  /* the same, with bytes */
	PART,    /* FLAT[0, 3) */
	EVEN,    /* every second of FLAT */
	PART_X,  /* f32 1 1 1 3, with bytes */
};

static struct session *session;

static struct buffer *buffer_of(uint32_t index)
{
	return &session->buffers[core_view_of(session, index)->buffer];
}

static void create(uint32_t index, uint8_t dtype, uint32_t rows, uint32_t cols, bool bytes)
{
	core_create(session, index, dtype, 1, 1, rows, cols);
	if (bytes) {
		uint32_t view = session_view(session, H(index));

		cr_assert(memory_take_now(session, 1, &view));
		buffer_of(index)->zeroed = true;
	}
}

static void open_session(void)
{
	struct ops_choice choice;

	(void)ops_init("auto", &choice);
	session = core_session(64);
	create(OUT, QUOIT_F32, 2, 3, false);
	create(X, QUOIT_F32, 2, 3, true);
	create(Y, QUOIT_F32, 2, 3, true);
	create(EMPTY, QUOIT_F32, 2, 3, false);
	create(ROW, QUOIT_F32, 1, 3, true);
	create(FLAT, QUOIT_F32, 1, 6, true);
	create(DOUBLE, QUOIT_F64, 2, 3, true);
	create(INT, QUOIT_I32, 2, 3, true);
	create(INT_OUT, QUOIT_I32, 2, 3, false);
	create(LONG, QUOIT_F32, 1, OP_SHORT + 1, false);
	create(LONG_X, QUOIT_F32, 1, OP_SHORT + 1, true);
	core_view(session, PART, FLAT, 0, 3, 1);
	core_view(session, EVEN, FLAT, 0, 3, 2);
	create(PART_X, QUOIT_F32, 1, 3, true);
}

static void close_session(void)
{
	core_session_free(session);
}

TestSuite(small, .init = open_session, .fini = close_session);

/* The words of one operation: its tensors, and other fields that are set. */
#define JOB(op, t0, t1, t2, ...)                                                                   \
	{                                                                                          \
		.opcode = QUOIT_OP_##op, .tensor = {H(t0), H(t1), t2}, __VA_ARGS__                 \
	}
#define SCALAR .arg = QUOIT_EW_SCALAR

struct row {
	const char *what;
	struct quoit_sqe sqe;
	bool fits;
};

static const struct row rows[] = {
	{"two tensors", JOB(ADD, OUT, X, H(Y)), true},
	{"the same one twice", JOB(ADD, OUT, X, H(X)), true},
	{"a scalar", JOB(ADD, OUT, X, 0, SCALAR), true},
	{"a scalar in front", JOB(SUB, OUT, X, 0, .arg = QUOIT_EW_SCALAR | QUOIT_EW_REVERSE), true},
	{"one input", JOB(EXP, OUT, X, 0), true},
	{"two that must be", JOB(AXPBY, OUT, X, H(Y)), true},
	{"integers", JOB(ADD, INT_OUT, INT, 0, SCALAR, .flags = QUOIT_SQE_INT), true},
	{"integers and a double", JOB(ADD, INT_OUT, INT, 0, SCALAR), false},
	{"integers by doubles", JOB(AXPBY, INT_OUT, INT, H(INT)), false},
	{"an integer for doubles", JOB(ADD, OUT, X, 0, SCALAR, .flags = QUOIT_SQE_INT), false},
	{"an integer that is not there", JOB(ADD, INT_OUT, INT, H(INT), .flags = QUOIT_SQE_INT),
	 false},
	{"quietly", JOB(ADD, OUT, X, H(Y), .flags = QUOIT_SQE_QUIET), true},
	{"with a deadline", JOB(ADD, OUT, X, H(Y), .deadline = 1), true},

	{"a tensor and a scalar", JOB(ADD, OUT, X, H(Y), SCALAR), false},
	{"neither", JOB(ADD, OUT, X, 0), false},
	{"only reversed", JOB(ADD, OUT, X, 0, .arg = QUOIT_EW_REVERSE), false},
	{"reversed with two tensors", JOB(ADD, OUT, X, H(Y), .arg = QUOIT_EW_REVERSE), false},
	{"an unknown arg", JOB(ADD, OUT, X, 0, .arg = QUOIT_EW_SCALAR | 0x80), false},
	{"an arg where there is none", JOB(EXP, OUT, X, 0, SCALAR), false},
	{"a second input where there is none", JOB(EXP, OUT, X, H(Y)), false},
	{"a scalar where two must be", JOB(AXPBY, OUT, X, 0, SCALAR), false},
	{"a fourth tensor", JOB(ADD, OUT, X, 0, SCALAR, .word[1] = (uint64_t)H(Y) << 32), false},
	{"an output that is an input", JOB(ADD, X, X, H(Y)), false},
	{"an output that is the second input", JOB(ADD, Y, X, H(Y)), false},
	{"an input without bytes", JOB(ADD, OUT, EMPTY, H(X)), false},
	{"a second input without bytes", JOB(ADD, OUT, X, H(EMPTY)), false},
	{"broadcast", JOB(ADD, OUT, X, H(ROW)), false},
	{"other dims", JOB(ADD, OUT, FLAT, 0, SCALAR), false},
	{"another type", JOB(ADD, OUT, DOUBLE, 0, SCALAR), false},
	{"a type that the operation has not", JOB(EXP, INT_OUT, INT, 0), false},
	{"one element too many", JOB(ADD, LONG, LONG_X, 0, SCALAR), false},
	{"a part of a buffer", JOB(ADD, PART, PART_X, 0, SCALAR), false},
	{"gaps", JOB(ADD, PART_X, EVEN, 0, SCALAR), false},
	{"no such tensor", JOB(ADD, OUT, 50, 0, SCALAR), false},
	{"no tensor", {.opcode = QUOIT_OP_ADD, SCALAR, .tensor = {0, H(X)}}, false},
	{"an operation of another kind", JOB(COPY, OUT, X, 0), false},
	{"no operation", {.opcode = 250, .tensor = {H(OUT), H(X)}}, false},
	{"a link", JOB(ADD, OUT, X, H(Y), .flags = QUOIT_SQE_LINK, .link = 1), false},
	{"a link without its flag", JOB(ADD, OUT, X, H(Y), .link = 1), false},
	{"an event", JOB(ADD, OUT, X, H(Y), .flags = QUOIT_SQE_EVENT), false},
	{"a device", JOB(ADD, OUT, X, H(Y), .device = 1), false},
	{"a reserved word", JOB(ADD, OUT, X, H(Y), .reserved0 = 1), false},
	{"a priority", JOB(ADD, OUT, X, H(Y), .priority = QUOIT_PRIO_HIGH), false},
	{"a reserved byte", JOB(ADD, OUT, X, H(Y), .reserved = {0, 0, 0, 1}), false},
};

Test(small, takes_only_what_is_valid_and_usual)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct fast_elementwise_job job;
		struct fault fault;
		struct plan plan;

		cr_expect_eq(fast_elementwise_fits(session, &rows[i].sqe, &job), rows[i].fits, "%s",
			     rows[i].what);
		if (rows[i].fits)
			cr_expect_eq(validate_job(session, &rows[i].sqe, &plan, &fault), 0, "%s",
				     rows[i].what);
	}
}

static const struct quoit_sqe usual = JOB(ADD, OUT, X, H(Y));

/* Does another job that works on a buffer keep this one from the fast path? */
Test(small, leaves_buffers_that_somebody_uses_to_the_general_path)
{
	struct fast_elementwise_job job;

	buffer_of(X)->readers = 0;
	cr_expect(fast_elementwise_fits(session, &usual, &job), "readers of an input");
	buffer_of(X)->writers = 0;
	cr_expect_not(fast_elementwise_fits(session, &usual, &job), "a writer of an input");
	buffer_of(X)->writers = buffer_of(X)->readers = NIL;
	buffer_of(Y)->writers = 0;
	cr_expect_not(fast_elementwise_fits(session, &usual, &job), "a writer of the second input");
	buffer_of(Y)->writers = NIL;
	buffer_of(OUT)->readers = 0;
	cr_expect_not(fast_elementwise_fits(session, &usual, &job), "readers of the output");
	buffer_of(OUT)->readers = NIL;
	buffer_of(OUT)->writers = 0;
	cr_expect_not(fast_elementwise_fits(session, &usual, &job), "a writer of the output");
	buffer_of(OUT)->writers = NIL;
	session->any_poison = true;
	cr_expect_not(fast_elementwise_fits(session, &usual, &job), "poison anywhere");
}

static float *data_of(uint32_t index)
{
	return (float *)(buffer_data(session, buffer_of(index)) +
			 core_view_of(session, index)->offset);
}

Test(small, gives_the_output_its_bytes_and_runs)
{
	uint64_t cost = 0;

	for (int i = 0; i < 6; i++) {
		data_of(X)[i] = (float)i;
		data_of(Y)[i] = 10;
	}
	cr_assert(fast_elementwise_run(session, &usual, &cost));
	cr_expect(buffer_of(OUT)->reserved && buffer_of(OUT)->zeroed);
	for (int i = 0; i < 6; i++)
		cr_expect_eq(data_of(OUT)[i], (float)(10 + i));
}

Test(small, waits_its_turn_for_bytes)
{
	struct fast_elementwise_job job;
	uint64_t cost = 0;

	session->memory.head = 0; /* another job waits for bytes */
	cr_assert(fast_elementwise_fits(session, &usual, &job));
	cr_expect_not(fast_elementwise_run(session, &usual, &cost));
	cr_expect_not(buffer_of(OUT)->reserved);
	session->memory.head = NIL;
}

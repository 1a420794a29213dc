/* SPDX-License-Identifier: MIT */
/* test_validate_device.c - tensors on devices: which jobs, creates and views are let through */
#include <errno.h>

#include <criterion/criterion.h>

#include "core_case.h"
#include "session/tensor.h"

#define H(index)     CORE_HANDLE(index)
#define FIRST_DEVICE 3 /* executors before it are modules' */

enum {
	HOST = 1,  /* f32 1 1 4 6, as all that say nothing else */
	HOST2,     /* on the host, too */
	HOST_ROW,  /* 1 1 1 6 */
	HOST_FLAT, /* 1 1 1 24 */
	HOST_TURN, /* 1 1 6 4: columns of HOST */
	ONE,       /* on device 1 */
	ONE2,      /* there, too */
	ONE_ROW,   /* 1 1 1 6 there */
	ONE_TURN,  /* 1 1 6 4: columns of ONE */
	ONE_INDEX, /* i32 1 1 4 6 there */
	TWO,       /* on device 2 */
	TWO2,      /* there, too */
	TWO_ROW,   /* 1 1 1 6 there */
	TWO_TURN,  /* 1 1 6 4: columns of TWO */
	NEW,
};

static struct session *session;

static void create_on(uint8_t device, uint32_t index, uint8_t dtype, uint32_t rows,
		      uint32_t columns)
{
	const struct quoit_sqe sqe = {.opcode = QUOIT_OP_CREATE,
				      .arg = dtype,
				      .device = device,
				      .base = {H(index)},
				      .dim = {1, 1, rows, columns}};
	struct fault fault;

	cr_assert_eq(tensor_create(session, &sqe, &fault), 0);
}

static void turn(uint32_t index, uint32_t base)
{
	const struct quoit_sqe sqe = {.opcode = QUOIT_OP_VIEW,
				      .base = {H(index), H(base)},
				      .dim = {1, 1, 6, 4},
				      .stride = {1, 1, 1, 6}};
	struct fault fault;

	cr_assert_eq(tensor_view(session, &sqe, &fault), 0);
}

static void open_session(void)
{
	session = core_session(64);
	session->devices = 2;
	session->first_device = FIRST_DEVICE;
	create_on(0, HOST, QUOIT_F32, 4, 6);
	create_on(0, HOST2, QUOIT_F32, 4, 6);
	create_on(0, HOST_ROW, QUOIT_F32, 1, 6);
	create_on(0, HOST_FLAT, QUOIT_F32, 1, 24);
	turn(HOST_TURN, HOST);
	create_on(1, ONE, QUOIT_F32, 4, 6);
	create_on(1, ONE2, QUOIT_F32, 4, 6);
	create_on(1, ONE_ROW, QUOIT_F32, 1, 6);
	turn(ONE_TURN, ONE);
	create_on(1, ONE_INDEX, QUOIT_I32, 4, 6);
	create_on(2, TWO, QUOIT_F32, 4, 6);
	create_on(2, TWO2, QUOIT_F32, 4, 6);
	create_on(2, TWO_ROW, QUOIT_F32, 1, 6);
	turn(TWO_TURN, TWO);
}

static void close_session(void)
{
	core_session_free(session);
}

TestSuite(validate_device, .init = open_session, .fini = close_session);

/* ---- jobs ---- */

struct row {
	const char *what;
	struct quoit_sqe sqe;
	int err;
	uint8_t field;    /* of a refusal */
	uint8_t executor; /* of what is let through */
};

#define JOB(op, ...)                                                                               \
	{                                                                                          \
		.opcode = QUOIT_OP_##op, __VA_ARGS__                                               \
	}
#define ON(...)              .tensor = {__VA_ARGS__}
#define RUNS(on)             0, 0, (on)
#define REFUSED(code, field) -code, QUOIT_FIELD_##field, 0

#define DEVICE1 FIRST_DEVICE
#define DEVICE2 (FIRST_DEVICE + 1)

static const struct row rows[] = {
	/* where all are */
	{"on the host", JOB(ADD, ON(H(HOST), H(HOST), H(HOST2))), RUNS(NO_EXECUTOR)},
	{"on the first", JOB(ADD, ON(H(ONE), H(ONE), H(ONE2))), RUNS(DEVICE1)},
	{"on the second", JOB(ADD, ON(H(TWO), H(TWO), H(TWO2))), RUNS(DEVICE2)},
	{"broadcast there", JOB(ADD, ON(H(ONE), H(ONE2), H(ONE_ROW))), RUNS(DEVICE1)},
	{"with a scalar", JOB(ADD, .arg = QUOIT_EW_SCALAR, ON(H(TWO), H(TWO))), RUNS(DEVICE2)},
	{"not dense", JOB(FILL, ON(H(ONE_TURN))), RUNS(DEVICE1)},
	{"in the wrong shape", JOB(ADD, ON(H(ONE_ROW), H(ONE), H(ONE2))), REFUSED(EINVAL, TENSOR1)},
	/* some elsewhere */
	{"output on the host", JOB(ADD, ON(H(HOST), H(ONE), H(ONE2))), REFUSED(EXDEV, TENSOR0)},
	{"input on the host", JOB(ADD, ON(H(ONE), H(HOST), H(ONE2))), REFUSED(EXDEV, TENSOR1)},
	{"last input on the host", JOB(ADD, ON(H(ONE), H(ONE2), H(HOST))), REFUSED(EXDEV, TENSOR2)},
	{"on both devices", JOB(ADD, ON(H(ONE), H(ONE2), H(TWO))), REFUSED(EXDEV, TENSOR0)},
	{"everywhere", JOB(ADD, ON(H(HOST), H(ONE), H(TWO))), REFUSED(EXDEV, TENSOR0)},
	{"a cast to the host", JOB(CAST, ON(H(HOST), H(ONE_INDEX))), REFUSED(EXDEV, TENSOR0)},
	/* copies */
	{"there", JOB(COPY, ON(H(ONE), H(HOST))), RUNS(DEVICE1)},
	{"and back", JOB(COPY, ON(H(HOST), H(TWO))), RUNS(DEVICE2)},
	{"within", JOB(COPY, ON(H(ONE), H(ONE2))), RUNS(DEVICE1)},
	{"broadcast within", JOB(COPY, ON(H(ONE), H(ONE_ROW))), RUNS(DEVICE1)},
	{"from one to the other", JOB(COPY, ON(H(TWO), H(ONE))), RUNS(BRIDGE_EXECUTOR)},
	{"of a row of it", JOB(COPY, ON(H(ONE_ROW), H(TWO_ROW))), RUNS(BRIDGE_EXECUTOR)},
	{"broadcast to the other", JOB(COPY, ON(H(TWO), H(ONE_ROW))), REFUSED(ENOTSUP, TENSOR1)},
	{"columns to columns", JOB(COPY, ON(H(TWO_TURN), H(ONE_TURN))), REFUSED(ENOTSUP, STRIDE)},
	{"cast to the other", JOB(CAST, ON(H(TWO), H(ONE_INDEX))), REFUSED(EXDEV, TENSOR0)},
	{"there, broadcast", JOB(COPY, ON(H(ONE), H(HOST_ROW))), REFUSED(ENOTSUP, TENSOR1)},
	{"there, of another shape", JOB(COPY, ON(H(ONE), H(HOST_FLAT))), REFUSED(EINVAL, TENSOR1)},
	{"to columns there", JOB(COPY, ON(H(ONE_TURN), H(HOST_TURN))), REFUSED(ENOTSUP, STRIDE)},
	{"from columns there", JOB(COPY, ON(H(HOST_TURN), H(ONE_TURN))), REFUSED(ENOTSUP, STRIDE)},
	{"of another type", JOB(COPY, ON(H(HOST), H(ONE_INDEX))), REFUSED(EINVAL, TENSOR1)},
	/* who only waits, and who is elsewhere */
	{"a NOP on everything", JOB(NOP, ON(H(HOST), H(ONE), H(TWO), H(ONE2))), RUNS(NO_EXECUTOR)},
	{"a file", JOB(FILE_WRITE, ON(H(ONE))), REFUSED(ENOTSUP, TENSOR0)},
	{"a device in a job's SQE", JOB(ADD, .device = 1, ON(H(ONE), H(ONE), H(ONE2))),
	 REFUSED(ENODEV, DEVICE)},
};

Test(validate_device, a_job_runs_where_its_tensors_are_or_is_refused)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct row *row = &rows[i];
		struct fault fault = {0};
		struct plan plan;
		int err = validate_job(session, &row->sqe, &plan, &fault);

		cr_expect_eq(err, row->err, "%s: %d, field %u", row->what, err, fault.field);
		if (err)
			cr_expect_eq(fault.field, row->field, "%s: field %u", row->what,
				     fault.field);
		else
			cr_expect_eq(plan.executor, row->executor, "%s: by %u", row->what,
				     plan.executor);
	}
}

Test(validate_device, a_plan_says_which_tensors_are_there)
{
	static const struct {
		struct quoit_sqe sqe;
		uint8_t on_device;
	} plans[] = {
		{JOB(ADD, ON(H(HOST), H(HOST), H(HOST2))), 0},
		{JOB(ADD, ON(H(ONE), H(ONE), H(ONE2))), 7},
		{JOB(COPY, ON(H(ONE), H(HOST))), 1},
		{JOB(COPY, ON(H(HOST), H(ONE))), 2},
		{JOB(NOP, ON(H(HOST), H(ONE), H(HOST2), H(TWO))), 10},
	};

	for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
		struct fault fault;
		struct plan plan;

		cr_assert_eq(validate_job(session, &plans[i].sqe, &plan, &fault), 0);
		cr_expect_eq(plan.on_device, plans[i].on_device, "plan %zu: %u", i, plan.on_device);
	}
}

/* ---- creates and views ---- */

#define CREATE(...)                                                                                \
	{                                                                                          \
		.opcode = QUOIT_OP_CREATE, .base = {H(NEW)}, .dim = {1, 1, 2, 5}, __VA_ARGS__      \
	}

Test(validate_device, a_create_names_a_device_that_is_there)
{
	static const struct row creates[] = {
		{"the first", CREATE(.device = 1), 0, 0, 1},
		{"the last", CREATE(.device = 2), 0, 0, 2},
		{"quietly", CREATE(.device = 2, .flags = QUOIT_SQE_QUIET), 0, 0, 2},
		{"with strides", CREATE(.device = 1, .stride = {1, 1, 1, 2}), 0, 0, 1},
		{"one more", CREATE(.device = 3), REFUSED(ENODEV, DEVICE)},
		{"the last number", CREATE(.device = UINT8_MAX), REFUSED(ENODEV, DEVICE)},
		{"pinned there", CREATE(.device = 1, .arg = QUOIT_CREATE_PINNED),
		 REFUSED(EINVAL, ARG)},
		{"in the arena there", CREATE(.device = 1, .arg = QUOIT_CREATE_ARENA),
		 REFUSED(EINVAL, ARG)},
		{"at an offset there", CREATE(.device = 1, .offset = 4), REFUSED(EINVAL, OFFSET)},
	};

	for (size_t i = 0; i < sizeof creates / sizeof creates[0]; i++) {
		const struct row *row = &creates[i];
		struct fault fault = {0};
		struct view view;
		int err = validate_create(session, &row->sqe, &view, &fault);

		cr_expect_eq(err, row->err, "%s: %d", row->what, err);
		if (err)
			cr_expect_eq(fault.field, row->field, "%s: field %u", row->what,
				     fault.field);
		else
			cr_expect(view.device == row->executor && !view.plain, "%s", row->what);
	}
}

Test(validate_device, a_view_is_where_its_buffer_is)
{
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_VIEW,
				.base = {H(NEW), H(TWO)},
				.dim = {1, 1, 2, 6},
				.stride = {1, 1, 6, 1}};
	struct fault fault;
	struct view view;

	cr_assert_eq(validate_view(session, &sqe, &view, &fault), 0);
	cr_expect(view.device == 2 && view.dense && !view.plain);
	sqe.device = 2; /* it is not for the client to say */
	cr_expect_eq(validate_view(session, &sqe, &view, &fault), -EINVAL);
	cr_expect_eq(fault.field, QUOIT_FIELD_DEVICE);
}

/* What runs here and now looks for bytes of ours. */
Test(validate_device, a_buffer_there_counts_against_its_device_alone)
{
	const struct buffer *b = &session->buffers[core_view_of(session, ONE)->buffer];

	cr_expect(b->place == PLACE_DEVICE && b->device == 1 && !b->reserved);
	cr_expect_eq(session->memory.used, session->memory.fixed);
	cr_expect_eq(session->device[0].used, 0);
}

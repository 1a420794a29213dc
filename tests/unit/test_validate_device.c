/* SPDX-License-Identifier: MIT */
/* test_validate_device.c - tensors on devices: which jobs, creates and views are accepted */
#include <errno.h>

#include <criterion/criterion.h>

#include <quoit/device.h>

#include "core_case.h"
#include "job/tensor.h"

#define H(index)     CORE_HANDLE(index)
#define FIRST_DEVICE 3 /* executors before it are modules' */

enum {
	HOST = 1,  /* f32 1 1 4 6; others are f32 1 1 4 6, too, unless they say otherwise */
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
	uint8_t executor; /* of an accepted job */
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
	/* all in one place */
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
	/* jobs that only wait; tensors that are elsewhere */
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

/* ---- how long a job may take on a device ---- */

#define US       UINT64_C(1000)
#define MS       (1000 * US)
#define FLAGS(x) (QUOIT_DEVICE_##x)

struct product {
	const char *what;
	uint32_t units, flags; /* of the device */
	uint64_t most_ns;
	uint8_t dtype;
	/* false: its factors repeat one element, so that they can have any size in four bytes */
	bool dense;
	uint32_t size, inner;
	int err;
};

static const struct product products[] = {
	{"0.8 s of a core", 2, FLAGS(HOST), 1000 * MS, QUOIT_F32, false, 512, 150000, 0},
	{"1.3 s of a core", 2, FLAGS(HOST), 1000 * MS, QUOIT_F32, false, 512, 250000, -E2BIG},
	{"more units", 40, 0, 1000 * MS, QUOIT_F32, false, 512, 600000, 0},
	{"too much for them", 40, 0, 1000 * MS, QUOIT_F32, false, 512, 1000000, -E2BIG},
	{"still more", 132, 0, 1000 * MS, QUOIT_F32, false, 512, 2000000, 0},
	{"no words for the library", 132, FLAGS(BLAS), 1000 * MS, QUOIT_F32, false, 512, 4000000,
	 -E2BIG},
	{"ten minutes of a core", 132, FLAGS(BLAS) | FLAGS(DOUBLES), 7500 * MS, QUOIT_F32, false,
	 1024, 1800000000, -E2BIG},
	{"dense, no library", 40, 0, 100 * US, QUOIT_F32, true, 512, 512, -E2BIG},
	{"dense, with one", 40, FLAGS(BLAS), 100 * US, QUOIT_F32, true, 512, 512, 0},
	{"doubles are slow", 40, FLAGS(BLAS), 100 * US, QUOIT_F64, true, 512, 512, -E2BIG},
	{"doubles are fast", 40, FLAGS(BLAS) | FLAGS(DOUBLES), 100 * US, QUOIT_F64, true, 512, 512,
	 0},
	{"halves need the library less", 40, FLAGS(BLAS), 20 * US, QUOIT_BF16, true, 512, 512, 0},
	{"one tile keeps one unit busy", 132, 0, 50 * MS, QUOIT_F32, false, 1, 1000000, -E2BIG},
};

static void view_of(uint32_t index, uint32_t base, uint32_t height, uint32_t width)
{
	const struct quoit_sqe sqe = {.opcode = QUOIT_OP_VIEW,
				      .base = {H(index), H(base)},
				      .dim = {1, 1, height, width},
				      .stride = {1}}; /* one element for all */
	struct fault fault;

	cr_assert_eq(tensor_view(session, &sqe, &fault), 0);
}

static void make_factors(const struct product *p)
{
	create_on(1, NEW, p->dtype, p->size, p->size);
	if (p->dense) {
		create_on(1, NEW + 1, p->dtype, p->size, p->inner);
		create_on(1, NEW + 2, p->dtype, p->inner, p->size);
	} else {
		create_on(1, NEW + 3, p->dtype, 1, 1);
		view_of(NEW + 1, NEW + 3, p->size, p->inner);
		view_of(NEW + 2, NEW + 3, p->inner, p->size);
	}
}

Test(validate_device, a_job_that_would_have_it_for_too_long_is_refused)
{
	const struct quoit_sqe sqe = JOB(GEMM, ON(H(NEW), H(NEW + 1), H(NEW + 2)));

	for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
		const struct product *p = &products[i];
		struct fault fault = {0};
		struct plan plan;

		close_session();
		open_session();
		session->device_job_ns = p->most_ns;
		session->device[0].speed = (struct device_speed){p->units, p->flags};
		make_factors(p);
		cr_expect_eq(validate_job(session, &sqe, &plan, &fault), p->err, "%s", p->what);
		if (p->err) {
			cr_expect_eq(fault.field, QUOIT_FIELD_DIM, "%s", p->what);
			cr_expect_gt(fault.value[0], p->most_ns, "%s", p->what);
			cr_expect_eq(fault.value[1], p->most_ns, "%s", p->what);
		}
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
	sqe.device = 2; /* a client may not choose that */
	cr_expect_eq(validate_view(session, &sqe, &view, &fault), -EINVAL);
	cr_expect_eq(fault.field, QUOIT_FIELD_DEVICE);
}

/* A job that runs here and now needs bytes of the host. */
Test(validate_device, a_buffer_there_counts_against_its_device_alone)
{
	const struct buffer *b = &session->buffers[core_view_of(session, ONE)->buffer];

	cr_expect(b->place == PLACE_DEVICE && b->device == 1 && !b->reserved);
	cr_expect_eq(session->memory.used, session->memory.fixed);
	cr_expect_eq(session->device[0].used, 0);
}

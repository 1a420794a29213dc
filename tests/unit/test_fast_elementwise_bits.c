/* SPDX-License-Identifier: MIT */
/* test_fast_elementwise_bits.c - short jobs have the same bits by the fast and the general path */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>

#include "backend/cpu/backend_cpu.h"
#include "core_case.h"
#include "job/fast_elementwise.h"
#include "job/validate.h"
#include "memory/memory.h"
#include "ops_reference.h"

#define FORMS 8u /* of OPTABLE_FORM */

/* The tensors of a job: their handles' indices. */
enum { OUT = 1, X, Y };

/* Lengths around those of vectors, as shapes; the last one is as long as a short job may be. */
static const uint32_t shapes[][QUOIT_MAX_DIMS] = {
	{1, 1, 1, 1},  {1, 1, 2, 1},  {1, 3, 1, 1},  {1, 1, 1, 7}, {2, 2, 2, 2},
	{1, 1, 1, 17}, {3, 1, 1, 11}, {1, 1, 2, 31}, {1, 1, 8, 8}, {1, 1, 1, OP_SHORT},
};

/* All are unlike each other, so that an exchange of two operands changes some result. */
static const double values[] = {2.5,  -1.25, 0.0,  -0.0,      3.0, NAN, INFINITY,
				-7.5, 1e-3,  40.0, -INFINITY, 0.5, 1.0};
static const double scalars[][2] = {{3, -2}, {-0.5, 7}, {0, 1}};

static void fill(uint8_t dtype, void *data, uint32_t elements, uint32_t first)
{
	uint32_t count = sizeof values / sizeof values[0];

	for (uint32_t i = 0; i < elements; i++) {
		int64_t integer = (int64_t)(i * 37 + first * 11) % 101 - 50;

		if (ops_is_float(dtype))
			ops_store_f(dtype, (char *)data + (size_t)i * op_dtype_size(dtype),
				    values[(i * 5 + first) % count] + first);
		else if (dtype == QUOIT_I32)
			((int32_t *)data)[i] = (int32_t)integer;
		else
			((int64_t *)data)[i] = integer * (INT64_C(1) << 33) + 5;
	}
}

static void *data_of(struct session *s, uint32_t index)
{
	return buffer_data(s, &s->buffers[core_view_of(s, index)->buffer]);
}

static struct session *session_of(uint8_t dtype, const uint32_t dim[QUOIT_MAX_DIMS])
{
	struct session *s = core_session(64);

	for (uint32_t i = OUT; i <= Y; i++) {
		uint32_t view;

		core_create(s, i, dtype, dim[0], dim[1], dim[2], dim[3]);
		view = session_view(s, CORE_HANDLE(i));
		cr_assert(memory_take_now(s, 1, &view));
		s->buffers[core_view_of(s, i)->buffer].zeroed = true;
		fill(dtype, data_of(s, i), (uint32_t)core_view_of(s, i)->elements, i);
	}
	return s;
}

static struct quoit_sqe job_of(uint8_t opcode, unsigned form, uint8_t dtype, const double scalar[2])
{
	const struct op_row *row = optable_row(opcode);
	struct quoit_sqe sqe = {
		.opcode = opcode,
		.arg = form & 3,
		.flags = QUOIT_SQE_QUIET,
		.tensor = {CORE_HANDLE(OUT), CORE_HANDLE(X), form >> 2 ? CORE_HANDLE(Y) : 0}};
	bool integer = QUOIT_TYPES_I >> dtype & 1 && row->scalar_forms >> form & 1;

	if (integer)
		sqe.flags |= QUOIT_SQE_INT;
	for (unsigned i = 0; i < 2; i++) {
		union {
			double f;
			int64_t i;
			uint64_t u;
		} word = {.f = scalar[i]};

		if (integer)
			word.i = (int64_t)(scalar[i] * 3);
		if ((row->scalar_forms >> form & 1) && (i == 0 || row->scalar_arg == UINT8_MAX))
			sqe.scalar[i] = word.u;
	}
	return sqe;
}

/* Which of two NaNs an operation keeps is the compiler's choice. */
static bool is_same(uint8_t dtype, const char *a, const char *b)
{
	return memcmp(a, b, op_dtype_size(dtype)) == 0 ||
	       (ops_is_float(dtype) && isnan(ops_load_f(dtype, a)) && isnan(ops_load_f(dtype, b)));
}

static void compare(struct session *s, const struct quoit_sqe *sqe)
{
	static char fast[OP_SHORT * sizeof(double)];
	const struct view *out = core_view_of(s, OUT);
	size_t size = op_dtype_size(out->dtype);
	uint64_t cost = 0;
	struct quoit_error error;
	struct fault fault;
	struct plan plan;

	cr_assert_eq(validate_job(s, sqe, &plan, &fault), 0, "%s, arg %u, type %u",
		     optable_row(sqe->opcode)->name, sqe->arg, out->dtype);
	memset(data_of(s, OUT), 0x5a, out->elements * size);
	cr_assert(fast_elementwise_run(s, sqe, &cost), "%s, arg %u, type %u: it is not short",
		  optable_row(sqe->opcode)->name, sqe->arg, out->dtype);
	memcpy(fast, data_of(s, OUT), out->elements * size);
	memset(data_of(s, OUT), 0xa5, out->elements * size);
	cr_assert_eq(cpu_run(s, sqe, plan.tensors, plan.view, 0, &error), 0);
	for (size_t i = 0; i < out->elements; i++)
		cr_assert(is_same(out->dtype, fast + i * size, (char *)data_of(s, OUT) + i * size),
			  "%s, arg %u, type %u, %u elements: element %zu differs",
			  optable_row(sqe->opcode)->name, sqe->arg, out->dtype,
			  (unsigned)out->elements, i);
}

/* Every short form of every operation of a type, and how many there were. */
static unsigned compare_all(uint8_t dtype, const uint32_t dim[QUOIT_MAX_DIMS])
{
	struct session *s = session_of(dtype, dim);
	unsigned jobs = 0;

	for (unsigned opcode = 0; opcode < QUOIT_OP_NR; opcode++)
		for (unsigned form = 0; form < FORMS; form++)
			for (unsigned i = 0; i < sizeof scalars / sizeof scalars[0]; i++) {
				const struct op_row *row = optable_row((uint8_t)opcode);
				struct quoit_sqe sqe =
					job_of((uint8_t)opcode, form, dtype, scalars[i]);

				if (!(row->short_forms >> form & 1) || !(row->types >> dtype & 1))
					continue;
				compare(s, &sqe);
				jobs++;
			}
	core_session_free(s);
	return jobs;
}

Test(fast_elementwise, gives_the_bits_of_the_general_path_for_all_operations_types_and_shapes)
{
	struct ops_choice choice;
	unsigned jobs = 0;

	(void)ops_init("auto", &choice);
	for (uint8_t dtype = 0; dtype < QUOIT_DTYPE_NR; dtype++)
		for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
			jobs += compare_all(dtype, shapes[i]);
	cr_log_info("%u jobs", jobs);
	cr_expect_gt(jobs, 1000);
}

/* SPDX-License-Identifier: MIT */
/* test_soft_run.c - operations on a soft device give the same bits as on the CPU. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include <quoit/families.h>

#include "ops_reference.h"
#include "soft_case.h"

static const struct quoit_device_driver *const soft = &soft_device_driver;

TestSuite(soft_run, .timeout = 60);

/* A tensor of a row; without dims: there is none. */
struct view {
	uint8_t dtype;
	enum ops_layout layout;
	uint32_t dim[4];
};

struct row {
	uint8_t opcode, arg;
	double f[2]; /* scalars: doubles or integers */
	int64_t i[2];
	struct view t[4];
};

#define CUBE                                                                                       \
	{                                                                                          \
		2, 3, 5, 7                                                                         \
	}
#define F32 QUOIT_F32
#define F64 QUOIT_F64
#define I32 QUOIT_I32
#define I64 QUOIT_I64

/* clang-format off */
static const struct row rows[] = {
	{QUOIT_OP_FILL, 0, {0.5}, {0}, {{F32, OPS_PADDED, CUBE}}},
	{QUOIT_OP_FILL, 0, {0}, {-7}, {{I64, OPS_REVERSED, CUBE}}},
	{QUOIT_OP_COPY, 0, {0}, {0}, {{F32, OPS_DENSE, CUBE}, {F32, OPS_COLUMN_MAJOR, CUBE}}},
	{QUOIT_OP_COPY, 0, {0}, {0}, {{I32, OPS_DENSE, CUBE}, {I32, OPS_REPEAT_ROW, CUBE}}},
	{QUOIT_OP_CAST, 0, {0}, {0}, {{I32, OPS_DENSE, CUBE}, {F64, OPS_PADDED, CUBE}}},
	{QUOIT_OP_TRANSPOSE, QUOIT_PERM(3, 1, 0, 2), {0}, {0},
	 {{F32, OPS_DENSE, {7, 3, 2, 5}}, {F32, OPS_PADDED, CUBE}}},
	{QUOIT_OP_ROLL, 2, {0}, {-3}, {{F64, OPS_DENSE, CUBE}, {F64, OPS_REVERSED, CUBE}}},
	{QUOIT_OP_SELECT, 0, {0}, {0},
	 {{F32, OPS_DENSE, CUBE}, {I32, OPS_PADDED, CUBE}, {F32, OPS_REPEAT_ROW, CUBE},
	  {F32, OPS_DENSE, CUBE}}},
	{QUOIT_OP_COMPARE, QUOIT_CMP_LT, {0}, {0},
	 {{I32, OPS_DENSE, CUBE}, {F32, OPS_DENSE, CUBE}, {F32, OPS_REPEAT_COLUMN, CUBE}}},
	{QUOIT_OP_COMPARE, QUOIT_CMP_GE | QUOIT_CMP_SCALAR, {0}, {5},
	 {{I32, OPS_PADDED, CUBE}, {I64, OPS_DENSE, CUBE}}},
	{QUOIT_OP_UNIFORM, 0, {0}, {42, 7}, {{F32, OPS_DENSE, {1, 1, 70, 99}}}},
	{QUOIT_OP_NORMAL, 0, {0}, {42, 7}, {{F64, OPS_PADDED, CUBE}}},
	{QUOIT_OP_ADD, 0, {0}, {0},
	 {{F32, OPS_DENSE, CUBE}, {F32, OPS_PADDED, CUBE}, {F32, OPS_REPEAT_ROW, CUBE}}},
	{QUOIT_OP_DIV, QUOIT_EW_SCALAR | QUOIT_EW_REVERSE, {0}, {1000},
	 {{I32, OPS_DENSE, CUBE}, {I32, OPS_REVERSED, CUBE}}},
	{QUOIT_OP_AXPBY, 0, {0.5, -2}, {0},
	 {{F64, OPS_DENSE, CUBE}, {F64, OPS_DENSE, CUBE}, {F64, OPS_COLUMN_MAJOR, CUBE}}},
	{QUOIT_OP_EXP, 0, {0}, {0},
	 {{F32, OPS_DENSE, {1, 1, 1, 1000}}, {F32, OPS_DENSE, {1, 1, 1, 1000}}}},
	{QUOIT_OP_TANH, 0, {0}, {0}, {{F64, OPS_PADDED, CUBE}, {F64, OPS_REVERSED, CUBE}}},
	{QUOIT_OP_RELU_GRAD, 0, {0}, {0},
	 {{F32, OPS_DENSE, CUBE}, {F32, OPS_DENSE, CUBE}, {F32, OPS_PADDED, CUBE}}},
	{QUOIT_OP_GEMM, 0, {1, 0}, {0},
	 {{F32, OPS_DENSE, {1, 1, 65, 33}}, {F32, OPS_DENSE, {1, 1, 65, 40}},
	  {F32, OPS_DENSE, {1, 1, 40, 33}}}},
	{QUOIT_OP_GEMM, QUOIT_GEMM_TRANS_A, {0.5, 2}, {0},
	 {{F64, OPS_PADDED, {2, 3, 5, 7}}, {F64, OPS_DENSE, {2, 3, 4, 5}},
	  {F64, OPS_COLUMN_MAJOR, {2, 3, 4, 7}}}},
	{QUOIT_OP_SUM, QUOIT_AXIS_ALL, {0}, {0},
	 {{F32, OPS_DENSE, {1, 1, 1, 1}}, {F32, OPS_PADDED, {3, 1, 99, 70}}}},
	{QUOIT_OP_SUM, 1, {0}, {0}, {{I32, OPS_DENSE, {2, 1, 5, 7}}, {I32, OPS_DENSE, CUBE}}},
	{QUOIT_OP_MEAN, 3, {0}, {0}, {{F64, OPS_DENSE, {2, 3, 5, 1}}, {F64, OPS_REVERSED, CUBE}}},
	{QUOIT_OP_AMAX, 0, {0}, {0},
	 {{F32, OPS_DENSE, {1, 3, 5, 7}}, {F32, OPS_COLUMN_MAJOR, CUBE}}},
	{QUOIT_OP_ARGMAX, QUOIT_AXIS_ALL, {0}, {0},
	 {{I64, OPS_DENSE, {1, 1, 1, 1}}, {F32, OPS_PADDED, CUBE}}},
	{QUOIT_OP_ARGMAX, 2, {0}, {0}, {{I64, OPS_DENSE, {2, 3, 1, 7}}, {I32, OPS_DENSE, CUBE}}},
	{QUOIT_OP_SQNORM, QUOIT_AXIS_ALL, {0}, {0},
	 {{F64, OPS_DENSE, {1, 1, 1, 1}}, {F64, OPS_DENSE, CUBE}}},
	{QUOIT_OP_SQLOSS, 0, {0.25}, {0},
	 {{F32, OPS_DENSE, {1, 1, 1, 1}}, {F32, OPS_PADDED, CUBE}, {F32, OPS_DENSE, CUBE}}},
	{QUOIT_OP_SQLOSS, 0, {0.25}, {0},
	 {{F32, OPS_DENSE, {1, 1, 1, 1}}, {F32, OPS_PADDED, CUBE}, {F32, OPS_DENSE, CUBE},
	  {F32, OPS_DENSE, CUBE}}},
	/* Without elements: no byte of memory is read. */
	{QUOIT_OP_ADD, 0, {0}, {0},
	 {{F32, OPS_DENSE, {1, 1, 0, 7}}, {F32, OPS_DENSE, {1, 1, 0, 7}},
	  {F32, OPS_DENSE, {1, 1, 0, 7}}}},
	{QUOIT_OP_SUM, QUOIT_AXIS_ALL, {0}, {0},
	 {{F32, OPS_DENSE, {1, 1, 1, 1}}, {F32, OPS_DENSE, {1, 1, 0, 7}}}},
	{QUOIT_OP_GEMM, 0, {1, 0}, {0},
	 {{F32, OPS_DENSE, {1, 1, 2, 3}}, {F32, OPS_DENSE, {1, 1, 2, 0}},
	  {F32, OPS_DENSE, {1, 1, 0, 3}}}},
};
/* clang-format on */

static void make_case(const struct row *row, struct ops_case *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->args.opcode = row->opcode;
	ret->args.arg = row->arg;
	for (int k = 0; k < 2; k++) {
		ret->args.scalar[k].i = row->i[k];
		if (row->f[k] != 0)
			ret->args.scalar[k].f = row->f[k];
	}
	for (int t = 0; t < 4; t++)
		if (row->t[t].dim[0])
			ops_case_tensor(ret, t, row->t[t].dtype, row->t[t].dim, row->t[t].layout,
					(uint32_t)t + 1);
}

/* A case's tensors, in a device's memory. */
struct copies {
	uint64_t address[4];
	void *host[4];
};

static void put_tensors(struct quoit_device *d, struct quoit_device_stream *s,
			const struct ops_case *c, struct copies *ret,
			struct quoit_device_call *call)
{
	*call = (struct quoit_device_call){.opcode = c->args.opcode,
					   .arg = c->args.arg,
					   .scalar = {c->args.scalar[0].u, c->args.scalar[1].u}};
	*ret = (struct copies){{0}};
	for (int i = 0; i < 4; i++) {
		const struct op_tensor *from = &c->args.t[i];
		struct quoit_device_tensor *to = &call->tensor[i];

		if (!from->data)
			continue;
		to->dtype = from->dtype;
		memcpy(to->dim, from->dim, sizeof to->dim);
		for (int k = 0; k < 4; k++)
			to->stride[k] = (int32_t)from->stride[k];
		if (!c->memory[i].size)
			continue; /* it has no address, either */
		ret->address[i] = soft_case_memory(d, c->memory[i].size);
		ret->host[i] = soft_case_host(d, c->memory[i].size);
		to->data = ret->address[i] +
			   (uint64_t)((char *)from->data - (char *)c->memory[i].bytes);
		memcpy(ret->host[i], c->memory[i].bytes, c->memory[i].size);
		soft_case_in(s, ret->address[i], ret->host[i], c->memory[i].size);
	}
}

static void run_on_cpu(struct ops_case *c)
{
	const struct op_impl *impl = ops_find(c->args.opcode);

	impl->run(&c->args, 0, 1);
	if (impl->finish)
		impl->finish(&c->args);
}

static void check(const struct row *row, size_t number)
{
	struct quoit_device *d = soft_case_open("8M");
	struct quoit_device_stream *s = soft_case_stream(d);
	struct quoit_device_call call;
	struct copies copies;
	struct ops_case c;

	make_case(row, &c);
	put_tensors(d, s, &c, &copies, &call);
	cr_assert_eq(soft->run(s, &call), 0, "row %zu", number);
	memset(&call, 0xff, sizeof call); /* the device must have copied it */
	for (int i = 0; i < 4; i++)
		if (copies.host[i])
			soft_case_out(s, copies.host[i], copies.address[i], c.memory[i].size);
	cr_assert_eq(soft_case_finish(d, s), 1, "row %zu", number);
	run_on_cpu(&c);
	for (int i = 0; i < 4; i++)
		if (copies.host[i]) {
			cr_expect_eq(memcmp(copies.host[i], c.memory[i].bytes, c.memory[i].size), 0,
				     "row %zu, tensor %d", number, i);
			soft->host_free(d, copies.host[i]);
		}
	ops_case_done(&c);
	soft->close(d);
}

Test(soft_run, results_are_the_same_bits_as_on_the_cpu)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		check(&rows[i], i);
}

/* The operation on tensors of one type; false: it has a shape rule of its own, and a row above. */
static bool make_row(const struct ops_row *op, uint8_t dtype, struct row *ret)
{
	const int inputs = ops_reduces(op) ? 1 : ops_inputs(op);

	if (inputs < 0)
		return false;
	*ret = (struct row){.opcode = op->opcode, .arg = ops_reduces(op) ? 1 : 0, .i = {3, -2}};
	for (int t = 0; t <= inputs; t++) {
		ret->t[t].dtype = dtype;
		memcpy(ret->t[t].dim, (uint32_t[])CUBE, sizeof ret->t[t].dim);
	}
	if (ops_reduces(op))
		ret->t[0].dim[1] = 1;
	if (op->family == QUOIT_FAMILY_PLACE)
		ret->t[0].dtype = I64;
	return true;
}

Test(soft_run, every_operation_of_a_family_of_many_is_run_in_each_of_its_types)
{
	for (size_t i = 0; i < ops_row_nr; i++)
		for (uint8_t dtype = 0; dtype < QUOIT_DTYPE_NR; dtype++) {
			struct row row;

			if (ops_rows[i].types >> dtype & 1 && make_row(&ops_rows[i], dtype, &row))
				check(&row, 1000 + ops_rows[i].opcode);
		}
}

Test(soft_run, a_tensor_that_must_be_there_and_is_not_breaks_the_device)
{
	struct quoit_device *d = soft_case_open("1M");
	struct quoit_device_stream *s = soft_case_stream(d);
	const struct quoit_device_verdict *culprit;
	struct quoit_device_call call = {
		.opcode = QUOIT_OP_COPY,
		.tensor = {{.data = soft_case_memory(d, 4), .dim = {1, 1, 1, 1}},
			   {.dim = {1, 1, 1, 1}}},
	};

	cr_assert_eq(soft->run(s, &call), 0);
	cr_expect_eq(soft_case_break(d, &culprit), -QUOIT_EGPUFAULT);
	soft->close(d);
}

Test(soft_run, what_it_cannot_run_is_refused_at_once)
{
	struct quoit_device *d = soft_case_open("1M");
	struct quoit_device_stream *s = soft_case_stream(d);
	const uint64_t data = soft_case_memory(d, 64);
	const struct {
		uint8_t opcode, dtype;
		uint32_t out, in; /* elements */
		int result;
	} refused[] = {
		{QUOIT_OP_NOP, QUOIT_F32, 1, 1, -ENOTSUP},
		{QUOIT_OP_CREATE, QUOIT_F32, 1, 1, -ENOTSUP},
		{QUOIT_OP_FILE_WRITE, QUOIT_F32, 1, 1, -ENOTSUP},
		{QUOIT_OP_MODULE_FIRST, QUOIT_F32, 1, 1, -ENOTSUP},
		{255, QUOIT_F32, 1, 1, -ENOTSUP},
		{QUOIT_OP_ADD, QUOIT_BF16, 1, 1, -ENOTSUP},
		{QUOIT_OP_COPY, 0xff, 1, 1, -ENOTSUP},
		{QUOIT_OP_AMAX, QUOIT_F32, 1, 0, -EINVAL},
		{QUOIT_OP_ARGMAX, QUOIT_I64, 1, 0, -EINVAL},
		{QUOIT_OP_AMIN, QUOIT_F32, 1, 0, -EINVAL},
		{QUOIT_OP_ARGMIN, QUOIT_I64, 1, 0, -EINVAL},
		{QUOIT_OP_PROD, QUOIT_F32, 1, 0, 0},
		{QUOIT_OP_FLOOR, QUOIT_I32, 1, 1, -ENOTSUP},
		{QUOIT_OP_AMAX, QUOIT_F32, 0, 0, 0},
		{QUOIT_OP_SUM, QUOIT_F32, 1, 0, 0},
	};

	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		const struct quoit_device_call call = {
			.opcode = refused[i].opcode,
			.arg = QUOIT_AXIS_ALL,
			.tensor = {{.data = data,
				    .dim = {1, 1, 1, refused[i].out},
				    .dtype = refused[i].dtype},
				   {.data = data,
				    .dim = {1, 1, 1, refused[i].in},
				    .dtype = refused[i].dtype}},
		};

		cr_expect_eq(soft->run(s, &call), refused[i].result, "row %zu", i);
	}
	cr_expect_eq(soft_case_finish(d, s), 1);
	soft->close(d);
}

/* ---- verdicts ---- */

/* Gather element `index` of three. */
static void gather(struct quoit_device *d, struct quoit_device_stream *s, int64_t index,
		   struct quoit_device_verdict *verdict)
{
	int64_t *host = soft_case_host(d, sizeof *host);
	const struct quoit_device_call call = {
		.opcode = QUOIT_OP_GATHER,
		.arg = 3,
		.tensor = {{soft_case_memory(d, 8), {1, 1, 1, 1}, {1, 1, 1, 1}, QUOIT_I64},
			   {soft_case_memory(d, 24), {1, 1, 1, 3}, {3, 3, 3, 1}, QUOIT_I64},
			   {soft_case_memory(d, 8), {1, 1, 1, 1}, {1, 1, 1, 1}, QUOIT_I64}},
		.verdict = verdict,
	};

	*host = index;
	soft_case_in(s, call.tensor[2].data, host, sizeof *host);
	cr_assert_eq(soft->run(s, &call), 0);
	cr_assert_eq(soft_case_finish(d, s), 1);
	soft->host_free(d, host);
}

Test(soft_run, the_first_bad_index_is_the_verdict)
{
	struct quoit_device *d = soft_case_open("1M");
	struct quoit_device_stream *s = soft_case_stream(d);
	struct quoit_device_verdict *verdict = soft_case_host(d, sizeof *verdict);
	const struct quoit_device_verdict *culprit;

	gather(d, s, 2, verdict);
	cr_expect_eq(verdict->res, 0);
	gather(d, s, 3, NULL);
	gather(d, s, 5, verdict);
	gather(d, s, 4, verdict);
	cr_expect_eq(verdict->res, -ERANGE);
	cr_expect_eq(verdict->value[0], 5);
	cr_expect_eq(verdict->value[1], 3);
	cr_expect_eq(soft->health(d, &culprit), 0, "bad contents are no fault of the device");
	soft->host_free(d, verdict);
	soft->close(d);
}

Test(soft_run, a_verdict_is_in_memory_that_streams_know)
{
	struct quoit_device *d = soft_case_open("1M");
	struct quoit_device_stream *s = soft_case_stream(d);
	struct quoit_device_verdict verdict;
	const struct quoit_device_call call = {
		.opcode = QUOIT_OP_FILL,
		.tensor = {{soft_case_memory(d, 8), {1, 1, 1, 1}, {1, 1, 1, 1}, QUOIT_I64}},
		.verdict = &verdict,
	};

	cr_expect_eq(soft->run(s, &call), -EFAULT);
	soft->close(d);
}

/* SPDX-License-Identifier: MIT */
/* run.c - choose the kernels of each operation, and put them into a stream. */
#include <errno.h>

#include <quoit/families.h>

#include "context.h"
#include "kernels/kernels.h"
#include "kernels/scalar.h"

static bool run_is_half(uint8_t dtype)
{
	return dtype == QUOIT_BF16 || dtype == QUOIT_F16;
}

static bool run_is_float(uint8_t dtype)
{
	return dtype == QUOIT_F32 || dtype == QUOIT_F64;
}

/* Both factors have one floating-point type, and C has the same; or f32 if they have 16 bits. */
static bool run_takes_product(const struct quoit_device_call *call)
{
	const uint8_t c = call->tensor[0].dtype;
	const uint8_t factor = call->tensor[1].dtype;

	return call->tensor[2].dtype == factor && (run_is_float(factor) || run_is_half(factor)) &&
	       (c == factor || (c == QUOIT_F32 && run_is_half(factor)));
}

static bool run_takes(const struct quoit_device_call *call)
{
	for (uint32_t i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const uint8_t dtype = call->tensor[i].dtype;

		if (!call->tensor[i].data)
			continue;
		if (!walk_dtype_size(dtype))
			return false;
		if (!(quoit_types_of(call->opcode) & 1u << dtype))
			return false;
	}
	return quoit_family_of(call->opcode) != QUOIT_FAMILY_PRODUCT || run_takes_product(call);
}

/* ---- element by element ---- */

/* Launch it in parts that the kernels can count. */
static int run_map(struct quoit_device_stream *s, const struct walk *walk,
		   const struct quoit_device_call *call, kernel_launch *launch)
{
	struct walk now = *walk;
	struct walk rest;
	uint32_t size[WALK_OPERANDS];
	int err;

	if (now.count == 0)
		return 0;
	/* If an operand is the scalar, another tensor may be in its place, of the output's type. */
	for (uint32_t i = 0; i < WALK_OPERANDS; i++)
		size[i] = walk_dtype_size(call->tensor[call->tensor[i].data ? i : 0].dtype);
	while (walk_cut(&now, &rest, size)) {
		err = run_map(s, &now, call, launch);
		if (err)
			return err;
		now = rest;
	}
	return device_check(s->device, launch(&now, call, s->stream));
}

/* The second input may be the scalar; with QUOIT_EW_REVERSE the first one is. */
static int run_arithmetic(struct quoit_device_stream *s, const struct quoit_device_call *call)
{
	const struct quoit_device_tensor *t[] = {&call->tensor[0], &call->tensor[1],
						 &call->tensor[2]};
	const struct quoit_device_tensor constant = walk_constant(t[0]);
	const bool scalar = call->arg & QUOIT_EW_SCALAR;
	const uint32_t at = scalar && call->arg & QUOIT_EW_REVERSE ? 1 : 2;
	struct walk walk;

	if (scalar) {
		t[3 - at] = &call->tensor[1];
		t[at] = &constant;
	}
	walk_make(&walk, t, 3, WALK_ANY_ORDER);
	if (scalar)
		walk.operand[at].bits = scalar_bits(call->scalar[0], t[0]->dtype);
	return run_map(s, &walk, call, kernel_arithmetic);
}

static int run_compare(struct quoit_device_stream *s, const struct quoit_device_call *call)
{
	const struct quoit_device_tensor constant = walk_constant(&call->tensor[1]);
	const bool scalar = call->arg & QUOIT_CMP_SCALAR;
	const struct quoit_device_tensor *t[] = {&call->tensor[0], &call->tensor[1],
						 scalar ? &constant : &call->tensor[2]};
	struct walk walk;

	walk_make(&walk, t, 3, WALK_ANY_ORDER);
	if (scalar)
		walk.operand[2].bits = scalar_bits(call->scalar[0], t[1]->dtype);
	return run_map(s, &walk, call, kernel_compare);
}

/* The operands are the call's first tensors, as they are. */
static int run_plain(struct quoit_device_stream *s, const struct quoit_device_call *call,
		     uint32_t operands, enum walk_order order, kernel_launch *launch)
{
	const struct quoit_device_tensor *t[] = {&call->tensor[0], &call->tensor[1],
						 &call->tensor[2], &call->tensor[3]};
	struct walk walk;

	walk_make(&walk, t, operands, order);
	return run_map(s, &walk, call, launch);
}

/* ---- moving ---- */

/* A dim must be at least so long for transposing by squares to pay. */
#define RUN_SQUARE_LEAST 8

/* The dim along which the input is dense, if the output is dense along another; else `dims`. */
static uint32_t run_transposed_dim(const struct walk *walk)
{
	const uint32_t last = walk->dims - 1;
	uint32_t fast = 0;

	if (walk->operand[0].stride[last] != 1 || walk->operand[1].stride[last] == 1 ||
	    !walk->operand[1].data)
		return walk->dims;
	while (fast < last && walk->operand[1].stride[fast] != 1)
		fast++;
	if (fast == last || walk->dim[fast] < RUN_SQUARE_LEAST ||
	    walk->dim[last] < RUN_SQUARE_LEAST)
		return walk->dims;
	return fast;
}

static int run_copy_walk(struct quoit_device_stream *s, const struct walk *walk, uint32_t size)
{
	struct walk now = *walk;
	struct walk rest;
	const uint32_t fast = run_transposed_dim(walk);
	int err;

	if (now.count == 0)
		return 0;
	if (fast < now.dims)
		return device_check(s->device, kernel_transpose(&now, fast, size, s->stream));
	if (now.operand[1].data)
		size = walk_widen(&now, 2, size);
	while (walk_cut(&now, &rest, (uint32_t[WALK_OPERANDS]){size, size})) {
		err = run_copy_walk(s, &now, size);
		if (err)
			return err;
		now = rest;
	}
	return device_check(s->device, kernel_copy(&now, size, s->stream));
}

int run_copy(struct quoit_device_stream *s, const struct quoit_device_tensor *to,
	     const struct quoit_device_tensor *from)
{
	const struct quoit_device_tensor *t[] = {to, from};
	struct walk walk;

	walk_make(&walk, t, 2, WALK_ANY_ORDER);
	return run_copy_walk(s, &walk, walk_dtype_size(to->dtype));
}

static int run_fill(struct quoit_device_stream *s, const struct quoit_device_call *call)
{
	const struct quoit_device_tensor constant = walk_constant(&call->tensor[0]);
	const struct quoit_device_tensor *t[] = {&call->tensor[0], &constant};
	struct walk walk;

	walk_make(&walk, t, 2, WALK_ANY_ORDER);
	walk.operand[1].bits = scalar_bits(call->scalar[0], t[0]->dtype);
	return run_copy_walk(s, &walk, walk_dtype_size(t[0]->dtype));
}

static int run_transpose(struct quoit_device_stream *s, const struct quoit_device_call *call)
{
	struct quoit_device_tensor in = call->tensor[1];

	for (uint32_t d = 0; d < QUOIT_MAX_DIMS; d++) {
		in.dim[d] = call->tensor[1].dim[call->arg >> 2 * d & 3];
		in.stride[d] = call->tensor[1].stride[call->arg >> 2 * d & 3];
	}
	return run_copy(s, &call->tensor[0], &in);
}

/* out[i] = x[i - shift] along the axis: two copies, of the parts on either side of the seam. */
static int run_roll(struct quoit_device_stream *s, const struct quoit_device_call *call)
{
	const uint32_t axis = call->arg & 3;
	const int64_t size = walk_dtype_size(call->tensor[0].dtype);
	struct quoit_device_tensor out = call->tensor[0];
	struct quoit_device_tensor in = call->tensor[1];
	const int64_t length = out.dim[axis];
	int64_t shift;
	int err;

	if (walk_count(&out) == 0)
		return 0;
	shift = (int64_t)call->scalar[0] % length;
	shift += shift < 0 ? length : 0;

	out.dim[axis] = in.dim[axis] = (uint32_t)(length - shift);
	out.data += (uint64_t)(shift * out.stride[axis] * size);
	err = run_copy(s, &out, &in);
	if (err)
		return err;
	out.dim[axis] = in.dim[axis] = (uint32_t)shift;
	out.data = call->tensor[0].data;
	in.data += (uint64_t)((length - shift) * in.stride[axis] * size);
	return run_copy(s, &out, &in);
}

/* ---- gather ---- */

static int run_gather_parts(struct quoit_device_stream *s, const struct gather_plan *plan)
{
	const uint32_t index = walk_dtype_size(plan->index_dtype);
	struct gather_plan now = *plan;
	struct walk rest;
	int err;

	while (walk_cut(&now.walk, &rest, (uint32_t[WALK_OPERANDS]){now.size, now.size, index})) {
		err = run_gather_parts(s, &now);
		if (err)
			return err;
		now.walk = rest;
	}
	return device_check(s->device, kernel_gather(&now, s->stream));
}

/* Each index selects a row or more, unless the axis is the last dim; rows are moved widely. */
static int run_gather(struct quoit_device_stream *s, const struct quoit_device_call *call)
{
	const uint32_t axis = call->arg & 3;
	const uint32_t size = walk_dtype_size(call->tensor[0].dtype);
	struct quoit_device_tensor in = call->tensor[1];
	struct quoit_device_tensor index = walk_constant(&call->tensor[0]);
	const struct quoit_device_tensor *t[] = {&call->tensor[0], &in, &index};
	const int64_t axis_stride = in.stride[axis];
	struct gather_plan plan = {.axis_dim = in.dim[axis], .index_dtype = call->tensor[2].dtype};
	void *verdict;
	int err;

	if (walk_count(&call->tensor[0]) == 0)
		return 0;
	err = device_pointer(s->device, call->verdict, &verdict);
	if (err)
		return err;
	plan.verdict = verdict;
	in.stride[axis] = 0;
	index.data = call->tensor[2].data;
	index.stride[axis] = call->tensor[2].stride[3];
	walk_make(&plan.walk, t, 3, WALK_ANY_ORDER);
	plan.size = size;
	if (axis_stride * size % 16 == 0)
		plan.size = walk_widen(&plan.walk, 2, size);
	plan.axis_stride = axis_stride / (int64_t)(plan.size / size);
	return run_gather_parts(s, &plan);
}

/* ---- all ---- */

static int run_move(struct quoit_device_stream *s, const struct quoit_device_call *call)
{
	if (call->opcode == QUOIT_OP_FILL)
		return run_fill(s, call);
	return run_copy(s, &call->tensor[0], &call->tensor[1]);
}

static int run_cast(struct quoit_device_stream *s, const struct quoit_device_call *call)
{
	return run_plain(s, call, 2, WALK_ANY_ORDER, kernel_cast);
}

static int run_select(struct quoit_device_stream *s, const struct quoit_device_call *call)
{
	return run_plain(s, call, 4, WALK_ANY_ORDER, kernel_select);
}

static int run_random(struct quoit_device_stream *s, const struct quoit_device_call *call)
{
	return run_plain(s, call, 1, WALK_ROW_MAJOR, kernel_random);
}

static int run_function(struct quoit_device_stream *s, const struct quoit_device_call *call)
{
	return run_plain(s, call, 2, WALK_ANY_ORDER, kernel_function);
}

static int run_gradient(struct quoit_device_stream *s, const struct quoit_device_call *call)
{
	return run_plain(s, call, 3, WALK_ANY_ORDER, kernel_function);
}

typedef int run_fn(struct quoit_device_stream *s, const struct quoit_device_call *call);

#define NONE       NULL
#define MOVE       run_move
#define CAST       run_cast
#define TRANSPOSE  run_transpose
#define ROLL       run_roll
#define GATHER     run_gather
#define SELECT     run_select
#define COMPARE    run_compare
#define RANDOM     run_random
#define ARITHMETIC run_arithmetic
#define BLEND      run_arithmetic
#define FUNCTION   run_function
#define GRADIENT   run_gradient
#define PRODUCT    run_gemm
#define REDUCTION  reduce_run
#define EXTREME    reduce_run
#define PLACE      reduce_run
#define LOSS       reduce_run

static run_fn *const run_table[QUOIT_OP_NR] = {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help) [nr] = family,
#include <quoit/ops.def>
#undef QUOIT_OP
};

bool run_knows(uint8_t opcode)
{
	return run_table[opcode];
}

int run_call(struct quoit_device_stream *s, const struct quoit_device_call *call)
{
	int err;

	if (s->device->broken)
		return s->device->broken;
	if (!run_knows(call->opcode) || !run_takes(call))
		return -ENOTSUP;
	profile_begin(&s->device->profile, call->opcode);
	err = run_table[call->opcode](s, call);
	profile_end(&s->device->profile);
	return err;
}

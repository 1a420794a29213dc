/* SPDX-License-Identifier: MIT */
/*
 * reduce_plan.h - cut a reduction into parts.
 *
 * The cut depends on the shape only, never on the device, so every device gives the same bits.  So
 * does the resident kernel, which makes its plans itself.
 */
#ifndef QUOIT_CUDA_REDUCE_PLAN_H
#define QUOIT_CUDA_REDUCE_PLAN_H

#include <quoit/families.h>

#include "kernels/element.h"
#include "kernels/kernels.h"

/* UNITS keep a large device busy; a part has LEAST elements or more, unless it is the last. */
#define REDUCE_ROW_UNITS    1024  /* warps or blocks */
#define REDUCE_COLUMN_UNITS 65536 /* threads, if each makes an output */
#define REDUCE_ROW_LEAST    4096
#define REDUCE_COLUMN_LEAST 64
#define REDUCE_MOST_PARTS   1024

/* There are never more partial results than units to keep busy. */
#define REDUCE_MOST_SCRATCH (REDUCE_COLUMN_UNITS * KERNEL_PARTIAL)

/* A part at least this long gets a block, else a warp; an axis at least this long gets a warp. */
#define REDUCE_LONG 2048
#define REDUCE_AXIS 32

WALK bool reduce_is_over(const struct quoit_device_call *call, uint32_t d)
{
	return call->opcode == QUOIT_OP_SQLOSS || call->arg == QUOIT_AXIS_ALL || call->arg == d;
}

/* Split the dims into those of the outputs, and those that each output takes in. */
WALK void reduce_split(const struct quoit_device_call *call, struct reduce_plan *plan)
{
	const bool loss = call->opcode == QUOIT_OP_SQLOSS;
	struct quoit_device_tensor out = call->tensor[0];
	struct quoit_device_tensor start = call->tensor[1];
	struct quoit_device_tensor each[3] = {call->tensor[1], call->tensor[2], call->tensor[3]};
	const struct quoit_device_tensor *outer[] = {&start, &out};
	const struct quoit_device_tensor *inner[] = {&each[0], &each[1], &each[2]};

	if (loss && !each[2].data)
		each[2] = walk_constant(&each[0]);
	for (uint32_t d = 0; d < QUOIT_MAX_DIMS; d++) {
		if (reduce_is_over(call, d))
			start.dim[d] = out.dim[d] = 1;
		else
			each[0].dim[d] = each[1].dim[d] = each[2].dim[d] = 1;
	}
	walk_make(&plan->outer, outer, 2, WALK_ANY_ORDER);
	walk_make(&plan->inner, inner, loss ? 3 : 1, plan->place ? WALK_ROW_MAJOR : WALK_ANY_ORDER);
}

WALK uint64_t reduce_parts(uint64_t units, uint64_t outputs, uint64_t length, uint64_t least)
{
	uint64_t parts = units / outputs;

	parts = parts < length / least ? parts : length / least;
	parts = parts < REDUCE_MOST_PARTS ? parts : REDUCE_MOST_PARTS;
	return parts > 0 ? parts : 1;
}

/* Let neighbouring threads read neighbouring elements: along the reduced dims, or across them. */
WALK void reduce_cut(struct reduce_plan *plan)
{
	const struct walk *outer = &plan->outer;
	const struct walk *inner = &plan->inner;
	const int64_t along = llabs(inner->operand[0].stride[inner->dims - 1]);
	const int64_t across = llabs(outer->operand[0].stride[outer->dims - 1]);
	const bool rows =
		inner->count >= REDUCE_AXIS && (outer->count < REDUCE_AXIS || along <= across);
	uint64_t parts;

	if (rows)
		parts = reduce_parts(REDUCE_ROW_UNITS, outer->count, inner->count,
				     REDUCE_ROW_LEAST);
	else
		parts = reduce_parts(REDUCE_COLUMN_UNITS, outer->count, inner->count,
				     REDUCE_COLUMN_LEAST);
	plan->part_length = (inner->count + parts - 1) / parts;
	plan->parts = (uint32_t)parts;
	plan->lanes = !rows ? 1 : plan->part_length < REDUCE_LONG ? 32 : 256;
}

WALK void reduce_scale(const struct quoit_device_call *call, struct reduce_plan *plan)
{
	const double scalar = element_f64(call->scalar[0]);

	plan->divisor = call->opcode == QUOIT_OP_MEAN ? (double)plan->inner.count : 1;
	plan->factor = call->opcode == QUOIT_OP_SQLOSS ? scalar : 1;
	plan->twice = 2 * scalar;
}

/* Fill all but `partial`.  False: there are no outputs, and the plan must not be used. */
WALK bool reduce_describe(const struct quoit_device_call *call, struct reduce_plan *plan)
{
	plan->opcode = call->opcode;
	plan->place = quoit_family_of(call->opcode) == QUOIT_FAMILY_PLACE;
	plan->dtype = call->tensor[1].dtype;
	plan->partial = 0;
	reduce_split(call, plan);
	if (plan->outer.count == 0)
		return false;
	reduce_cut(plan);
	reduce_scale(call, plan);
	return true;
}

#endif

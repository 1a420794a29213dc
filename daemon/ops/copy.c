/* SPDX-License-Identifier: MIT */
/* copy.c - fill, copy, transpose, roll: elements move, nothing is computed. */
#include <string.h>

#include "ops/walk.h"

/* Edge of the squares in which a transposed matrix is copied: both sides stay in the L1 cache. */
#define COPY_SQUARE 32

/* A copy whose two sides are fastest along different dims, `fast` being the input's. */
struct copy_squares {
	const struct walk *walk;
	uint32_t fast;
	uint64_t across; /* squares along the output's fastest dim */
	uint64_t down;   /* squares along `fast` */
	uint64_t squares;
};

static void copy_piece(void *const ptr[], uint64_t index, size_t n, void *context)
{
	const struct walk *walk = context;

	(void)index;
	memmove(ptr[0], ptr[1], n * walk->operand[0].size);
}

/* Whether the input is dense along a dim other than the output, and which. */
static bool copy_is_transposed(const struct walk *walk, struct copy_squares *ret_squares)
{
	const struct walk_operand *out = &walk->operand[0];
	const struct walk_operand *in = &walk->operand[1];
	uint32_t last = walk->dims - 1;
	uint32_t fast = 0;

	if (walk->count == 0 || out->stride[last] != out->size || in->stride[last] == in->size)
		return false;
	while (fast < last && in->stride[fast] != in->size)
		fast++;
	if (fast == last)
		return false;
	*ret_squares =
		(struct copy_squares){walk, fast, (walk->dim[last] + COPY_SQUARE - 1) / COPY_SQUARE,
				      (walk->dim[fast] + COPY_SQUARE - 1) / COPY_SQUARE, 0};
	ret_squares->squares = walk->count / walk->dim[last] / walk->dim[fast] *
			       ret_squares->across * ret_squares->down;
	return true;
}

static void copy_square(const struct copy_squares *squares, uint64_t which)
{
	const struct walk *walk = squares->walk;
	const struct walk_operand *out = &walk->operand[0];
	const struct walk_operand *in = &walk->operand[1];
	uint32_t last = walk->dims - 1;
	uint32_t fast = squares->fast;
	uint64_t column = which % squares->across * COPY_SQUARE;
	uint64_t row = which / squares->across % squares->down * COPY_SQUARE;
	uint64_t rest = which / squares->across / squares->down;
	uint64_t columns = walk->dim[last] - column;
	uint64_t rows = walk->dim[fast] - row;
	char *to =
		out->data + (int64_t)column * out->stride[last] + (int64_t)row * out->stride[fast];
	const char *from =
		in->data + (int64_t)column * in->stride[last] + (int64_t)row * in->stride[fast];

	for (uint32_t d = last; d-- > 0;) {
		if (d == fast)
			continue;
		to += (int64_t)(rest % walk->dim[d]) * out->stride[d];
		from += (int64_t)(rest % walk->dim[d]) * in->stride[d];
		rest /= walk->dim[d];
	}
	columns = columns < COPY_SQUARE ? columns : COPY_SQUARE;
	rows = rows < COPY_SQUARE ? rows : COPY_SQUARE;
	for (uint64_t r = 0; r < rows; r++, to += out->stride[fast], from += in->stride[fast])
		walk_strided(to, out->size, from, in->stride[last], columns, out->size);
}

static void copy_view(const struct op_tensor *out, const struct op_tensor *in, uint32_t tile,
		      uint32_t tiles)
{
	const struct op_tensor *t[] = {out, in};
	struct copy_squares squares;
	struct walk walk;

	walk_make(&walk, t, 2, 1, WALK_ANY_ORDER);
	if (!copy_is_transposed(&walk, &squares)) {
		walk_run(&walk, op_cut(walk.count, tile, tiles),
			 op_cut(walk.count, tile + 1, tiles), copy_piece, &walk);
		return;
	}
	for (uint64_t i = squares.squares * tile / tiles; i < squares.squares * (tile + 1) / tiles;
	     i++)
		copy_square(&squares, i);
}

static void copy_run(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	struct op_tensor in = args->t[1];
	uint64_t storage;

	if (args->opcode == QUOIT_OP_FILL)
		in = walk_scalar(&args->t[0], args->scalar[0], &storage);
	for (uint32_t d = 0; args->opcode == QUOIT_OP_TRANSPOSE && d < QUOIT_MAX_DIMS; d++) {
		in.dim[d] = args->t[1].dim[args->arg >> 2 * d & 3];
		in.stride[d] = args->t[1].stride[args->arg >> 2 * d & 3];
	}
	copy_view(&args->t[0], &in, tile, tiles);
}

/* out[i] = x[i - shift] along the axis: two copies of what lies on either side of the seam. */
static void roll_run(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	uint32_t axis = args->arg & 3;
	struct op_tensor out = args->t[0];
	struct op_tensor in = args->t[1];
	int64_t length = out.dim[axis];
	int64_t size = op_dtype_size(out.dtype);
	int64_t shift;

	if (length == 0)
		return;
	shift = args->scalar[0].i % length;
	shift += shift < 0 ? length : 0;

	out.dim[axis] = in.dim[axis] = (uint32_t)(length - shift);
	out.data = (char *)args->t[0].data + shift * out.stride[axis] * size;
	copy_view(&out, &in, tile, tiles);

	out.dim[axis] = in.dim[axis] = (uint32_t)shift;
	out.data = args->t[0].data;
	in.data = (char *)args->t[1].data + (length - shift) * in.stride[axis] * size;
	copy_view(&out, &in, tile, tiles);
}

const struct op_impl OP_NAME(op_copy) = {op_tiles_by_output, copy_run, NULL};
const struct op_impl OP_NAME(op_roll) = {op_tiles_by_output, roll_run, NULL};

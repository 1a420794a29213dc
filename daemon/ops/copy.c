/* SPDX-License-Identifier: MIT */
/* copy.c - fill, copy, transpose, roll: moves elements and computes nothing */
#include <string.h>

#include "vector.h"
#include "walk.h"

/* Edge of the squares in which a transposed matrix is copied: both sides stay in the L1 cache. */
#define COPY_SQUARE 32

/* A copy whose two sides are fastest along different dims; `fast` is the input's. */
struct copy_squares {
	const struct walk *walk;
	uint32_t fast;
	uint64_t across; /* squares along the output's fastest dim */
	uint64_t down;   /* squares along `fast` */
	uint64_t squares;
};

/*
 * A copy may write a little further on in a page than it reads, as when a row is rolled.  Then the
 * processor takes a load for one of what was just stored, and waits: memmove takes three times as
 * long.  Stores of whole cache lines, each behind the loads of the next four vectors, do not wait.
 */
#define COPY_PAGE    4096u
#define COPY_NEAR    512u
#define COPY_LINE    64u
#define COPY_VECTORS 4u
#define COPY_BLOCK   (COPY_VECTORS * OP_VECTOR_BYTES)

typedef uint8_t copy_vector __attribute__((vector_size(OP_VECTOR_BYTES), may_alias));
typedef uint8_t copy_vector_anywhere
	__attribute__((vector_size(OP_VECTOR_BYTES), aligned(1), may_alias));

/* `to` begins a cache line, and the two sides share no byte.  Returns the bytes copied. */
static size_t copy_blocks(char *restrict to, const char *restrict from, size_t bytes)
{
	size_t at = 0;

	for (; at + COPY_BLOCK <= bytes; at += COPY_BLOCK) {
		const copy_vector_anywhere *in = (const copy_vector_anywhere *)(from + at);
		const copy_vector a = in[0], b = in[1], c = in[2], d = in[3];
		copy_vector *out = (copy_vector *)(to + at);

		out[0] = a;
		out[1] = b;
		out[2] = c;
		out[3] = d;
	}
	return at;
}

static void copy_bytes(char *to, const char *from, size_t bytes)
{
	const uintptr_t distance = (uintptr_t)to - (uintptr_t)from;
	const size_t ahead = distance % COPY_PAGE;
	const size_t head = -(uintptr_t)to % COPY_LINE;
	size_t done;

	if (ahead == 0 || ahead >= COPY_NEAR || bytes < COPY_BLOCK + COPY_LINE ||
	    distance < bytes || -distance < bytes) {
		memmove(to, from, bytes);
		return;
	}
	memcpy(to, from, head);
	done = head + copy_blocks(to + head, from + head, bytes - head);
	memcpy(to + done, from + done, bytes - done);
}

static void copy_piece(void *const ptr[], uint64_t index, size_t n, void *context)
{
	const struct walk *walk = context;

	(void)index;
	copy_bytes(ptr[0], ptr[1], n * walk->operand[0].size);
}

/* Is the input dense along another dim than the output, and along which? */
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

/*
 * Are these short rows that have no gaps but are not adjacent?  Passing them through a buffer, or
 * calling anything for each, would cost more than the copy.
 */
static bool copy_is_of_rows(const struct walk *walk)
{
	const uint32_t last = walk->dims - 1;

	for (uint32_t i = 0; i < 2; i++)
		if (walk->operand[i].stride[last] != walk->operand[i].size)
			return false;
	return walk->short_rows && walk->staged;
}

static void copy_rows(const struct walk *walk, uint64_t begin, uint64_t end)
{
	uint64_t pos[QUOIT_MAX_DIMS] = {0};

	walk_seek(walk, begin, pos);
	while (begin < end) {
		const uint64_t row = walk->dim[walk->dims - 1] - pos[walk->dims - 1];
		const size_t n = row < end - begin ? row : end - begin;

		memmove(walk_address(walk, 0, pos), walk_address(walk, 1, pos),
			n * walk->operand[0].size);
		walk_step(walk, pos, n);
		begin += n;
	}
}

static void copy_view(const struct op_tensor *out, const struct op_tensor *in, uint32_t tile,
		      uint32_t tiles)
{
	const struct op_tensor *t[] = {out, in};
	struct copy_squares squares;
	struct walk walk;
	uint64_t begin, end;

	walk_make(&walk, t, 2, 1, WALK_ANY_ORDER);
	begin = op_cut(walk.count, tile, tiles);
	end = op_cut(walk.count, tile + 1, tiles);
	if (copy_is_of_rows(&walk)) {
		copy_rows(&walk, begin, end);
		return;
	}
	if (!copy_is_transposed(&walk, &squares)) {
		walk_run(&walk, begin, end, copy_piece, &walk);
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

/* ---- roll ---- */

/* So much at a time that what one copy has brought into the cache is there for the other. */
#define ROLL_BYTES 65536u

/* out[i] = x[i - shift] along the axis: two copies, one for either side of the seam. */
static void roll_part(const struct op_tensor *to, const struct op_tensor *from, uint32_t axis,
		      int64_t shift, uint32_t tile, uint32_t tiles)
{
	struct op_tensor out = *to;
	struct op_tensor in = *from;
	const int64_t length = out.dim[axis];
	const int64_t size = op_dtype_size(out.dtype);

	out.dim[axis] = in.dim[axis] = (uint32_t)(length - shift);
	out.data = (char *)to->data + shift * out.stride[axis] * size;
	copy_view(&out, &in, tile, tiles);

	out.dim[axis] = in.dim[axis] = (uint32_t)shift;
	out.data = to->data;
	in.data = (char *)from->data + (length - shift) * in.stride[axis] * size;
	copy_view(&out, &in, tile, tiles);
}

/* The elements of one step of dim d. */
static uint64_t elements_within(const struct op_tensor *t, uint32_t d)
{
	uint64_t n = 1;

	while (++d < QUOIT_MAX_DIMS)
		n *= t->dim[d];
	return n;
}

/* `n` steps of dim d from step `at` on, which counts through all dims up to d. */
static struct op_tensor some_of(const struct op_tensor *t, uint32_t d, uint64_t at, uint32_t n)
{
	struct op_tensor some = *t;
	int64_t offset = 0;

	for (uint32_t i = d + 1; i-- > 0; at /= t->dim[i]) {
		offset += (int64_t)(at % t->dim[i]) * t->stride[i];
		some.dim[i] = 1;
	}
	some.dim[d] = n;
	some.data = (char *)t->data + offset * op_dtype_size(t->dtype);
	return some;
}

/* Roll the steps begin..end - 1 of all dims before the axis. */
static void roll_steps(const struct op_args *args, uint32_t axis, int64_t shift, uint64_t begin,
		       uint64_t end)
{
	const struct op_tensor *t = &args->t[0];
	const uint32_t d = axis - 1;
	const uint64_t bytes = elements_within(t, d) * op_dtype_size(t->dtype);
	const uint64_t most = bytes < ROLL_BYTES ? ROLL_BYTES / bytes : 1;

	for (uint64_t n; begin < end; begin += n) {
		const uint64_t row = t->dim[d] - begin % t->dim[d];
		struct op_tensor out, in;

		n = row < end - begin ? row : end - begin;
		n = n < most ? n : most;
		out = some_of(&args->t[0], d, begin, (uint32_t)n);
		in = some_of(&args->t[1], d, begin, (uint32_t)n);
		roll_part(&out, &in, axis, shift, 0, 1);
	}
}

static void roll_run(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	const struct op_tensor *t = &args->t[0];
	const uint32_t axis = args->arg & 3;
	const int64_t length = t->dim[axis];
	uint64_t steps = 1;
	int64_t shift;

	if (op_count(t) == 0)
		return;
	shift = args->scalar[0].i % length;
	shift += shift < 0 ? length : 0;
	for (uint32_t d = 0; d < axis; d++)
		steps *= t->dim[d];
	if (steps < tiles || axis == 0)
		roll_part(&args->t[0], &args->t[1], axis, shift, tile, tiles);
	else
		roll_steps(args, axis, shift, steps * tile / tiles, steps * (tile + 1) / tiles);
}

const struct op_impl OP_NAME(op_copy) = {op_tiles_by_output, copy_run, NULL};
const struct op_impl OP_NAME(op_roll) = {op_tiles_by_output, roll_run, NULL};

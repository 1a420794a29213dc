/* SPDX-License-Identifier: MIT */
/* walk.c - applies a kernel for contiguous arrays to tensors with any strides */
#include <stdlib.h>
#include <string.h>

#include "walk.h"
#include "half.h"

/* For rows shorter than this, calling a kernel costs more than copying them. */
#define WALK_SHORT_ROW 64

/* Collect the dims that are not 1, and every operand's strides in them, in bytes. */
static void walk_collect(struct walk *walk, const struct op_tensor *const t[])
{
	for (uint32_t d = 0; d < QUOIT_MAX_DIMS; d++) {
		walk->count *= t[0]->dim[d];
		if (t[0]->dim[d] == 1)
			continue;
		walk->dim[walk->dims] = t[0]->dim[d];
		for (uint32_t i = 0; i < walk->operands; i++)
			walk->operand[i].stride[walk->dims] =
				t[i]->stride[d] * walk->operand[i].size;
		walk->dims++;
	}
}

static void walk_swap_dims(struct walk *walk, uint32_t a, uint32_t b)
{
	uint64_t dim = walk->dim[a];

	walk->dim[a] = walk->dim[b];
	walk->dim[b] = dim;
	for (uint32_t i = 0; i < walk->operands; i++) {
		int64_t *stride = walk->operand[i].stride;
		int64_t old = stride[a];

		stride[a] = stride[b];
		stride[b] = old;
	}
}

/* Sort the dims by the first operand's strides, larger ones first. */
static void walk_sort(struct walk *walk)
{
	const int64_t *stride = walk->operand[0].stride;

	for (uint32_t i = 1; i < walk->dims; i++) {
		for (uint32_t d = i; d > 0 && llabs(stride[d - 1]) < llabs(stride[d]); d--)
			walk_swap_dims(walk, d - 1, d);
	}
}

static bool walk_can_merge(const struct walk *walk, uint32_t d)
{
	for (uint32_t i = 0; i < walk->operands; i++) {
		const int64_t *stride = walk->operand[i].stride;

		if (stride[d] != stride[d + 1] * (int64_t)walk->dim[d + 1])
			return false;
	}
	return true;
}

/* Merge dims d and d + 1 wherever every operand steps evenly through both. */
static void walk_merge(struct walk *walk)
{
	uint32_t d = 0;

	while (d + 1 < walk->dims) {
		if (!walk_can_merge(walk, d)) {
			d++;
			continue;
		}
		walk->dim[d + 1] *= walk->dim[d];
		walk->dims--;
		for (uint32_t e = d; e < walk->dims; e++) {
			walk->dim[e] = walk->dim[e + 1];
			for (uint32_t i = 0; i < walk->operands; i++)
				walk->operand[i].stride[e] = walk->operand[i].stride[e + 1];
		}
	}
}

/* Decide how an operand reaches the kernel. */
static void walk_classify(struct walk *walk, struct walk_operand *operand)
{
	const int64_t *stride = operand->stride;
	uint32_t last = walk->dims - 1;
	bool constant = stride[last] == 0;
	bool dense = stride[last] == operand->size;

	for (uint32_t d = 0; d < last; d++) {
		constant = constant && stride[d] == 0;
		if (walk->short_rows)
			dense = dense && stride[d] == stride[d + 1] * (int64_t)walk->dim[d + 1];
	}
	operand->kind = dense ? WALK_DIRECT : constant ? WALK_CONSTANT : WALK_STAGED;
	walk->staged = walk->staged || !dense;
}

void walk_make(struct walk *ret_walk, const struct op_tensor *const t[], uint32_t operands,
	       uint32_t outputs, enum walk_order order)
{
	struct walk *walk = ret_walk;

	walk->operands = operands;
	walk->outputs = outputs;
	walk->count = 1;
	walk->dims = 0;
	walk->staged = false;
	for (uint32_t i = 0; i < operands; i++) {
		walk->operand[i].data = t[i]->data;
		walk->operand[i].size = op_dtype_size(t[i]->dtype);
	}

	walk_collect(walk, t);
	if (walk->dims == 0) {
		walk->dims = 1;
		walk->dim[0] = 1;
		for (uint32_t i = 0; i < operands; i++)
			walk->operand[i].stride[0] = walk->operand[i].size;
	}
	if (order == WALK_ANY_ORDER)
		walk_sort(walk);
	walk_merge(walk);
	walk->short_rows = walk->dims > 1 && walk->dim[walk->dims - 1] < WALK_SHORT_ROW;
	for (uint32_t i = 0; i < operands; i++)
		walk_classify(walk, &walk->operand[i]);
}

#define WALK_REPEAT(type)                                                                          \
	static void walk_repeat_##type(type *to, type value, size_t n)                             \
	{                                                                                          \
		for (size_t i = 0; i < n; i++)                                                     \
			to[i] = value;                                                             \
	}

WALK_REPEAT(uint16_t)
WALK_REPEAT(uint32_t)
WALK_REPEAT(uint64_t)

/* Write one element n times: it is broadcast along a row. */
static void walk_repeat(char *to, const char *from, size_t n, uint32_t size)
{
	if (size == sizeof(uint32_t))
		walk_repeat_uint32_t((uint32_t *)to, *(const uint32_t *)from, n);
	else if (size == sizeof(uint16_t))
		walk_repeat_uint16_t((uint16_t *)to, *(const uint16_t *)from, n);
	else
		walk_repeat_uint64_t((uint64_t *)to, *(const uint64_t *)from, n);
}

void walk_strided(char *to, int64_t to_stride, const char *from, int64_t from_stride, size_t n,
		  uint32_t size)
{
	if (to_stride == size && from_stride == size) {
		memmove(to, from, n * size);
	} else if (to_stride == size && from_stride == 0) {
		walk_repeat(to, from, n, size);
	} else if (size == sizeof(uint32_t)) {
		for (size_t i = 0; i < n; i++, to += to_stride, from += from_stride)
			*(uint32_t *)to = *(const uint32_t *)from;
	} else if (size == sizeof(uint16_t)) {
		for (size_t i = 0; i < n; i++, to += to_stride, from += from_stride)
			*(uint16_t *)to = *(const uint16_t *)from;
	} else {
		for (size_t i = 0; i < n; i++, to += to_stride, from += from_stride)
			*(uint64_t *)to = *(const uint64_t *)from;
	}
}

void walk_seek(const struct walk *walk, uint64_t index, uint64_t ret_pos[QUOIT_MAX_DIMS])
{
	if (!walk->count) { /* nothing to find, and a dim of 0 to divide by */
		memset(ret_pos, 0, QUOIT_MAX_DIMS * sizeof *ret_pos);
		return;
	}
	for (uint32_t d = walk->dims; d-- > 1;) {
		ret_pos[d] = index % walk->dim[d];
		index /= walk->dim[d];
	}
	ret_pos[0] = index;
}

size_t walk_piece(const struct walk *walk, const uint64_t pos[QUOIT_MAX_DIMS], uint64_t left)
{
	uint64_t row = walk->dim[walk->dims - 1] - pos[walk->dims - 1];

	if (!walk->short_rows && row < left)
		left = row;
	return walk->staged && left > WALK_PIECE ? WALK_PIECE : left;
}

void walk_step(const struct walk *walk, uint64_t pos[QUOIT_MAX_DIMS], size_t n)
{
	uint32_t d = walk->dims - 1;

	pos[d] += n;
	for (; d > 0 && pos[d] >= walk->dim[d]; d--) {
		pos[d - 1] += pos[d] / walk->dim[d];
		pos[d] %= walk->dim[d];
	}
}

char *walk_address(const struct walk *walk, uint32_t which, const uint64_t pos[QUOIT_MAX_DIMS])
{
	const struct walk_operand *operand = &walk->operand[which];
	int64_t offset = 0;

	for (uint32_t d = 0; d < walk->dims; d++)
		offset += (int64_t)pos[d] * operand->stride[d];
	return operand->data + offset;
}

/* Copy n elements, row by row, between an operand and an array. */
static void walk_copy(const struct walk *walk, uint32_t which, const uint64_t start[QUOIT_MAX_DIMS],
		      int64_t offset, size_t n, char *array, bool store)
{
	const struct walk_operand *operand = &walk->operand[which];
	uint32_t last = walk->dims - 1;
	int64_t stride = operand->stride[last];
	uint64_t pos[QUOIT_MAX_DIMS];

	memcpy(pos, start, sizeof(pos));
	while (n > 0) {
		char *there = walk_address(walk, which, pos) + offset;
		uint64_t row = walk->dim[last] - pos[last];
		size_t now = row < n ? row : n;

		if (store)
			walk_strided(there, stride, array, operand->size, now, operand->size);
		else
			walk_strided(array, operand->size, there, stride, now, operand->size);
		array += now * operand->size;
		n -= now;
		walk_step(walk, pos, now);
	}
}

void *walk_load(const struct walk *walk, uint32_t which, const uint64_t pos[QUOIT_MAX_DIMS],
		int64_t offset, size_t n, struct walk_buffer *buffer)
{
	const struct walk_operand *operand = &walk->operand[which];

	if (operand->kind == WALK_DIRECT)
		return walk_address(walk, which, pos) + offset;
	walk_copy(walk, which, pos, offset, n, buffer->bytes, false);
	return buffer->bytes;
}

void walk_store(const struct walk *walk, uint32_t which, const uint64_t pos[QUOIT_MAX_DIMS],
		size_t n, const void *from)
{
	walk_copy(walk, which, pos, 0, n, (char *)from, true);
}

/* Is the element that repeats along this row in the buffer already? */
static bool walk_has(const struct walk *walk, uint32_t which, const uint64_t pos[QUOIT_MAX_DIMS])
{
	const uint32_t last = walk->dims - 1;

	return walk->operand[which].stride[last] == 0 && !walk->short_rows && pos[last] != 0;
}

void walk_run(const struct walk *walk, uint64_t begin, uint64_t end, walk_fn *fn, void *context)
{
	struct walk_buffer buffer[QUOIT_MAX_TENSORS_PER_JOB];
	void *ptr[QUOIT_MAX_TENSORS_PER_JOB];
	uint64_t pos[QUOIT_MAX_DIMS] = {0};
	uint64_t first = end - begin < WALK_PIECE ? end - begin : WALK_PIECE;

	if (begin >= end)
		return;
	walk_seek(walk, begin, pos);
	for (uint32_t i = 0; i < walk->operands; i++) {
		const struct walk_operand *operand = &walk->operand[i];

		ptr[i] = buffer[i].bytes;
		if (operand->kind == WALK_CONSTANT)
			walk_strided(ptr[i], operand->size, operand->data, 0, first, operand->size);
	}
	for (bool fresh = true; begin < end; fresh = false) {
		size_t n = walk_piece(walk, pos, end - begin);

		for (uint32_t i = 0; i < walk->operands; i++) {
			const struct walk_operand *operand = &walk->operand[i];

			if (operand->kind == WALK_DIRECT)
				ptr[i] = walk_address(walk, i, pos);
			else if (operand->kind == WALK_STAGED && i >= walk->outputs &&
				 (fresh || !walk_has(walk, i, pos)))
				walk_load(walk, i, pos, 0, n, &buffer[i]);
		}
		fn(ptr, begin, n, context);
		for (uint32_t i = 0; i < walk->outputs; i++) {
			if (walk->operand[i].kind != WALK_DIRECT)
				walk_store(walk, i, pos, n, ptr[i]);
		}
		walk_step(walk, pos, n);
		begin += n;
	}
}

/* A scalar as one element of its type, in the low bytes. */
static uint64_t scalar_bits(union op_scalar scalar, uint8_t dtype)
{
	switch (dtype) {
	case QUOIT_F32:
		return quoit_float_bits((f32)scalar.f);
	case QUOIT_BF16:
		return half_bf16_from_f64(scalar.f);
	case QUOIT_F16:
		return half_f16_from_f64(scalar.f);
	default:
		return scalar.u;
	}
}

struct op_tensor walk_scalar(const struct op_tensor *t, union op_scalar scalar, uint64_t *storage)
{
	struct op_tensor repeat = {.data = storage, .dtype = t->dtype};

	memcpy(repeat.dim, t->dim, sizeof(repeat.dim));
	*storage = scalar_bits(scalar, t->dtype);
	return repeat;
}

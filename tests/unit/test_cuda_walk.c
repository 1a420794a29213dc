/* SPDX-License-Identifier: MIT */
/* test_cuda_walk.c - a walk for a device's kernels visits every element once, at its place. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/walk.h"

struct row {
	uint32_t dim[QUOIT_MAX_DIMS];
	int32_t out[QUOIT_MAX_DIMS], in[QUOIT_MAX_DIMS];
	bool dense; /* it becomes one dim with a stride of 1 */
};

static const struct row rows[] = {
	{{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, true},
	{{2, 3, 5, 7}, {105, 35, 7, 1}, {105, 35, 7, 1}, true},
	{{1, 1, 5, 7}, {35, 35, 7, 1}, {1, 1, 1, 5}, false},  /* transposed */
	{{1, 1, 5, 7}, {35, 35, 1, 5}, {35, 35, 1, 5}, true}, /* both by columns */
	{{1, 1, 5, 8}, {0, 0, 8, 1}, {0, 0, 0, 1}, false},    /* a row broadcast */
	{{1, 1, 5, 8}, {0, 0, 8, 1}, {0, 0, 0, 0}, true},     /* one element broadcast */
	{{1, 4, 5, 8}, {0, 96, 16, 1}, {0, 40, 8, 1}, false}, /* padded rows */
	{{1, 4, 5, 8}, {0, 40, 8, 1}, {0, 40, 8, -1}, false}, /* backwards */
	{{3, 1, 4, 1}, {4, 4, 1, 1}, {4, 0, 1, 0}, true},
	{{1, 0, 5, 1}, {0, 0, 0, 0}, {0, 0, 0, 0}, false},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static struct quoit_device_tensor tensor(const struct row *row, const int32_t stride[4])
{
	struct quoit_device_tensor t = {.data = 1 << 20};

	memcpy(t.dim, row->dim, sizeof(t.dim));
	memcpy(t.stride, stride, sizeof(t.stride));
	return t;
}

/* The place of element i, as the kernels compute it. */
static int64_t offset(const struct walk *w, uint32_t operand, uint64_t i)
{
	int64_t at = 0;

	for (uint32_t d = w->dims; d-- > 0;) {
		at += (int64_t)(i % w->dim[d]) * w->operand[operand].stride[d];
		i /= w->dim[d];
	}
	return at;
}

/* Where the tensor has the element with row-major number i. */
static int64_t place(const struct quoit_device_tensor *t, uint64_t i)
{
	int64_t at = 0;

	for (uint32_t d = QUOIT_MAX_DIMS; d-- > 0;) {
		at += (int64_t)(i % t->dim[d]) * t->stride[d];
		i /= t->dim[d];
	}
	return at;
}

Test(cuda_walk, every_element_is_visited_once)
{
	for (size_t r = 0; r < ROWS * 2; r++) {
		const struct row *row = &rows[r / 2];
		const enum walk_order order = r & 1 ? WALK_ANY_ORDER : WALK_ROW_MAJOR;
		const struct quoit_device_tensor out = tensor(row, row->out);
		const struct quoit_device_tensor in = tensor(row, row->in);
		struct walk walk;

		walk_make(&walk, (const struct quoit_device_tensor *[]){&out, &in}, 2, order);
		cr_assert_eq(walk.count, walk_count(&out));
		for (uint64_t i = 0; i < walk.count; i++) {
			uint64_t j = 0;

			while (j < walk.count && place(&out, j) != offset(&walk, 0, i))
				j++;
			cr_assert_lt(j, walk.count, "row %zu: no element there", r / 2);
			cr_assert_eq(place(&in, j), offset(&walk, 1, i), "row %zu", r / 2);
			cr_assert(order == WALK_ANY_ORDER || i == j, "row %zu: order", r / 2);
		}
		if (order == WALK_ANY_ORDER && walk.count > 0)
			cr_assert_eq(walk_is_dense(&walk), row->dense, "row %zu", r / 2);
	}
}

Test(cuda_walk, wide_elements_cover_the_same_bytes)
{
	for (size_t r = 0; r < ROWS; r++) {
		const struct quoit_device_tensor out = tensor(&rows[r], rows[r].out);
		const struct quoit_device_tensor in = tensor(&rows[r], rows[r].in);
		struct walk walk, wide;
		uint32_t size;

		walk_make(&walk, (const struct quoit_device_tensor *[]){&out, &in}, 2,
			  WALK_ANY_ORDER);
		wide = walk;
		size = walk_widen(&wide, 2, 4);
		cr_assert_eq(wide.count * size, walk.count * 4);
		for (uint64_t i = 0; i < walk.count; i++) {
			for (uint32_t o = 0; o < 2; o++)
				cr_assert_eq(offset(&walk, o, i) * 4,
					     offset(&wide, o, i * 4 / size) * (int64_t)size +
						     (int64_t)(i * 4 % size),
					     "row %zu", r);
		}
	}
}

Test(cuda_walk, wide_elements_are_aligned)
{
	static const struct {
		uint64_t data;
		uint32_t columns;
		int32_t pitch;
		uint32_t size;
	} table[] = {{0x1000, 8, 32, 16}, {0x1008, 8, 32, 8}, {0x1004, 8, 32, 4},
		     {0x1000, 6, 32, 8},  {0x1000, 8, 34, 8}, {0x1000, 8, 33, 4},
		     {0x1000, 3, 32, 4}};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct quoit_device_tensor t = {.data = table[i].data,
						      .dim = {1, 1, 5, table[i].columns},
						      .stride = {0, 0, table[i].pitch, 1}};
		struct walk walk;

		walk_make(&walk, (const struct quoit_device_tensor *[]){&t, &t}, 2, WALK_ANY_ORDER);
		cr_assert_eq(walk_widen(&walk, 2, 4), table[i].size, "row %zu", i);
	}
}

/* The parts of a walk follow each other, and each knows where it begins. */
static void check_parts(struct walk walk, const struct walk *whole, uint64_t *next)
{
	const uint32_t size[WALK_OPERANDS] = {4, 8};
	struct walk rest;

	while (walk_cut(&walk, &rest, size)) {
		check_parts(walk, whole, next);
		walk = rest;
	}
	cr_assert_eq(walk.first, *next);
	cr_assert_lt(walk.count, WALK_MOST);
	*next += walk.count;
	for (uint32_t o = 0; o < 2; o++) {
		const uint64_t begin = whole->operand[o].data;
		const int64_t last = offset(whole, o, walk.first + walk.count - 1);

		cr_assert_eq(walk.operand[o].data,
			     begin + (uint64_t)offset(whole, o, walk.first) * size[o]);
		cr_assert_eq(walk.operand[o].data +
				     (uint64_t)offset(&walk, o, walk.count - 1) * size[o],
			     begin + (uint64_t)last * size[o]);
	}
}

Test(cuda_walk, what_is_too_long_is_cut_into_parts)
{
	static const struct row long_rows[] = {
		{{1, 1, 1, 3000000001}, {0, 0, 0, 1}, {0, 0, 0, 1}, true},
		{{1, 1, 3, 3000000000}, {0, 0, 2000000000, 2}, {0, 0, 1, 3}, false},
		{{5, 7, 30000, 40001}, {7, 1, 700, 2100000}, {1, 5, 35, 1050000}, false},
	};

	for (size_t r = 0; r < sizeof(long_rows) / sizeof(long_rows[0]); r++) {
		const struct quoit_device_tensor out = tensor(&long_rows[r], long_rows[r].out);
		const struct quoit_device_tensor in = tensor(&long_rows[r], long_rows[r].in);
		struct walk walk;
		uint64_t next = 0;

		walk_make(&walk, (const struct quoit_device_tensor *[]){&out, &in}, 2,
			  WALK_ROW_MAJOR);
		check_parts(walk, &walk, &next);
		cr_assert_eq(next, walk.count);
	}
}

/* SPDX-License-Identifier: MIT */
/* ops_case.c - build a job for an operation, run it in every way, compare with the reference. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops_reference.h"

/* Numbers that have revealed bugs somewhere. */
static const double special_f[] = {0.0,    -0.0,         NAN,           INFINITY, -INFINITY, 1e-310,
				   -1e-40, 0x1p-126,     1e300,         -3e38,    0.5,       -1.0,
				   1.0,    2147483648.0, -2147483648.0, 1e19};
/*
 * Between two halves: ties, numbers that look like ties after a first rounding, and ends of the
 * range.
 */
static const double special_half[] = {1 + 0x1p-8,
				      1 + 0x3p-8,
				      1 + 0x1p-8 + 0x1p-40,
				      1 + 0x1p-8 - 0x1p-40,
				      1 + 0x1p-11,
				      1 + 0x3p-11,
				      1 + 0x1p-11 + 0x1p-40,
				      -1 - 0x1p-11 + 0x1p-40,
				      65504.0,
				      65519.99999999,
				      65520.0,
				      0x1.ffp127,
				      0x1.feffffffffp127,
				      0x1p-25,
				      0x1.00000001p-25,
				      0x1.8p-134};
static const int64_t special_i[] = {0, 1, -1, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN,
				    0x80000000,
				    /* as above */
				    257, 259, 2049, -65519, 65520, (1ll << 62) + (1ll << 54) + 1,
				    -(1ll << 62) - (1ll << 54) - 1, (1ll << 62) + (3ll << 54) - 1};

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

size_t ops_isas(struct ops_isa ret_isas[3])
{
	size_t n = 0;

	ret_isas[n++] = (struct ops_isa){"base", ops_table_base};
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		ret_isas[n++] = (struct ops_isa){"avx2", ops_table_avx2};
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
		ret_isas[n++] = (struct ops_isa){"avx512", ops_table_avx512};
	return n;
}

static void fill(void *bytes, size_t elements, uint8_t dtype, uint32_t seed)
{
	uint32_t state = seed * 2654435761u + 12345;

	for (size_t i = 0; i < elements; i++) {
		const uint32_t r = next_random(&state);
		const bool special = r % 16 == 0;
		const double f =
			special ? r / 256 % 2 ? special_half[r / 16 % 16] : special_f[r / 16 % 16]
				: (r % 100003) / 12500.0 - 4.0;
		const int64_t n = special ? special_i[r / 16 % 16]
					  : (int64_t)r * (int32_t)next_random(&state) - (1 << 30);

		if (ops_is_float(dtype))
			ops_store_f(dtype, (char *)bytes + i * op_dtype_size(dtype), f);
		else if (dtype == QUOIT_I32)
			((int32_t *)bytes)[i] = (int32_t)(uint64_t)n;
		else
			((int64_t *)bytes)[i] = n;
	}
}

void ops_case_tensor(struct ops_case *c, int which, uint8_t dtype, const uint32_t dim[4],
		     enum ops_layout layout, uint32_t seed)
{
	struct op_tensor *t = &c->args.t[which];
	const size_t size = op_dtype_size(dtype);
	size_t elements;

	memcpy(t->dim, dim, sizeof(t->dim));
	t->dtype = dtype;
	elements = ops_lay_out(t, layout);
	c->memory[which].size = elements * size;
	c->memory[which].bytes = malloc(elements * size + (elements == 0));
	t->data = c->memory[which].bytes;
	fill(t->data, elements, dtype, seed);
	if (layout == OPS_REVERSED && elements > 0) {
		t->data = (char *)t->data + (t->dim[3] - 1) * size;
		t->stride[3] = -1;
	}
}

void ops_case_count(struct ops_case *c, int which, double first, double step)
{
	struct op_tensor *t = &c->args.t[which];
	uint32_t pos[4] = {0};
	int64_t i = 0;

	if (c->memory[which].size == 0)
		return;
	do {
		int64_t offset = 0;
		const double x = first + (double)i++ * step;

		for (int d = 0; d < 4; d++)
			offset += pos[d] * t->stride[d];
		if (ops_is_float(t->dtype))
			ops_store_f(t->dtype,
				    (char *)t->data + offset * (int64_t)op_dtype_size(t->dtype), x);
		else if (t->dtype == QUOIT_I32)
			((int32_t *)t->data)[offset] = (int32_t)x;
		else
			((int64_t *)t->data)[offset] = (int64_t)x;
	} while (ops_next(t->dim, pos));
}

void ops_case_done(struct ops_case *c)
{
	for (int i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		free(c->memory[i].bytes);
	memset(c, 0, sizeof(*c));
}

/* Are all tensors short vectors, for which the operation has a function of its own? */
static bool can_run_shortly(const struct ops_case *c, const struct op_impl *impl)
{
	for (int i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct op_tensor *t = &c->args.t[i];

		if (t->data && (t->dim[0] != 1 || t->dim[1] != 1 || t->dim[2] != 1 ||
				t->dim[3] > OP_SHORT || t->stride[3] != 1))
			return false;
	}
	return impl->run_short;
}

static void run_shortly(struct ops_case *c, const struct op_impl *impl)
{
	void *data[OP_SHORT_TENSORS];

	for (int i = 0; i < OP_SHORT_TENSORS; i++)
		data[i] = c->args.t[i].data;
	impl->run_short(&c->args, data, c->args.t[0].dtype, c->args.t[0].dim[3]);
}

void ops_case_run(struct ops_case *c, const struct ops_isa *isa, uint32_t tiles)
{
	const struct op_impl *impl = isa->table[c->args.opcode];

	c->args.error = 0;
	if (tiles == OPS_SHORTLY) {
		run_shortly(c, impl);
		return;
	}
	/* Backwards, because tiles may run in any order. */
	for (uint32_t tile = tiles; tile-- > 0;)
		impl->run(&c->args, tile, tiles);
	if (impl->finish)
		impl->finish(&c->args);
}

/* How many bytes a tensor takes in a snapshot. */
static size_t room(const struct ops_case *c, int which)
{
	return (c->memory[which].size + 15) / 16 * 16;
}

/* A copy of all memory of a case. */
static void *snapshot(const struct ops_case *c, size_t *ret_size)
{
	char *copy;
	size_t size = 0;

	for (int i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		size += room(c, i);
	copy = calloc(size + 1, 1);
	*ret_size = size;
	for (int i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		if (c->memory[i].size > 0)
			memcpy(copy, c->memory[i].bytes, c->memory[i].size);
		copy += room(c, i);
	}
	return copy - size;
}

static void restore(struct ops_case *c, const char *copy)
{
	for (int i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		if (c->memory[i].size > 0)
			memcpy(c->memory[i].bytes, copy, c->memory[i].size);
		copy += room(c, i);
	}
}

/* The least normal number of a type, and the distance from 1 to the next number. */
static const struct {
	double least, epsilon;
} scale[QUOIT_DTYPE_NR] = {
	[QUOIT_F32] = {0x1p-126, 0x1p-23},
	[QUOIT_F64] = {0x1p-1022, 0x1p-52},
	[QUOIT_BF16] = {0x1p-126, 0x1p-7},
	[QUOIT_F16] = {0x1p-14, 0x1p-10},
};

static bool close_enough(uint8_t dtype, double x, double y, const struct ops_tolerance *tolerance)
{
	if (isnan(x) || isnan(y))
		return isnan(x) && isnan(y);
	if (x == y)
		return tolerance->ulp > 0 || x != 0 || signbit(x) == signbit(y) || isnan(y);
	if (isinf(x) || isinf(y))
		return false;
	return fabs(x - y) <= tolerance->absolute ||
	       fabs(x - y) <=
		       tolerance->ulp * scale[dtype].epsilon * fmax(fabs(y), scale[dtype].least);
}

static void compare_floats(const struct ops_case *c, int which, const char *want,
			   const struct ops_tolerance *tolerance, const char *how, uint32_t tiles)
{
	const uint8_t dtype = c->args.t[which].dtype;
	const char *got = c->memory[which].bytes;

	for (size_t e = 0; e < c->memory[which].size; e += op_dtype_size(dtype)) {
		const double x = ops_load_f(dtype, got + e), y = ops_load_f(dtype, want + e);

		/* an assertion that holds takes longer than the rest */
		if (!close_enough(dtype, x, y, tolerance))
			cr_assert(false,
				  "%s of %s, %s, %u tiles: byte %zu of tensor %d is %.17g, should "
				  "be %.17g",
				  ops_name(c->args.opcode), ops_type_name(dtype), how, tiles, e,
				  which, x, y);
	}
}

/* Compare all memory of the case with the reference's, also between elements. */
static void compare(const struct ops_case *c, const char *want,
		    const struct ops_tolerance *tolerance, const char *how, uint32_t tiles)
{
	const char *name = ops_name(c->args.opcode);

	for (int i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const uint8_t dtype = c->args.t[i].dtype;
		const size_t size = c->memory[i].size;

		if (size && memcmp(c->memory[i].bytes, want, size)) {
			cr_assert(ops_is_float(dtype), "%s of %s, %s, %u tiles: tensor %d differs",
				  name, ops_type_name(dtype), how, tiles, i);
			compare_floats(c, i, want, tolerance, how, tiles);
		}
		want += room(c, i);
	}
}

/* The compiler decides which of two NaNs a sum keeps: make all of them the same. */
static void unite_nans(struct ops_case *c)
{
	for (int i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const uint8_t dtype = c->args.t[i].dtype;
		char *bytes = c->memory[i].bytes;

		if (!ops_is_float(dtype))
			continue;
		for (size_t e = 0; e < c->memory[i].size; e += op_dtype_size(dtype))
			if (isnan(ops_load_f(dtype, bytes + e)))
				ops_store_f(dtype, bytes + e, NAN);
	}
}

void ops_case_check(struct ops_case *c, struct ops_tolerance tolerance)
{
	static const uint32_t tiles[] = {OPS_SHORTLY, 1, 2, 3, 7};
	struct ops_isa isas[3];
	const size_t isa_nr = ops_isas(isas);
	size_t size;
	char *before = snapshot(c, &size);
	char *want;
	char *first = NULL;
	int32_t error;

	c->args.error = 0;
	ops_reference_run(&c->args);
	error = c->args.error;
	want = snapshot(c, &size);
	for (size_t i = 0; i < isa_nr; i++) {
		for (size_t j = 0; j < sizeof(tiles) / sizeof(tiles[0]); j++) {
			char *got;

			if (tiles[j] == OPS_SHORTLY &&
			    !can_run_shortly(c, isas[i].table[c->args.opcode]))
				continue;
			restore(c, before);
			ops_case_run(c, &isas[i], tiles[j]);
			cr_assert_eq(c->args.error, error);
			if (!first)
				compare(c, want, &tolerance, isas[i].name, tiles[j]);
			unite_nans(c);
			got = snapshot(c, &size);
			if (first)
				cr_assert(memcmp(got, first, size) == 0,
					  "%s: %s in %u tiles gives other bits",
					  ops_name(c->args.opcode), isas[i].name, tiles[j]);
			if (first)
				free(got);
			else
				first = got;
		}
		if (!tolerance.same_bits) {
			free(first);
			first = NULL;
		}
	}
	restore(c, before);
	free(first);
	free(want);
	free(before);
}

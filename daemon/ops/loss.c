/* SPDX-License-Identifier: MIT */
/* loss.c - computes the squared loss and its gradient in one pass */
#include "parts.h"

#define LOSS_LANES 32

/* So many elements have their squares summed before their gradient is written: they stay in L1. */
#define LOSS_GROUP 512

struct loss {
	f64 sum;
	f64 twice; /* 2 scalar[0] */
};

/* Squares in double, in interleaved sums that are the same for every instruction set. */
#define LOSS_SUM(type)                                                                             \
	static f64 loss_sum_##type(const type *x, const type *y, size_t n)                         \
	{                                                                                          \
		f64 lane[LOSS_LANES] = {0};                                                        \
		size_t i = 0;                                                                      \
                                                                                                   \
		for (; i + LOSS_LANES <= n; i += LOSS_LANES) {                                     \
			for (int l = 0; l < LOSS_LANES; l++) {                                     \
				f64 d = (f64)x[i + l] - (f64)y[i + l];                             \
                                                                                                   \
				lane[l] += d * d;                                                  \
			}                                                                          \
		}                                                                                  \
		for (size_t l = 0; i < n; i++, l++) {                                              \
			f64 d = (f64)x[i] - (f64)y[i];                                             \
                                                                                                   \
			lane[l] += d * d;                                                          \
		}                                                                                  \
		for (int half = LOSS_LANES / 2; half > 0; half /= 2) {                             \
			for (int l = 0; l < half; l++)                                             \
				lane[l] += lane[l + half];                                         \
		}                                                                                  \
		return lane[0];                                                                    \
	}

/* The operands are x and y, after the gradient if there is one. */
#define LOSS(type)                                                                                 \
	LOSS_SUM(type)                                                                             \
                                                                                                   \
	static void loss_value_##type(void *const ptr[], uint64_t index, size_t n, void *context)  \
	{                                                                                          \
		struct loss *loss = context;                                                       \
                                                                                                   \
		(void)index;                                                                       \
		loss->sum += loss_sum_##type(ptr[0], ptr[1], n);                                   \
	}                                                                                          \
                                                                                                   \
	static void loss_gradient_##type(void *const ptr[], uint64_t index, size_t n,              \
					 void *context)                                            \
	{                                                                                          \
		struct loss *loss = context;                                                       \
		const type twice = (type)loss->twice;                                              \
                                                                                                   \
		(void)index;                                                                       \
		for (size_t i = 0; i < n; i += LOSS_GROUP) {                                       \
			size_t group = n - i < LOSS_GROUP ? n - i : LOSS_GROUP;                    \
			type *gradient = (type *)ptr[0] + i;                                       \
			const type *x = (const type *)ptr[1] + i;                                  \
			const type *y = (const type *)ptr[2] + i;                                  \
                                                                                                   \
			loss->sum += loss_sum_##type(x, y, group);                                 \
			OP_INDEPENDENT                                                             \
			for (size_t j = 0; j < group; j++)                                         \
				gradient[j] = twice * (x[j] - y[j]);                               \
		}                                                                                  \
	}

LOSS(f32)
LOSS(f64)

static void loss_run(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	static walk_fn *const value[] = {
		[QUOIT_F32] = loss_value_f32, [QUOIT_F64] = loss_value_f64};
	static walk_fn *const gradient[] = {
		[QUOIT_F32] = loss_gradient_f32, [QUOIT_F64] = loss_gradient_f64};
	const struct op_tensor *t[] = {&args->t[3], &args->t[1], &args->t[2]};
	const bool wanted = args->t[3].data != NULL;
	struct walk walk;

	walk_make(&walk, wanted ? t : t + 1, wanted ? 3 : 2, wanted, WALK_ANY_ORDER);
	for (uint32_t p = part_first(walk.count, tile, tiles);
	     p < part_first(walk.count, tile + 1, tiles); p++) {
		struct loss loss = {.twice = 2 * args->scalar[0].f};

		part_run(&walk, p, (wanted ? gradient : value)[args->t[1].dtype], &loss);
		args->part[p].value.f = loss.sum;
	}
}

static void loss_finish(struct op_args *args)
{
	f64 sum = 0;

	for (uint32_t p = 0; p < part_count(op_count(&args->t[1])); p++)
		sum += args->part[p].value.f;
	sum *= args->scalar[0].f;
	if (args->t[0].dtype == QUOIT_F32)
		*(f32 *)args->t[0].data = (f32)sum;
	else
		*(f64 *)args->t[0].data = sum;
}

static uint32_t loss_tiles(const struct op_args *args, uint32_t cores)
{
	return part_tiles(&args->t[1], cores);
}

const struct op_impl OP_NAME(op_sqloss) = {loss_tiles, loss_run, loss_finish};

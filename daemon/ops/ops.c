/* SPDX-License-Identifier: MIT */
/* ops.c - chooses an instruction set and a BLAS, finds operations, records failures */
#include <stdlib.h>
#include <time.h>

#include "blas.h"
#include "isa.h"
#include "kernel.h"

/* Products of this size are timed: large enough for every kernel to reach its speed. */
#define OPS_MEASURE_SIZE 384
#define OPS_MEASURE_NS   10000000

static const struct op_impl *const *table; /* NULL until it is chosen */

static const char *ops_choose_isa(void)
{
#if defined(__x86_64__)
	if (isa_has_avx512()) {
		table = ops_table_avx512;
		return "avx512";
	}
	if (isa_has_avx2()) {
		table = ops_table_avx2;
		return "avx2";
	}
#endif
	table = ops_table_base;
	return "base";
}

/* This thread's CPU time: how busy the machine is must not decide which BLAS is the fastest. */
static uint64_t ops_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* GFLOP/s of float32 GEMM with the code in use, on this thread; 0 without memory. */
static double ops_measure_gemm(void)
{
	const uint32_t n = OPS_MEASURE_SIZE;
	const struct op_impl *gemm = ops_find(QUOIT_OP_GEMM);
	struct op_args *args = calloc(1, sizeof(*args));
	float *data = calloc(3 * n * n, sizeof(*data));
	uint64_t start = ops_now();
	uint64_t best = UINT64_MAX;

	for (int i = 0; args && i < 3; i++)
		args->t[i] = (struct op_tensor){.data = data + i * n * n,
						.dim = {1, 1, n, n},
						.stride = {0, 0, n, 1},
						.dtype = QUOIT_F32};
	if (args)
		args->scalar[0].f = 1;
	/* The first call makes buffers and warms up: it counts only if no better one follows. */
	while (args && data && ops_now() - start < OPS_MEASURE_NS) {
		uint64_t begin = ops_now();

		gemm->run(args, 0, 1);
		begin = ops_now() - begin;
		best = begin < best ? begin : best;
	}
	free(data);
	free(args);
	return best == UINT64_MAX ? 0 : 2.0 * n * n * n / (double)best;
}

int ops_init(const char *blas, struct ops_choice *ret_choice)
{
	ret_choice->isa = ops_choose_isa();
	ret_choice->bf16 = isa_has_avx512_bf16() ? "avx512_bf16" : "float32";
	return blas_init(blas, ops_measure_gemm, ret_choice);
}

void ops_adopt(void)
{
	ops_choose_isa();
	blas_adopt();
}

const struct op_impl *ops_find(uint8_t opcode)
{
	if (!table)
		ops_choose_isa();
	return table[opcode];
}

void op_fail(struct op_args *args, int32_t error, uint64_t value0, uint64_t value1)
{
	int32_t none = 0;

	/* Only the winner writes the values; they are read after the last tile. */
	if (!atomic_compare_exchange_strong_explicit(&args->error, &none, error,
						     memory_order_relaxed, memory_order_relaxed))
		return;
	args->error_value[0] = value0;
	args->error_value[1] = value1;
}

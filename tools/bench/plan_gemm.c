/* SPDX-License-Identifier: MIT */
/* plan_gemm.c - measure the heavy kernels: a matrix product, and normal numbers */
#include "bench.h"

#define SIDE 1000u

static int measure_gemm(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct bench_client c;
	quoit_tensor x, y, z;
	double ns;
	int err = bench_open(b, s->cores, NULL, &c);

	if (err)
		return err;
	x = quoit_create_matrix(c.ring, QUOIT_F32, SIDE, SIDE);
	y = quoit_create_matrix(c.ring, QUOIT_F32, SIDE, SIDE);
	z = quoit_create_matrix(c.ring, QUOIT_F32, SIDE, SIDE);
	err = bench_repeat(c.ring, quoit_normal(x, 1, 0), 1, &ns);
	if (!err)
		err = bench_repeat(c.ring, quoit_normal(y, 2, 0), 1, &ns);
	if (!err)
		err = bench_repeat(c.ring, quoit_gemm(z, x, y, 0, 1.0, 0.0), s->count / 10, &ns);
	if (!err)
		err = bench_repeat(c.ring, quoit_gemm(z, x, y, 0, 1.0, 0.0), s->count, &ns);
	*ret = 2.0 * SIDE * SIDE * SIDE / ns;
	bench_close(&c);
	return err;
}

static int measure_normal(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct bench_client c;
	quoit_tensor x;
	double ns;
	int err = bench_open(b, s->cores, NULL, &c);

	if (err)
		return err;
	x = quoit_create_matrix(c.ring, QUOIT_F32, SIDE, SIDE);
	err = bench_repeat(c.ring, quoit_normal(x, 1, 0), s->count / 10, &ns);
	if (!err)
		err = bench_repeat(c.ring, quoit_normal(x, 1, 0), s->count, &ns);
	*ret = (double)SIDE * SIDE / ns * 1e3;
	bench_close(&c);
	return err;
}

static const struct bench_series gemm_series[] = {
	{"quoit_1_core", "GFLOP/s", BENCH_ONE_CORE, measure_gemm, .count = 40},
	{"blas_1_thread", "GFLOP/s", 0, bench_peer,
	 .peer = {"gemm", "f32:1000x1000x1000", "1", "40"}, .peer_word = "gflops"},
	{"quoit_2_cores", "GFLOP/s", BENCH_TWO_CORES, measure_gemm, .count = 60},
	{"blas_2_threads", "GFLOP/s", 0, bench_peer,
	 .peer = {"gemm", "f32:1000x1000x1000", "2", "60"}, .peer_word = "gflops"},
	{NULL},
};

static const struct bench_ratio gemm_ratios[] = {
	{"gemm_1/blas", "quoit_1_core", "blas_1_thread"},
	{"gemm_2/blas", "quoit_2_cores", "blas_2_threads"},
	{NULL},
};

const struct bench_plan bench_gemm = {
	"gemm", "1000 x 1000 x 1000 in float32 beside the best BLAS called directly", 15,
	gemm_series, gemm_ratios};

static const struct bench_series randn_series[] = {
	{"quoit_normal", "M/s", BENCH_ONE_CORE, measure_normal, .count = 200},
	{"numpy_normal", "M/s", 0, bench_peer, .peer = {"numpy", "normal"}, .peer_word = "mrate"},
	{"torch_normal", "M/s", 0, bench_peer, .peer = {"torch", "normal"}, .peer_word = "mrate"},
	{NULL},
};

static const struct bench_ratio randn_ratios[] = {
	{"randn/numpy", "quoit_normal", "numpy_normal"},
	{"randn/torch", "quoit_normal", "torch_normal"},
	{NULL},
};

const struct bench_plan bench_randn = {"randn", "standard normal float32 numbers on one core", 5,
				       randn_series, randn_ratios};

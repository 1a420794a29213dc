/* SPDX-License-Identifier: MIT */
/* blas.h - the BLAS that was found at start; private to daemon/ops and its tests */
#ifndef QUOITD_OPS_BLAS_H
#define QUOITD_OPS_BLAS_H

#include <stdbool.h>

#include "ops.h"

/* Numbers of the CBLAS interface. */
enum blas_order { BLAS_ROW_MAJOR = 101, BLAS_COLUMN_MAJOR = 102 };
enum blas_transpose { BLAS_AS_IS = 111, BLAS_TRANSPOSED = 112 };

struct blas {
	void (*sgemm)(enum blas_order order, enum blas_transpose a_is, enum blas_transpose b_is,
		      int m, int n, int k, float alpha, const float *a, int lda, const float *b,
		      int ldb, float beta, float *c, int ldc);
	void (*dgemm)(enum blas_order order, enum blas_transpose a_is, enum blas_transpose b_is,
		      int m, int n, int k, double alpha, const double *a, int lda, const double *b,
		      int ldb, double beta, double *c, int ldc);
};

/*
 * Choose what computes GEMM.  With BLAS_AUTO, each BLAS and kernel set that suits the CPU is loaded
 * in a child process of its own and timed there by `measure`, which returns GFLOP/s.  The fastest
 * is then loaded here, unless `measure` without a BLAS is clearly faster.  Any other word names
 * one, which is taken untimed.  Settings for these libraries in the environment are ignored.  Fills
 * all of the choice but isa.  Call it once, while no other thread loads libraries or runs
 * operations.  -ENOENT: the named library cannot be loaded, or does not suit this CPU.
 */
int blas_init(const char *word, double (*measure)(void), struct ops_choice *ret_choice);

#define BLAS_AUTO    "auto"
#define BLAS_BUILTIN "built-in"

/* Is it a word that blas_init takes?  All of these words, for a message. */
bool blas_is_word(const char *word);
const char *blas_words(void);

/* Load what the parent process has chosen; the environment names it. */
void blas_adopt(void);

/* What blas_init() or blas_adopt() loaded; NULL: none.  Calls run on the calling thread only. */
const struct blas *blas_get(void);

#endif

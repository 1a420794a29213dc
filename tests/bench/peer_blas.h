/* SPDX-License-Identifier: MIT */
/* peer_blas.h - call the best BLAS on the machine directly */
#ifndef PEER_BLAS_H
#define PEER_BLAS_H

#include <stdbool.h>

struct peer_blas_result {
	double seconds, gflops; /* mean of the products */
	char name[40];          /* of the library and its kernels */
};

/* C (m x n) = A (m x k) B (k x n), row by row; for n == 1 by the call for a matrix and a vector. */
struct peer_blas_product {
	bool f64; /* false: float32 */
	unsigned m, n, k;
};

/* Parse "f32:1000x1000x1000": m, n and k, at most 4096 each; false: the word has another form. */
bool peer_blas_parse(const char *word, struct peer_blas_product *ret);

/*
 * Time the product with every library and choice of kernels that is known to work well somewhere.
 * Each runs in a process of its own, since a library reads its environment when it is loaded, and
 * kernels may need what the CPU lacks.  The one with the best median then makes `count` products in
 * a row, and all their time counts.  So a queue of the same length can be compared with it, and a
 * core that is taken away for a while costs both the same.
 *
 * threads: 1 or 2, on cpu[0], or on cpu[0] and cpu[1].  0; -EINVAL; -ENOTSUP: no BLAS is installed;
 * -errno of fork and mmap.
 */
int peer_blas_best(const struct peer_blas_product *p, int threads, unsigned count, const int cpu[2],
		   struct peer_blas_result *ret);

#endif

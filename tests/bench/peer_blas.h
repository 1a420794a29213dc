/* SPDX-License-Identifier: MIT */
/* peer_blas.h - the best BLAS on the machine, called directly */
#ifndef PEER_BLAS_H
#define PEER_BLAS_H

#include <stdbool.h>

struct peer_blas_result {
	double seconds, gflops; /* the mean of the products */
	char name[40];          /* library and kernels */
};

/* C (m x n) = A (m x k) B (k x n), row by row; n == 1: by the call for a matrix and a vector. */
struct peer_blas_product {
	bool f64; /* else float32 */
	unsigned m, n, k;
};

/* "f32:1000x1000x1000": m, n and k, at most 4096 each; false: it is no such word. */
bool peer_blas_parse(const char *word, struct peer_blas_product *ret);

/*
 * The product by every library and choice of kernels that
 * is known to work well somewhere, each in a process of its own, since a library reads
 * its environment when it is loaded and kernels may need what the CPU lacks.  The one with
 * the best median then makes `count` products one after the other, and all their time counts:
 * so a queue of as many is timed, and a core that was away for a while costs both the same.
 * `threads` of them, on cpu[0] or on cpu[0] and cpu[1].  0; -EINVAL; -ENOTSUP: no BLAS is
 * installed; -errno of fork and mmap.
 */
int peer_blas_best(const struct peer_blas_product *p, int threads, unsigned count, const int cpu[2],
		   struct peer_blas_result *ret);

#endif

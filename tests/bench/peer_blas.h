/* SPDX-License-Identifier: MIT */
/* peer_blas.h - the best BLAS on the machine, called directly */
#ifndef PEER_BLAS_H
#define PEER_BLAS_H

struct peer_blas_result {
	double gflops; /* the mean of the products */
	char name[40]; /* library and kernels */
};

/*
 * C = A B with side x side float32 matrices by every library and choice of kernels that
 * is known to work well somewhere, each in a process of its own, since a library reads
 * its environment when it is loaded and kernels may need what the CPU lacks.  The one with
 * the best median then makes `count` products one after the other, and all their time counts:
 * so a queue of as many is timed, and a core that was away for a while costs both the same.
 * `threads` of them, on cpu[0] or on cpu[0] and cpu[1].  0; -EINVAL; -ENOTSUP: no BLAS is
 * installed; -errno of fork and mmap.
 */
int peer_blas_best(unsigned side, int threads, unsigned count, const int cpu[2],
		   struct peer_blas_result *ret);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * kernels.h - the functions of the device's side that the host's side calls: one launcher for
 * one or a few families of ops.def.
 *
 * A launcher puts kernels into a stream and returns the runtime's result.  It chooses by the call's
 * operation, types and arg; the walk says where elements lie.  No launcher waits or allocates.
 */
#ifndef QUOIT_CUDA_KERNELS_H
#define QUOIT_CUDA_KERNELS_H

#include <cuda_runtime_api.h>

#include "kernels/walk.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef cudaError_t kernel_launch(const struct walk *walk, const struct quoit_device_call *call,
				  cudaStream_t stream);

/* Operands are the operation's tensors; a missing one is a constant. */
kernel_launch kernel_arithmetic; /* ARITHMETIC, BLEND */
kernel_launch kernel_function;   /* FUNCTION, GRADIENT */
kernel_launch kernel_compare;
kernel_launch kernel_select;
kernel_launch kernel_cast;
kernel_launch kernel_random; /* in row-major order */

/* Copy elements of `size` bytes (2, 4, 8 or 16) from operand 1 to operand 0. */
cudaError_t kernel_copy(const struct walk *walk, uint32_t size, cudaStream_t stream);

/*
 * Copy as kernel_copy does, through squares in shared memory. The output must be dense along the
 * last dim, the input along dim `fast`. Size 2, 4 or 8.
 */
cudaError_t kernel_transpose(const struct walk *walk, uint32_t fast, uint32_t size,
			     cudaStream_t stream);

/* A gather is a copy; operand 2, the index, says where along the axis each element comes from. */
struct gather_plan {
	struct walk walk;    /* out, in without the axis, index */
	int64_t axis_stride; /* of the input, in elements of `size` bytes */
	uint64_t axis_dim;
	uint32_t size; /* 2, 4, 8 or 16 */
	uint8_t index_dtype;
	struct quoit_device_verdict *verdict; /* where the device reaches it */
};
cudaError_t kernel_gather(const struct gather_plan *gather, cudaStream_t stream);

/*
 * A reduction.  Its outputs are the elements of `outer` (operand 0: the input at 0 of the reduced
 * dims, operand 1: the output).  Each output takes in the elements of `inner` (operand 0: the
 * input, operands 1 and 2: what SQLOSS needs), from that place on, in a tree that only these
 * numbers determine.  Where there is more than one part, their results of KERNEL_PARTIAL bytes go
 * through `partial`, and a second kernel merges them.
 */
struct reduce_plan {
	struct walk outer, inner;
	uint64_t part_length; /* elements of `inner` in a part */
	uint32_t parts;
	uint32_t lanes; /* threads of a part: 1 (next thread, next output), 32 or 256 */
	uint64_t partial;
	double divisor; /* of floating-point sums; 1 except for MEAN */
	double factor;  /* of floating-point sums; 1 except for SQLOSS */
	double twice;   /* SQLOSS: 2 scalar[0] */
	uint8_t opcode;
	uint8_t dtype; /* of the input */
	bool place;    /* the result is the place of an element */
};
#define KERNEL_PARTIAL 16
cudaError_t kernel_reduce(const struct reduce_plan *reduce, cudaStream_t stream);

/* C = alpha A B + beta C for any strides, in elements: of two dims of batches, rows, columns. */
struct gemm_plan {
	uint64_t c, a, b;
	int64_t c_stride[QUOIT_MAX_DIMS];
	int64_t a_stride[QUOIT_MAX_DIMS];
	int64_t b_stride[QUOIT_MAX_DIMS];
	uint32_t batch[2];
	uint32_t m, n, k;
	double alpha, beta;
	uint8_t dtype; /* of the factors */
	uint8_t c_dtype;
};
cudaError_t kernel_gemm(const struct gemm_plan *gemm, cudaStream_t stream);

/* Load every kernel of this object now; otherwise each is loaded at its first launch. */
cudaError_t kernels_load(void);

/*
 * Start the consumer of a GPU-direct ring (quoit/direct.h) in a stream of its own; both addresses
 * are the device's.  It runs until it leaves.
 */
cudaError_t kernel_direct(const struct quoit_direct_requests *requests,
			  struct quoit_direct_words *words, cudaStream_t stream);

/* Write the device's clock, in nanoseconds, to a word that the device reaches. */
cudaError_t kernel_stamp(uint64_t *word, cudaStream_t stream);

/* Write the least step of the device's clock, in nanoseconds, to such a word. */
cudaError_t kernel_clock_step(uint64_t *step, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif

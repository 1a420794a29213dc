/* SPDX-License-Identifier: MIT */
/*
 * kernels.h - what the host's side calls of the device's side: one launcher per family.
 *
 * A launcher puts kernels into a stream and says what the runtime said.  It chooses by the call's
 * operation, types and arg; where elements lie is in the walk.  None waits, none allocates.
 */
#ifndef QUOIT_CUDA_KERNELS_H
#define QUOIT_CUDA_KERNELS_H

#include <cuda_runtime_api.h>

#include "walk.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef cudaError_t kernel_launch(const struct walk *walk, const struct quoit_device_call *call,
				  cudaStream_t stream);

/* Operands as the operation's tensors; what is missing is a constant. */
kernel_launch kernel_arithmetic; /* ADD .. AXPBY */
kernel_launch kernel_function;   /* RELU .. SIGMOID */
kernel_launch kernel_compare;
kernel_launch kernel_select;
kernel_launch kernel_cast;
kernel_launch kernel_random; /* in row-major order */

/* Elements of `size` bytes (2, 4, 8 or 16) from operand 1 to operand 0. */
cudaError_t kernel_copy(const struct walk *walk, uint32_t size, cudaStream_t stream);

/*
 * The same through squares in shared memory: the output is dense along the last dim, the input
 * along dim `fast`.  Size 2, 4 or 8.
 */
cudaError_t kernel_transpose(const struct walk *walk, uint32_t fast, uint32_t size,
			     cudaStream_t stream);

/* A gather is a copy whose input is found through operand 2, the index. */
struct gather_plan {
	struct walk walk;    /* out, in without the axis, index */
	int64_t axis_stride; /* of the input, in elements of `size` bytes */
	uint64_t axis_dim;
	uint32_t size; /* 2, 4, 8 or 16 */
	uint8_t index_dtype;
	struct quoit_device_verdict *verdict; /* as the device has it */
};
cudaError_t kernel_gather(const struct gather_plan *gather, cudaStream_t stream);

/*
 * A reduction.  Outputs are the elements of `outer` (operand 0: the input at 0 of what is
 * reduced, operand 1: the output); each takes in the elements of `inner` (operand 0: the input,
 * operand 1 and 2: what SQLOSS needs), from that place on, in a tree that only the numbers here
 * determine.  `parts` partial results of each output go through `partial`, KERNEL_PARTIAL bytes
 * each, and are put together by a second kernel; of 1 there is none.
 */
struct reduce_plan {
	struct walk outer, inner;
	uint64_t part_length; /* elements of `inner` in a part */
	uint32_t parts;
	uint32_t
		lanes; /* threads of a part: 1, and neighbours have neighbouring outputs; 32; 256 */
	uint64_t partial;
	double divisor; /* of floating-point sums, 1 but for MEAN */
	double factor;  /* the same, 1 but for SQLOSS */
	double twice;   /* SQLOSS: 2 scalar[0] */
	uint8_t opcode;
	uint8_t dtype; /* of the input */
};
#define KERNEL_PARTIAL 16
cudaError_t kernel_reduce(const struct reduce_plan *reduce, cudaStream_t stream);

/* C = alpha A B + beta C for any strides, in elements: of batches (two dims), rows, columns. */
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

/* Every kernel of this object is loaded; else each is at its first launch. */
cudaError_t kernels_load(void);

/*
 * The consumer of a GPU-direct ring (quoit/direct.h), in a stream of its own; both addresses are
 * the device's.  It runs until it leaves.
 */
cudaError_t kernel_direct(const struct quoit_direct_requests *requests,
			  struct quoit_direct_words *words, cudaStream_t stream);

/* The device's clock in nanoseconds, written where the device reaches host memory. */
cudaError_t kernel_stamp(uint64_t *word, cudaStream_t stream);

/* The least step of the device's clock in nanoseconds, written likewise.  For when it is opened. */
cudaError_t kernel_clock_step(uint64_t *step, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif

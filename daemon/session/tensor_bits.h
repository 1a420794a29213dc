/* SPDX-License-Identifier: MIT */
/* tensor_bits.h - walks through the tensors of a job: bit i of a mask is sqe.tensor[i] */
#ifndef QUOITD_TENSOR_BITS_H
#define QUOITD_TENSOR_BITS_H

#include <quoit/abi.h>

#define QUOIT_ALL_TENSORS ((1u << QUOIT_MAX_TENSORS_PER_JOB) - 1)

/*
 * For each set bit i of `bits`, upwards.  A job has at most four tensors and seldom more than
 * three: nothing is spent on those that it does not have.
 */
#define for_each_tensor(i, bits)                                                                   \
	for (unsigned i##_left = (bits), i;                                                        \
	     i##_left && (i = (unsigned)__builtin_ctz(i##_left), 1); i##_left &= i##_left - 1)

#endif

/* SPDX-License-Identifier: MIT */
/* scalar.h - convert a job's scalar to an element; for both compilers, as element.h. */
#ifndef QUOIT_CUDA_SCALAR_H
#define QUOIT_CUDA_SCALAR_H

#include <quoit/abi.h>

#include "kernels/half.h"

/* Returns the bits of an element of type dtype, in the low bytes. */
ELEMENT uint64_t scalar_bits(uint64_t bits, uint8_t dtype)
{
	const double x = element_f64(bits);

	switch (dtype) {
	case QUOIT_F32:
		return element_f32_bits((float)x);
	case QUOIT_BF16:
		return half_bf16_from_f64(x);
	case QUOIT_F16:
		return half_f16_from_f64(x);
	default:
		return bits;
	}
}

#endif

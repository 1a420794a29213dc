/* SPDX-License-Identifier: MIT */
/* row.cuh - the case of a row of ops.def, in a switch that chooses the code of an operation */
#ifndef QUOIT_CUDA_ROW_CUH
#define QUOIT_CUDA_ROW_CUH

#include <quoit/families.h>

/*
 * For QUOIT_ROW_* of family_ops.def, in a template with a parameter `dtype`: return `result` if the
 * operation has this type.  So a row that has no code for one of its types does not compile.
 */
#define ROW_CASE(nr, types, result)                                                                \
	case nr:                                                                                   \
		static_assert((QUOIT_TYPES_##types & ~QUOIT_TYPES_N) == 0,                         \
			      "no switch over types knows others");                                \
		if constexpr (QUOIT_TYPES_##types & 1u << dtype)                                   \
			return result;                                                             \
		break;

#endif

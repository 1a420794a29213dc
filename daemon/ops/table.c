/* SPDX-License-Identifier: MIT */
/* table.c - maps operations to functions, for one instruction set */
#include "kernel.h"

const struct op_impl *const OP_NAME(ops_table)[QUOIT_OP_NR] = {
	[QUOIT_OP_FILL] = &OP_NAME(op_copy),
	[QUOIT_OP_COPY] = &OP_NAME(op_copy),
	[QUOIT_OP_CAST] = &OP_NAME(op_cast),
	[QUOIT_OP_TRANSPOSE] = &OP_NAME(op_copy),
	[QUOIT_OP_ROLL] = &OP_NAME(op_roll),
	[QUOIT_OP_GATHER] = &OP_NAME(op_gather),
	[QUOIT_OP_SELECT] = &OP_NAME(op_select),
	[QUOIT_OP_COMPARE] = &OP_NAME(op_compare),

	[QUOIT_OP_UNIFORM] = &OP_NAME(op_random),
	[QUOIT_OP_NORMAL] = &OP_NAME(op_random),

	[QUOIT_OP_ADD] = &OP_NAME(op_elementwise),
	[QUOIT_OP_SUB] = &OP_NAME(op_elementwise),
	[QUOIT_OP_MUL] = &OP_NAME(op_elementwise),
	[QUOIT_OP_DIV] = &OP_NAME(op_elementwise),
	[QUOIT_OP_MIN] = &OP_NAME(op_elementwise),
	[QUOIT_OP_MAX] = &OP_NAME(op_elementwise),
	[QUOIT_OP_AXPBY] = &OP_NAME(op_elementwise),
	[QUOIT_OP_RELU] = &OP_NAME(op_elementwise),
	[QUOIT_OP_RELU_GRAD] = &OP_NAME(op_elementwise),
	[QUOIT_OP_EXP] = &OP_NAME(op_elementwise),
	[QUOIT_OP_LOG] = &OP_NAME(op_elementwise),
	[QUOIT_OP_SQRT] = &OP_NAME(op_elementwise),
	[QUOIT_OP_TANH] = &OP_NAME(op_elementwise),
	[QUOIT_OP_SIN] = &OP_NAME(op_elementwise),
	[QUOIT_OP_COS] = &OP_NAME(op_elementwise),
	[QUOIT_OP_SIGMOID] = &OP_NAME(op_elementwise),

	[QUOIT_OP_GEMM] = &OP_NAME(op_gemm),

	[QUOIT_OP_SUM] = &OP_NAME(op_reduce),
	[QUOIT_OP_MEAN] = &OP_NAME(op_reduce),
	[QUOIT_OP_AMAX] = &OP_NAME(op_reduce),
	[QUOIT_OP_ARGMAX] = &OP_NAME(op_argmax),
	[QUOIT_OP_SQNORM] = &OP_NAME(op_reduce),
	[QUOIT_OP_SQLOSS] = &OP_NAME(op_sqloss),
};

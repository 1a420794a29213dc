/* SPDX-License-Identifier: MIT */
/* direct_rules.c - which jobs may use GPU-direct mode */
#include "direct_rules.h"

#include "session/tensor_bits.h"

/* Consumers know these.  None reads an index, since a bad one would need an error as answer. */
static bool is_known(uint8_t opcode)
{
	switch (opcode) {
	case QUOIT_OP_FILL:
	case QUOIT_OP_COPY:
	case QUOIT_OP_SELECT:
	case QUOIT_OP_COMPARE:
	case QUOIT_OP_SUM:
	case QUOIT_OP_MEAN:
	case QUOIT_OP_AMAX:
	case QUOIT_OP_ARGMAX:
	case QUOIT_OP_SQNORM:
	case QUOIT_OP_SQLOSS:
	case QUOIT_OP_GEMM:
		return true;
	default:
		return (opcode >= QUOIT_OP_ADD && opcode <= QUOIT_OP_AXPBY) ||
		       (opcode >= QUOIT_OP_RELU && opcode <= QUOIT_OP_SIGMOID);
	}
}

/* Does the view have elements, not too many, and a type that consumers know? */
static bool is_small(const struct view *v)
{
	return v->elements && v->elements <= QUOIT_DIRECT_ELEMENTS && OP_TYPES_N & 1u << v->dtype;
}

bool direct_is_small(const struct quoit_sqe *sqe, const struct plan *plan)
{
	if (!plan->device || plan->on_device != plan->tensors || !is_known(sqe->opcode))
		return false;
	for_each_tensor (i, plan->tensors)
		if (!is_small(plan->t[i]))
			return false;
	return sqe->opcode != QUOIT_OP_GEMM ||
	       quoit_direct_product(plan->t[0]->dim, plan->t[1]->dim, plan->t[0]->dtype);
}

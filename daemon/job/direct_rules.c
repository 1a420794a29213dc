/* SPDX-License-Identifier: MIT */
/* direct_rules.c - which jobs may use GPU-direct mode */
#include "direct_rules.h"

#include "session/tensor_bits.h"

/* Consumers know these.  None reads an index, since a bad one would need an error as answer. */
static bool is_known(const struct op_row *row)
{
	switch (row->family) {
	case QUOIT_FAMILY_MOVE:
	case QUOIT_FAMILY_SELECT:
	case QUOIT_FAMILY_COMPARE:
	case QUOIT_FAMILY_ARITHMETIC:
	case QUOIT_FAMILY_BLEND:
	case QUOIT_FAMILY_FUNCTION:
	case QUOIT_FAMILY_GRADIENT:
	case QUOIT_FAMILY_PRODUCT:
	case QUOIT_FAMILY_REDUCTION:
	case QUOIT_FAMILY_EXTREME:
	case QUOIT_FAMILY_PLACE:
	case QUOIT_FAMILY_LOSS:
		return true;
	default:
		return false;
	}
}

/* Does the view have elements, not too many, and a type that consumers know? */
static bool is_small(const struct view *v)
{
	return v->elements && v->elements <= QUOIT_DIRECT_ELEMENTS &&
	       QUOIT_TYPES_N & 1u << v->dtype;
}

bool direct_is_small(const struct plan *plan)
{
	if (!plan->device || plan->on_device != plan->tensors || !is_known(plan->row))
		return false;
	for_each_tensor (i, plan->tensors)
		if (!is_small(plan->t[i]))
			return false;
	return plan->row->family != QUOIT_FAMILY_PRODUCT ||
	       quoit_direct_product(plan->t[0]->dim, plan->t[1]->dim, plan->t[0]->dtype);
}

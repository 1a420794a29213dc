/* SPDX-License-Identifier: MIT */
/* gemm_plan.h - describe a product's tensors for our own kernels. */
#ifndef QUOIT_CUDA_GEMM_PLAN_H
#define QUOIT_CUDA_GEMM_PLAN_H

#include "kernels/element.h"
#include "kernels/kernels.h"

/* Sums go over whole steps of so many products; the last step is filled up with zeros. */
#define GEMM_STEP 16

ELEMENT void gemm_strides(int64_t ret[QUOIT_MAX_DIMS], const struct quoit_device_tensor *t,
			  bool transposed)
{
	for (uint32_t d = 0; d < QUOIT_MAX_DIMS; d++)
		ret[d] = t->stride[transposed && d >= 2 ? 5 - d : d];
}

ELEMENT void gemm_describe(const struct quoit_device_call *call, struct gemm_plan *plan)
{
	const struct quoit_device_tensor *c = &call->tensor[0];
	const struct quoit_device_tensor *a = &call->tensor[1];
	const struct quoit_device_tensor *b = &call->tensor[2];
	const bool a_turned = call->arg & QUOIT_GEMM_TRANS_A;
	const bool b_turned = call->arg & QUOIT_GEMM_TRANS_B;

	plan->c = c->data;
	plan->a = a->data;
	plan->b = b->data;
	plan->batch[0] = c->dim[0];
	plan->batch[1] = c->dim[1];
	plan->m = c->dim[2];
	plan->n = c->dim[3];
	plan->k = a->dim[a_turned ? 2 : 3];
	plan->alpha = element_f64(call->scalar[0]);
	plan->beta = element_f64(call->scalar[1]);
	plan->dtype = a->dtype;
	plan->c_dtype = c->dtype;
	gemm_strides(plan->c_stride, c, false);
	gemm_strides(plan->a_stride, a, a_turned);
	gemm_strides(plan->b_stride, b, b_turned);
}

#endif

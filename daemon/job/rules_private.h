/* SPDX-License-Identifier: MIT */
/* rules_private.h - what the files behind rules.h share */
#ifndef QUOITD_RULES_PRIVATE_H
#define QUOITD_RULES_PRIVATE_H

#include <errno.h>

#include "rules.h"

/* The operands of the job that is checked. */
struct operands {
	const struct quoit_sqe *sqe;
	const struct view *const *t; /* by place; NULL: absent */
	unsigned tensors;            /* bit i: there is a t[i] */
	struct fault *fault;
};

static inline int refuse_size(const struct operands *o, enum quoit_misfit how, unsigned tensor,
			      unsigned dim, uint32_t allowed)
{
	return refuse_tensor(o->fault, -EINVAL, tensor, how + dim,
			     o->t[tensor]->dim[dim] | (uint64_t)allowed << 32);
}

static inline int refuse_dim(const struct operands *o, unsigned tensor, unsigned dim,
			     uint32_t allowed)
{
	return refuse_size(o, QUOIT_MISFIT_DIM, tensor, dim, allowed);
}

static inline int refuse_type(const struct operands *o, unsigned tensor, unsigned expected)
{
	return refuse_tensor(o->fault, -EINVAL, tensor, QUOIT_MISFIT_TYPE + o->t[tensor]->dtype,
			     QUOIT_MISFIT_TYPE + expected);
}

static inline int refuse_arg(const struct operands *o, uint64_t allowed)
{
	return refuse(o->fault, -EINVAL, QUOIT_FIELD_ARG, o->sqe->arg, allowed);
}

/* ---- rules_calls.c: each by the shape of its name ---- */

int rules_check_acquire(const struct session *s, const struct operands *o);
int rules_check_release(const struct operands *o);
int rules_check_call(const struct session *s, const struct operands *o);
int rules_check_sync(const struct operands *o);
int rules_check_keys(const struct operands *o);

#endif

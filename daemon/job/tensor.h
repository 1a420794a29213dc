/* SPDX-License-Identifier: MIT */
/* tensor.h - CREATE, VIEW and FREE: they take effect when they are fetched. */
#ifndef QUOITD_TENSOR_H
#define QUOITD_TENSOR_H

#include "validate.h"

/* Run a control operation.  0; -EAGAIN: a table is full, try when jobs have ended; fault->code. */
int tensor_create(struct session *s, const struct quoit_sqe *sqe, struct fault *fault);
int tensor_view(struct session *s, const struct quoit_sqe *sqe, struct fault *fault);
int tensor_free(struct session *s, const struct quoit_sqe *sqe, struct fault *fault);

/* A job or a tensor lets go of a view; with the last view of its buffer the bytes go back. */
void tensor_unref(struct session *s, uint32_t view);

#endif

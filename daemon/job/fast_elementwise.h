/* SPDX-License-Identifier: MIT */
/*
 * fast_elementwise.h - short element-wise jobs that ask for nothing unusual.
 *
 * A chain of tiny operations spends its time on finding out that nothing stands in the way.  For
 * this one case the questions of validate.c, rules.c, fetch.c and backend_cpu.c are asked again
 * here, the cheapest first.  A job that fits would run at once there, too, with the same result.
 * Every other job is left to them, and so are all errors: nothing is refused here.
 */
#ifndef QUOITD_FAST_ELEMENTWISE_H
#define QUOITD_FAST_ELEMENTWISE_H

#include "ops/optable.h"
#include "session/session.h"

struct fast_elementwise_job {
	const struct op_row *row;
	const struct view *t[OP_SHORT_TENSORS]; /* by place; NULL: there is none */
	struct buffer *b[OP_SHORT_TENSORS];     /* their buffers */
};

/*
 * Is this a valid element-wise job on dense tensors of one type and equal dims, up to OP_SHORT
 * elements?  Its inputs must have their bytes, it must write all of an output buffer of its own, no
 * other job may be at work on them, and it may carry no flag but QUIET (and INT), no link and no
 * priority.  Pure, as validate.h is.
 */
bool fast_elementwise_fits(struct session *s, const struct quoit_sqe *sqe,
			   struct fast_elementwise_job *ret);

/*
 * Run the job if it fits, within sigbus_guard_enter; adds its cost in nanoseconds on one core to *cost.
 * False: it does not fit, its output gets no bytes now, or memory has vanished under it; the caller
 * goes on as if this had not been tried.
 */
bool fast_elementwise_run(struct session *s, const struct quoit_sqe *sqe, uint64_t *cost);

#endif

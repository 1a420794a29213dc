/* SPDX-License-Identifier: MIT */
/*
 * small.h - short element-wise jobs that ask for nothing unusual.
 *
 * A chain of tiny operations spends its time on finding out that nothing stands in the way.
 * Here the questions of validate.c, rules.c, fetch.c and backend_cpu.c are asked once more,
 * for this one case, in the order in which answers are cheapest.  A job that fits is one that
 * they would run at once as well, with the same result; any other is left to them, the wrong
 * ones first of all: nothing is refused here.
 */
#ifndef QUOITD_SMALL_H
#define QUOITD_SMALL_H

#include "optable.h"
#include "session/session.h"

struct small_job {
	const struct op_row *row;
	const struct view *t[OP_SHORT_TENSORS]; /* by place; NULL: there is none */
	struct buffer *b[OP_SHORT_TENSORS];     /* theirs */
};

/*
 * Is it a valid element-wise job on dense tensors of one type and the same dims, up to
 * OP_SHORT elements, with inputs that have their bytes and an output of its own that it
 * writes all of; is nobody else at work on them; and does it carry no flag but QUIET, no link,
 * no priority?  Pure, as validate.h is.
 */
bool small_fits(struct session *s, const struct quoit_sqe *sqe, struct small_job *ret);

/*
 * Run the job if it fits, within guard_enter; what it costs is added to *cost, nanoseconds on one
 * core.  False: it does not fit, its output gets no bytes at this moment, or memory has gone away
 * under it; go on as if this had not been tried.
 */
bool small_run(struct session *s, const struct quoit_sqe *sqe, uint64_t *cost);

#endif

/* SPDX-License-Identifier: MIT */
/* fast_elementwise.c - runs short element-wise jobs that ask for nothing unusual */
#include "fast_elementwise.h"

#include "memory/memory.h"
#include "memory/sigbus_guard.h"
#include "observe/latency.h"
#include "shape.h"
#include "validate.h"

static unsigned form(const struct quoit_sqe *sqe)
{
	unsigned third = sqe->tensor[2] != QUOIT_NO_TENSOR;

	return OPTABLE_FORM(sqe->arg, third);
}

/* Has the job as many tensors as the operation takes with this arg, or the scalar for the third? */
static bool form_fits(const struct op_row *row, const struct quoit_sqe *sqe)
{
	return sqe->arg < 4 && row->short_forms >> form(sqe) & 1;
}

/* Is QUOIT_SQE_INT set exactly where there are scalars and the output has an integer type? */
static bool scalars_fit(const struct fast_elementwise_job *job, const struct quoit_sqe *sqe)
{
	bool integers = QUOIT_TYPES_I >> job->t[0]->dtype & 1;

	return !(sqe->flags & QUOIT_SQE_INT) !=
	       (integers && job->row->scalar_forms >> form(sqe) & 1);
}

/* Find tensor i of the job; false: its handle is bad. */
static inline bool find(struct session *s, const struct quoit_sqe *sqe, unsigned i,
			struct fast_elementwise_job *job)
{
	uint32_t view = session_view(s, sqe->tensor[i]);

	if (view == NIL)
		return false;
	job->t[i] = &s->views[view];
	job->b[i] = &s->buffers[job->t[i]->buffer];
	return true;
}

/* Does the output cover a buffer that no open job touches? */
static inline bool output_fits(const struct fast_elementwise_job *job)
{
	const struct view *v = job->t[0];
	const struct buffer *b = job->b[0];

	return v->plain && v->elements <= OP_SHORT && job->row->types & 1u << v->dtype &&
	       v->hi - v->lo == b->size && (b->writers & b->readers) == NIL;
}

/* Is the input like the output, in another buffer that has its bytes and is not being written? */
static inline bool input_fits(const struct fast_elementwise_job *job, unsigned i)
{
	const struct view *v = job->t[i], *out = job->t[0];
	const struct buffer *b = job->b[i];

	return v->plain && v->dtype == out->dtype && shape_same_dims(v, out) && b != job->b[0] &&
	       b->zeroed && b->writers == NIL;
}

/* Inline, so that its findings stay in registers. */
static inline __attribute__((always_inline)) bool look(struct session *s,
						       const struct quoit_sqe *sqe,
						       struct fast_elementwise_job *ret)
{
	ret->row = optable_row(sqe->opcode);
	if (!form_fits(ret->row, sqe) || sqe->tensor[3] || !validate_is_plain(sqe) || s->any_poison)
		return false;
	if (!find(s, sqe, 0, ret) || !output_fits(ret) || !scalars_fit(ret, sqe))
		return false;
	if (!find(s, sqe, 1, ret) || !input_fits(ret, 1))
		return false;
	ret->t[2] = NULL;
	return !sqe->tensor[2] || (find(s, sqe, 2, ret) && input_fits(ret, 2));
}

bool fast_elementwise_fits(struct session *s, const struct quoit_sqe *sqe,
			   struct fast_elementwise_job *ret)
{
	return look(s, sqe, ret);
}

static inline void *data_of(const struct session *s, const struct fast_elementwise_job *job,
			    unsigned i)
{
	return buffer_data(s, job->b[i]) + job->t[i]->offset;
}

/*
 * Has it used memory that is lost?  Then the job runs again, and fails.  It looks at the tensors
 * anew: nothing is kept for this while the kernel runs.
 */
static __attribute__((noinline, cold)) bool is_hit(struct session *s, const struct quoit_sqe *sqe)
{
	struct fast_elementwise_job job;
	bool is = sigbus_guard_has_hit(s);

	if (!sigbus_guard_may_have_hit(s) || !look(s, sqe, &job))
		return is;
	for (unsigned i = 0; i < OP_SHORT_TENSORS; i++)
		is |= job.t[i] && sigbus_guard_buffer_is_lost(s, job.b[i]);
	return is;
}

bool fast_elementwise_run(struct session *s, const struct quoit_sqe *sqe, uint64_t *cost)
{
	struct fast_elementwise_job job;
	struct op_args args;
	void *data[OP_SHORT_TENSORS];

	if (!look(s, sqe, &job) || (!job.b[0]->reserved && !memory_take_one(s, job.b[0])))
		return false;
	args.opcode = sqe->opcode;
	args.arg = sqe->arg;
	args.scalar[0].u = sqe->scalar[0];
	args.scalar[1].u = sqe->scalar[1];
	data[0] = data_of(s, &job, 0);
	data[1] = data_of(s, &job, 1);
	data[2] = job.t[2] ? data_of(s, &job, 2) : NULL;
	job.row->impl->run_short(&args, data, job.t[0]->dtype, (uint32_t)job.t[0]->elements);
	if (__builtin_expect(sigbus_guard_must_look(s), 0) && is_hit(s, sqe))
		return false;
	job.b[0]->zeroed = true;
	latency_count_bytes(s, sqe->opcode,
			    job.b[0]->size * (job.t[2] ? 3 : 2)); /* they are all as large */
	*cost += job.t[0]->elements * job.row->cost / 1024;       /* close enough to 1000 */
	return true;
}

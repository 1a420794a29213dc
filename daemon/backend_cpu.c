/* SPDX-License-Identifier: MIT */
/* backend_cpu.c - from a job to op_args, and to tiles */
#include "backend_cpu.h"

#include <errno.h>
#include <string.h>

#include "guard.h"
#include "optable.h"

/* An input steps along no dim in which it has one element and the output more. */
static void broadcast(struct op_tensor *in, const struct op_tensor *out, unsigned dims)
{
	for (unsigned d = 0; d < dims; d++)
		if (in->dim[d] == 1 && out->dim[d] != 1) {
			in->dim[d] = out->dim[d];
			in->stride[d] = 0;
		}
}

static unsigned broadcast_dims(uint8_t shape)
{
	switch (shape) {
	case SHAPE_SAME:
	case SHAPE_CAST:
	case SHAPE_SELECT:
	case SHAPE_COMPARE:
		return QUOIT_MAX_DIMS;
	case SHAPE_GEMM:
		return 2; /* the batches */
	default:
		return 0;
	}
}

/* Dense tensors of as many elements: for an element-wise operation they are vectors. */
static bool are_vectors(const struct session *s, uint8_t tensors, const uint32_t view[])
{
	uint64_t n = s->views[view[0]].elements;

	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (tensors & 1u << i &&
		    (!s->views[view[i]].dense || s->views[view[i]].elements != n))
			return false;
	return n <= UINT32_MAX;
}

static void set_vector(struct op_tensor *t, uint64_t elements)
{
	for (unsigned d = 0; d < QUOIT_MAX_DIMS - 1; d++) {
		t->dim[d] = 1;
		t->stride[d] = (int64_t)elements;
	}
	t->dim[QUOIT_MAX_DIMS - 1] = (uint32_t)elements;
	t->stride[QUOIT_MAX_DIMS - 1] = 1;
}

static void set_shape(struct op_tensor *t, const struct view *v)
{
	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++) {
		t->dim[d] = v->dim[d];
		t->stride[d] = v->stride[d];
	}
}

void cpu_arguments(const struct session *s, const struct quoit_sqe *sqe, uint8_t tensors,
		   const uint32_t view[QUOIT_MAX_TENSORS_PER_JOB], struct op_args *ret)
{
	unsigned dims = broadcast_dims(optable_find(sqe->opcode)->shape);
	bool vectors = dims == QUOIT_MAX_DIMS && are_vectors(s, tensors, view);

	ret->opcode = sqe->opcode;
	ret->arg = sqe->arg;
	for (unsigned i = 0; i < 2; i++)
		ret->scalar[i].u = sqe->scalar[i];
	ret->error = 0;
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		struct op_tensor *t = &ret->t[i];
		const struct view *v;

		if (!(tensors & 1u << i)) {
			t->data = NULL;
			continue;
		}
		v = &s->views[view[i]];
		t->data = buffer_data(s, &s->buffers[v->buffer]) + v->offset;
		t->dtype = v->dtype;
		if (vectors) {
			set_vector(t, v->elements);
			continue;
		}
		set_shape(t, v);
		if (i && dims)
			broadcast(t, &ret->t[0], dims);
	}
}

static int result_of(const struct op_args *args, struct quoit_error *error)
{
	int err = args->error;

	if (err) {
		error->value[0] = args->error_value[0];
		error->value[1] = args->error_value[1];
	}
	return err;
}

void cpu_clear(struct session *s, const uint32_t view[QUOIT_MAX_TENSORS_PER_JOB], uint8_t zero)
{
	struct session *outer = guard_enter(s);

	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (zero & 1u << i) {
			const struct buffer *b = &s->buffers[s->views[view[i]].buffer];

			memset(buffer_data(s, b), 0, b->size);
		}
	guard_leave(outer);
}

int cpu_run(struct session *s, const struct quoit_sqe *sqe, uint8_t tensors,
	    const uint32_t view[QUOIT_MAX_TENSORS_PER_JOB], uint8_t zero, struct quoit_error *error)
{
	const struct op_impl *impl = ops_find(sqe->opcode);
	struct session *outer;
	struct op_args args;

	cpu_arguments(s, sqe, tensors, view, &args);
	if (zero)
		cpu_clear(s, view, zero);
	outer = guard_enter(s);
	if (impl) {
		impl->run(&args, 0, 1);
		if (impl->finish)
			impl->finish(&args);
	}
	guard_leave(outer);
	return guard_has_hit(s) ? -EFAULT : result_of(&args, error);
}

/* A job that only clears, because it has failed before it could run. */
static void run_nothing(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	(void)args;
	(void)tile;
	(void)tiles;
}

static const struct op_impl nothing = {.run = run_nothing};

static void set_zero_ranges(const struct session *s, const struct job *job, struct work *work)
{
	work->zeros = 0;
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job->zero & 1u << i) {
			const struct buffer *b = &s->buffers[s->views[job->view[i]].buffer];

			work->zero[work->zeros++] = (struct zero_range){buffer_data(s, b), b->size};
		}
}

int cpu_publish(struct session *s, struct job *job, struct worker_port *port)
{
	struct work *work = worker_slot(port);

	if (!work)
		return -EBUSY;
	work->impl = job->failed ? NULL : ops_find(job->sqe.opcode);
	if (!work->impl) /* a NOP, or another backend's once the bytes are clear */
		work->impl = &nothing;
	work->session = s;
	work->job = job_index(s, job);
	__atomic_store_n(&work->priority, job->sqe.priority, __ATOMIC_RELAXED);
	cpu_arguments(s, &job->sqe, job->tensors, job->view, &work->args);
	set_zero_ranges(s, job, work);
	worker_publish(port, work);
	return 0;
}

int cpu_result(const struct work *work, struct quoit_error *error)
{
	return result_of(&work->args, error);
}

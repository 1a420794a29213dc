/* SPDX-License-Identifier: MIT */
/* cost.c - predicts a job's cost from its operation, its dims and its strides */
#include "cost.h"

#include <stdlib.h>

#include "ops/blas.h"
#include "ops/optable.h"
#include "session/tensor_bits.h"
#include "shape.h"

/* Scaling and writing one element of C costs as much as so many multiply-adds. */
#define GEMM_OUTPUT 12

/* Moving one element of A or B to the place where it is multiplied costs as much as so many. */
#define GEMM_PACK 12

/* Our own GEMM computes blocks of ROWS by COLUMNS; each core gets at least PANEL rows. */
#define GEMM_ROWS    12
#define GEMM_COLUMNS 32
#define GEMM_PANEL   16

/* A reduction of all elements has at most so many parts. */
#define REDUCE_PARTS 256

/* Nanoseconds; a longer prediction counts as endless. */
#define PREDICTED_MOST 1e18

/*
 * In a view that is larger than a core's caches, reaching an element in a cache line of its own
 * takes about FAR_NS.
 */
#define FAR_NS    5u
#define FAR_BYTES (256u << 10)
#define FAR_LINE  64u

/* How often a walk through the view goes to another line that is far away. */
static uint64_t far_steps(const struct view *v)
{
	uint64_t nearest = UINT64_MAX, run = 1;

	if (v->dense || v->hi - v->lo < FAR_BYTES)
		return 0;
	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++) {
		uint64_t step = (uint64_t)labs(v->stride[d]) * op_dtype_size(v->dtype);

		if (v->dim[d] > 1 && step && step < nearest) {
			nearest = step;
			run = v->dim[d];
		}
	}
	if (nearest >= FAR_LINE)
		return v->elements;
	return nearest * run < FAR_LINE ? v->elements / run : 0;
}

bool cost_is_expressible(const struct view *v)
{
	int64_t rows = v->dim[QUOIT_MAX_DIMS - 2], columns = v->dim[QUOIT_MAX_DIMS - 1];
	int64_t row = v->stride[QUOIT_MAX_DIMS - 2], column = v->stride[QUOIT_MAX_DIMS - 1];

	return ((column == 1 || columns <= 1) && (rows <= 1 || row >= columns)) ||
	       ((row == 1 || rows <= 1) && (columns <= 1 || column >= rows));
}

/* Is there a BLAS, and can it take this matrix? */
static bool is_for_blas(const struct view *v)
{
	return v->dtype == QUOIT_F32 && v->dim[QUOIT_MAX_DIMS - 2] <= INT32_MAX &&
	       v->dim[QUOIT_MAX_DIMS - 1] <= INT32_MAX && blas_get() && cost_is_expressible(v);
}

static double rounded_up(double n, double unit)
{
	return n > 0 ? unit * (double)(uint64_t)((n + unit - 1) / unit) : 0;
}

/* In multiply-adds.  Our own code computes whole blocks, even of a small output. */
static double gemm_work(const struct quoit_sqe *sqe, const struct plan *plan)
{
	const struct view *c = plan->t[0], *a = plan->t[1], *b = plan->t[2];
	unsigned inner = sqe->arg & QUOIT_GEMM_TRANS_A ? 2 : 3;
	double batches = (double)c->dim[0] * c->dim[1], m = c->dim[2], n = c->dim[3];
	double k = a->dim[inner], packed = (m + n) * k;

	if (!is_for_blas(c) || !is_for_blas(a) || !is_for_blas(b)) {
		m = rounded_up(m, GEMM_ROWS);
		n = rounded_up(n, GEMM_COLUMNS);
	}
	return batches * (m * n * (k + GEMM_OUTPUT) + GEMM_PACK * packed);
}

/* In how many pieces cores can compute it at most, as implementations in daemon/ops split it. */
static uint64_t pieces(const struct plan *plan)
{
	const struct view *out = plan->t[0];
	uint8_t shape = plan->row->shape;
	uint64_t n = UINT64_MAX;

	if (shape == SHAPE_GEMM)
		n = (uint64_t)out->dim[0] * out->dim[1] *
		    (out->dim[2] < GEMM_PANEL ? 1 : out->dim[2] / GEMM_PANEL);
	else if (shape == SHAPE_LOSS)
		n = REDUCE_PARTS;
	else if (shape == SHAPE_REDUCE || shape == SHAPE_ARGMAX)
		n = out->elements == 1 ? REDUCE_PARTS : out->elements;
	return n ? n : 1;
}

void cost_predict(const struct quoit_sqe *sqe, struct plan *plan)
{
	const struct op_row *row = plan->row;
	double work = row->shape == SHAPE_GEMM ? gemm_work(sqe, plan) : (double)plan->elements;
	double ns = work * row->cost / 1000;
	uint64_t far = 0;

	for_each_tensor (i, plan->tensors)
		far += far_steps(plan->t[i]);
	ns += (double)far * FAR_NS;
	plan->cost = ns < PREDICTED_MOST ? (uint64_t)ns : UINT64_MAX;
	plan->piece = plan->cost / pieces(plan);
}

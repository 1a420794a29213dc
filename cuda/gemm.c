/* SPDX-License-Identifier: MIT */
/* gemm.c - matrix products: batches, strides, and the choice between cuBLAS and our kernel. */
#include <errno.h>
#include <limits.h>

#include <quoit/direct.h>

#include "context.h"
#include "kernels/gemm_plan.h"

/*
 * At most so many calls of cuBLAS for one job; our kernel does any number of batches in one launch.
 */
#define GEMM_CALLS_MOST 64u

/* After cuBLAS has refused a handle, it is asked again after so many products. */
#define GEMM_PRODUCTS_LATER 256u

/* A matrix as cuBLAS describes it, by columns. */
struct gemm_words {
	cublasOperation_t is;
	int lead;
};

/* Transpose the last two dims. */
static void gemm_turn(struct quoit_device_tensor *t)
{
	const uint32_t dim = t->dim[2];
	const int32_t stride = t->stride[2];

	t->dim[2] = t->dim[3];
	t->stride[2] = t->stride[3];
	t->dim[3] = dim;
	t->stride[3] = stride;
}

/* Describe t for cuBLAS; false: it cannot express these strides. */
static bool gemm_express(const struct quoit_device_tensor *t, struct gemm_words *ret)
{
	const int64_t rows = t->dim[2];
	const int64_t columns = t->dim[3];
	int64_t lead;

	if (rows > INT_MAX || columns > INT_MAX)
		return false;
	if ((t->stride[2] == 1 || rows <= 1) && (columns <= 1 || t->stride[3] >= rows)) {
		ret->is = CUBLAS_OP_N;
		lead = columns <= 1 ? rows : t->stride[3];
	} else if ((t->stride[3] == 1 || columns <= 1) && (rows <= 1 || t->stride[2] >= columns)) {
		ret->is = CUBLAS_OP_T;
		lead = rows <= 1 ? columns : t->stride[2];
	} else {
		return false;
	}
	ret->lead = (int)(lead > 0 ? lead : 1);
	return true;
}

/* Copy t into scratch with dense rows, and let t be that copy. */
static int gemm_pack(struct quoit_device_stream *s, struct quoit_device_tensor *t, uint64_t to)
{
	struct quoit_device_tensor packed = *t;
	int64_t stride = 1;
	int err;

	packed.data = to;
	for (uint32_t d = QUOIT_MAX_DIMS; d-- > 0;) {
		packed.stride[d] = (int32_t)stride;
		stride *= packed.dim[d];
	}
	err = run_copy(s, &packed, t);
	for (uint32_t d = 0; d < 2; d++)
		packed.stride[d] = packed.dim[d] == 1 ? 0 : packed.stride[d];
	*t = packed;
	return err;
}

/* Batches that repeat one matrix are packed once. */
static void gemm_drop_repeats(struct quoit_device_tensor *t)
{
	for (uint32_t d = 0; d < 2; d++)
		t->dim[d] = t->stride[d] == 0 ? 1 : t->dim[d];
}

/*
 * Describe A and B for cuBLAS.  A factor that it cannot express is copied into scratch, which no
 * lease covers and which stays allocated.  -ENOTSUP: that would be too much.
 */
static int gemm_factors(struct quoit_device_stream *s, struct quoit_device_tensor factor[2],
			struct gemm_words ret_words[2])
{
	uint64_t bytes[2] = {0, 0};
	bool packs[2];
	uint64_t scratch;
	int err = 0;

	for (int i = 0; i < 2; i++) {
		packs[i] = !gemm_express(&factor[i], &ret_words[i]);
		if (!packs[i])
			continue;
		gemm_drop_repeats(&factor[i]);
		bytes[i] = walk_count(&factor[i]) * walk_dtype_size(factor[i].dtype);
		bytes[i] = (bytes[i] + 255) & ~UINT64_C(255);
	}
	if (bytes[0] + bytes[1] > s->device->pack_most)
		return -ENOTSUP;
	if (packs[0] || packs[1])
		err = stream_scratch(s, bytes[0] + bytes[1], &scratch);
	for (int i = 0; i < 2 && !err; i++) {
		if (packs[i])
			err = gemm_pack(s, &factor[i], scratch + (i ? bytes[0] : 0));
		if (!err && packs[i] && !gemm_express(&factor[i], &ret_words[i]))
			err = -ENOTSUP;
	}
	return err;
}

/* Can the two dims of batches be merged into one, for every operand? */
static bool gemm_is_one_batch(const struct quoit_device_tensor *c,
			      const struct quoit_device_tensor factor[2])
{
	const int64_t inner = c->dim[1];

	return c->dim[0] == 1 || inner == 1 ||
	       (c->stride[0] == inner * c->stride[1] &&
		factor[0].stride[0] == inner * factor[0].stride[1] &&
		factor[1].stride[0] == inner * factor[1].stride[1]);
}

/* The distance between batches along the inner dim, or over both dims as one. */
static int32_t gemm_step(const struct quoit_device_tensor *t, const struct quoit_device_tensor *c)
{
	return c->dim[1] == 1 ? t->stride[0] : t->stride[1];
}

/*
 * The first product of a device makes a handle for each of its streams.  Made later, each would
 * take 0.1 ms on an H100, and send a resident consumer away.  A request that is refused, for want
 * of memory, takes milliseconds, and memory is seldom free again soon.
 */
static bool gemm_has_handle(struct quoit_device_stream *s)
{
	struct quoit_device *d = s->device;

	if (s->blas)
		return true;
	if (s->blas_later > 0) {
		s->blas_later--;
		return false;
	}
	s->blas = blas_handle_new(&d->blas, s->stream);
	if (!s->blas)
		s->blas_later = GEMM_PRODUCTS_LATER;
	for (struct quoit_device_stream *t = d->streams; t && s->blas; t = t->next)
		if (!t->blas)
			t->blas = blas_handle_new(&d->blas, t->stream);
	return s->blas;
}

/* Compute C, or its transpose, the product of the transposed factors in reverse order. */
static int gemm_by_blas(struct quoit_device_stream *s, const struct quoit_device_call *call,
			const struct gemm_plan *plan)
{
	struct quoit_device *d = s->device;
	struct quoit_device_tensor c = call->tensor[0];
	struct quoit_device_tensor factor[2] = {call->tensor[1], call->tensor[2]};
	struct gemm_words words[2], c_words;
	struct blas_product product = {.alpha = plan->alpha,
				       .beta = plan->beta,
				       .dtype = plan->dtype,
				       .c_dtype = plan->c_dtype};
	const uint32_t size = walk_dtype_size(plan->dtype);
	const uint32_t c_size = walk_dtype_size(plan->c_dtype);
	uint32_t outer = 1;
	int err = 0;

	if (call->arg & QUOIT_GEMM_TRANS_A)
		gemm_turn(&factor[0]);
	if (call->arg & QUOIT_GEMM_TRANS_B)
		gemm_turn(&factor[1]);
	if (!gemm_express(&c, &c_words))
		return -ENOTSUP;
	if (c_words.is == CUBLAS_OP_T) {
		const struct quoit_device_tensor a = factor[0];

		factor[0] = factor[1];
		factor[1] = a;
		gemm_turn(&factor[0]);
		gemm_turn(&factor[1]);
		gemm_turn(&c);
	}
	if (!gemm_has_handle(s))
		return -ENOTSUP;
	err = gemm_factors(s, factor, words);
	if (err)
		return err;

	product.a_is = words[0].is;
	product.b_is = words[1].is;
	product.m = (int)c.dim[2];
	product.n = (int)c.dim[3];
	product.k = (int)plan->k;
	product.lda = words[0].lead;
	product.ldb = words[1].lead;
	product.ldc = c_words.lead;
	product.a_step = gemm_step(&factor[0], &c);
	product.b_step = gemm_step(&factor[1], &c);
	product.c_step = gemm_step(&c, &c);
	product.tf32 = call->arg & QUOIT_GEMM_TF32;
	product.batches = (int)(c.dim[0] * c.dim[1]);
	if (!gemm_is_one_batch(&c, factor)) {
		outer = c.dim[0];
		product.batches = (int)c.dim[1];
	}
	if (outer > GEMM_CALLS_MOST)
		return -ENOTSUP;
	for (uint32_t i = 0; i < outer && !err; i++) {
		product.a = factor[0].data + (uint64_t)((int64_t)i * factor[0].stride[0]) * size;
		product.b = factor[1].data + (uint64_t)((int64_t)i * factor[1].stride[0]) * size;
		product.c = c.data + (uint64_t)((int64_t)i * c.stride[0]) * c_size;
		err = device_code(d, blas_multiply(&d->blas, s->blas, s->stream, &product));
		if (err == -ENOTSUP && i) /* beta is applied to a part of C already */
			err = -EIO;
	}
	return err;
}

/* If cuBLAS returns -ENOTSUP, nothing but copies into scratch is in the stream. */
int run_gemm(struct quoit_device_stream *s, const struct quoit_device_call *call)
{
	struct gemm_plan plan;
	int err = -ENOTSUP;

	gemm_describe(call, &plan);
	if (walk_count(&call->tensor[0]) == 0)
		return 0;
	/* Small products use the algorithm of the resident kernel, and so have its results. */
	if (!quoit_direct_product(call->tensor[0].dim, call->tensor[1].dim, plan.dtype) &&
	    s->device->blas.library && plan.k > 0 && plan.k <= INT_MAX &&
	    (uint64_t)plan.batch[0] * plan.batch[1] <= INT_MAX)
		err = gemm_by_blas(s, call, &plan);
	if (err == -ENOTSUP)
		err = device_check(s->device, kernel_gemm(&plan, s->stream));
	return err;
}

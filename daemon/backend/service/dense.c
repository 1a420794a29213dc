/* SPDX-License-Identifier: MIT */
/* dense.c - copies between the tensors of a job and dense bytes */
#include "dense.h"

#include <string.h>

#include "memory/sigbus_guard.h"
#include "ops/ops.h"
#include "session/extent.h"
#include "session/tensor_bits.h"

/* The reactor copies so many bytes in one go, fewer if they lie apart. */
#define PART_BYTES UINT64_C(65536)

/*
 * A part has at most so many runs, each a row or so many elements that lie apart: each may miss the
 * caches.
 */
#define RUNS_MOST    256u
#define STRIDED_MOST 16u

uint64_t dense_bytes(const struct session *s, const struct job *job, uint8_t tensors)
{
	uint64_t bytes = 0;

	for_each_tensor (i, tensors)
		bytes += dense_padded(view_bytes(&s->views[job->view[i]]));
	return bytes;
}

/* Steps are in elements. */
static void copy_run(uint8_t *to, int64_t to_step, const uint8_t *from, int64_t from_step,
		     uint64_t n, uint32_t size)
{
	if (to_step == 1 && from_step == 1) {
		memcpy(to, from, n * size);
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		memcpy(to + (int64_t)i * to_step * size, from + (int64_t)i * from_step * size,
		       size);
}

/* Where a view's row is, counted over all dims but the last, in elements from its first one. */
static int64_t row_offset(const struct view *v, uint64_t row)
{
	int64_t at = 0;

	for (unsigned d = QUOIT_MAX_DIMS - 1; d-- > 0;) {
		at += (int64_t)(row % v->dim[d]) * v->stride[d];
		row /= v->dim[d];
	}
	return at;
}

/*
 * Copy elements [from, upto) of a tensor whose first element is at `first`.  Each run of elements
 * that lie beside each other counts *runs down; 0 ends the copy.  Returns the first element that was
 * not copied.
 */
static uint64_t copy_elements(const struct view *v, uint8_t *first, uint8_t *dense, bool sends,
			      uint64_t from, uint64_t upto, unsigned *runs)
{
	const unsigned last = QUOIT_MAX_DIMS - 1;
	const uint32_t size = op_dtype_size(v->dtype);
	const int64_t step = v->stride[last];

	for (; from < upto && *runs; --*runs) {
		uint64_t row = from / v->dim[last], column = from % v->dim[last];
		uint64_t left = v->dim[last] - column, n = left < upto - from ? left : upto - from;
		uint8_t *run = first + (row_offset(v, row) + (int64_t)column * step) * size;

		if (step != 1)
			n = n < STRIDED_MOST ? n : STRIDED_MOST;
		if (sends)
			copy_run(dense + from * size, 1, run, step, n, size);
		else
			copy_run(run, step, dense + from * size, 1, n, size);
		from += n;
	}
	return from;
}

/* The same in bytes, of a tensor without gaps, in one run. */
static uint64_t copy_whole(uint8_t *first, uint8_t *dense, bool sends, uint64_t from, uint64_t upto)
{
	if (sends)
		memcpy(dense + from, first + from, upto - from);
	else
		memcpy(first + from, dense + from, upto - from);
	return upto;
}

/*
 * Copy more of one tensor.  Its dense bytes are `begin` behind those of the first tensor.  False:
 * some of it is left.
 */
static bool copy_tensor(const struct session *s, const struct view *v, struct service_call *call,
			uint64_t begin, uint64_t upto, unsigned *runs)
{
	const uint64_t bytes = view_bytes(v), from = call->copied - begin;
	const uint64_t end = upto - begin < bytes ? upto - begin : bytes;
	const uint32_t size = op_dtype_size(v->dtype);
	uint8_t *first = buffer_data(s, &s->buffers[v->buffer]) + v->offset;
	uint8_t *dense = call->dense + begin;
	uint64_t done;

	if (v->dense)
		done = copy_whole(first, dense, call->sends, from, end);
	else
		done = size *
		       copy_elements(v, first, dense, call->sends, from / size, end / size, runs);
	call->copied = begin + done;
	if (done < bytes)
		return false;
	call->copied = begin + dense_padded(bytes);
	return true;
}

/* A part ends at an element of any size, or behind a tensor. */
bool dense_copy_part(struct session *s, const struct job *job, struct service_call *call)
{
	struct session *outer = sigbus_guard_enter(s), *source = sigbus_guard_read_from(call->from);
	uint64_t upto = call->copied + PART_BYTES, begin = 0;
	unsigned runs = RUNS_MOST;

	for_each_tensor (i, call->moves) {
		const struct view *v = &s->views[job->view[i]];
		uint64_t next = begin + dense_padded(view_bytes(v));

		if (call->copied < next && call->copied < upto &&
		    !copy_tensor(s, v, call, begin, upto, &runs))
			break;
		begin = next;
	}
	(void)sigbus_guard_read_from(source);
	sigbus_guard_leave(outer);
	return call->copied == call->bytes;
}

void dense_read(struct session *s, const struct job *job, unsigned tensor, void *to)
{
	const struct view *v = &s->views[job->view[tensor]];
	struct session *outer = sigbus_guard_enter(s);

	memcpy(to, buffer_data(s, &s->buffers[v->buffer]) + v->offset, view_bytes(v));
	sigbus_guard_leave(outer);
}

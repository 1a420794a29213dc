/* SPDX-License-Identifier: MIT */
/* dense.c - copies between the tensors of a job and dense bytes */
#include "dense.h"

#include <string.h>

#include "memory/sigbus_guard.h"
#include "ops/ops.h"
#include "session/extent.h"
#include "session/message_queue.h"
#include "session/objects.h"
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

/* ---- rows that are messages, each from where it lies ---- */

/* Like copy_run, from nowhere. */
static void clear_run(uint8_t *to, int64_t step, uint64_t n, uint32_t size)
{
	if (step == 1) {
		memset(to, 0, n * size);
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		memset(to + (int64_t)i * step * size, 0, size);
}

/*
 * Copy bytes [from, upto) of a row, or a part of them; `message` is NULL: clear them.  Returns the
 * first byte that is left.
 */
static uint64_t copy_row(const struct view *v, uint8_t *row, const uint8_t *message, uint64_t from,
			 uint64_t upto)
{
	const uint32_t size = op_dtype_size(v->dtype);
	const int64_t step = v->stride[QUOIT_MAX_DIMS - 1];
	uint8_t *to = row + (int64_t)(from / size) * step * size;
	uint64_t n = (upto - from) / size;

	if (step != 1)
		n = n < STRIDED_MOST ? n : STRIDED_MOST;
	if (message)
		copy_run(to, step, message + from, 1, n, size);
	else
		clear_run(to, step, n, size);
	return from + n * size;
}

/* Of a call that gets messages: row i of its tensor, and where that comes from. */
static uint8_t *row_at(const struct view *v, uint8_t *first, uint64_t i, uint64_t bytes)
{
	return first +
	       (v->dense ? (int64_t)(i * bytes) : row_offset(v, i) * op_dtype_size(v->dtype));
}

static const uint8_t *message_bytes(const struct service_call *call, uint64_t i)
{
	const struct message_queue *q = call->caller->service->object->queue;

	return i < call->messages ? q->bytes + message_behind(q, call->message, (uint32_t)i)->at
				  : NULL;
}

static void copy_rows(const struct session *s, const struct view *v, struct service_call *call,
		      uint64_t upto)
{
	const uint64_t bytes = (uint64_t)v->dim[QUOIT_MAX_DIMS - 1] * op_dtype_size(v->dtype);
	uint8_t *first = buffer_data(s, &s->buffers[v->buffer]) + v->offset;
	uint64_t i = call->copied / bytes, done = call->copied % bytes;

	for (unsigned runs = RUNS_MOST; runs && call->copied < call->bytes && call->copied < upto;
	     runs--) {
		const uint64_t left = upto - call->copied, before = done;

		done = copy_row(v, row_at(v, first, i, bytes), message_bytes(call, i), done,
				bytes - done < left ? bytes : done + left);
		call->copied += done - before;
		i += done == bytes;
		done = done == bytes ? 0 : done;
	}
}

/* ---- a part of all that a call moves ---- */

static void copy_tensors(const struct session *s, const struct job *job, struct service_call *call,
			 uint64_t upto)
{
	uint64_t begin = 0;
	unsigned runs = RUNS_MOST;

	for_each_tensor (i, call->moves) {
		const struct view *v = &s->views[job->view[i]];
		uint64_t next = begin + dense_padded(view_bytes(v));

		if (call->copied < next && call->copied < upto &&
		    !copy_tensor(s, v, call, begin, upto, &runs))
			return;
		begin = next;
	}
}

/* A part ends at an element of any size, or behind a tensor. */
bool dense_copy_part(struct session *s, const struct job *job, struct service_call *call)
{
	struct session *outer = sigbus_guard_enter(s), *source = sigbus_guard_read_from(call->from);
	const uint64_t upto = call->copied + PART_BYTES;

	if (call->message && call->entry.function == QUOIT_SYNC_RECEIVE_ROWS)
		copy_rows(s, &s->views[job->view[0]], call, upto);
	else
		copy_tensors(s, job, call, upto);
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

/* SPDX-License-Identifier: MIT */
/* results.c - copies the dense results of a call into the views of its job */
#include "results.h"

#include <string.h>

#include "memory/sigbus_guard.h"
#include "ops/ops.h"
#include "session/tensor_bits.h"

/*
 * A part has at most so many runs, each a row or so many elements that lie apart: each may miss the
 * caches.
 */
#define RUNS_MOST    256u
#define STRIDED_MOST 16u

static uint64_t bytes_of(const struct view *v)
{
	return v->elements * op_dtype_size(v->dtype);
}

static uint64_t padded(uint64_t bytes)
{
	return (bytes + QUOIT_LINE - 1) / QUOIT_LINE * QUOIT_LINE;
}

uint64_t results_bytes(const struct session *s, const struct job *job)
{
	uint64_t bytes = 0;

	for_each_tensor (i, job->writes)
		bytes += padded(bytes_of(&s->views[job->view[i]]));
	return bytes;
}

static void copy_strided(uint8_t *to, int64_t step, const uint8_t *from, uint64_t n, uint32_t size)
{
	if (step == 1) {
		memcpy(to, from, n * size);
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		memcpy(to + (int64_t)i * step * size, from + i * size, size);
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
 * Copy elements [from, upto) of a tensor, whose first element goes to `to`.  Each run of elements
 * that lie beside each other counts *runs down; 0 ends the copy.  Returns the first element that was
 * not copied.
 */
static uint64_t copy_elements(const struct view *v, uint8_t *to, const uint8_t *dense,
			      uint64_t from, uint64_t upto, unsigned *runs)
{
	const unsigned last = QUOIT_MAX_DIMS - 1;
	const uint32_t size = op_dtype_size(v->dtype);

	for (; from < upto && *runs; --*runs) {
		uint64_t row = from / v->dim[last], column = from % v->dim[last];
		uint64_t left = v->dim[last] - column, n = left < upto - from ? left : upto - from;
		int64_t at = row_offset(v, row) + (int64_t)column * v->stride[last];

		if (v->stride[last] != 1)
			n = n < STRIDED_MOST ? n : STRIDED_MOST;
		copy_strided(to + at * size, v->stride[last], dense + from * size, n, size);
		from += n;
	}
	return from;
}

/*
 * Copy more of one tensor.  Its results are `begin` bytes behind those of the first tensor.  False:
 * some of it is left.
 */
static bool copy_tensor(const struct session *s, const struct view *v, struct service_call *call,
			uint64_t begin, uint64_t upto, unsigned *runs)
{
	const uint64_t bytes = bytes_of(v);
	const uint32_t size = op_dtype_size(v->dtype);
	uint64_t end = upto - begin < bytes ? upto - begin : bytes;
	uint64_t done = copy_elements(v, buffer_data(s, &s->buffers[v->buffer]) + v->offset,
				      call->results + begin, (call->copied - begin) / size,
				      end / size, runs);

	call->copied = begin + done * size;
	if (done * size < bytes)
		return false;
	call->copied = begin + padded(bytes);
	return true;
}

/* A part ends at an element of any size, or behind a tensor. */
bool results_copy_part(struct session *s, const struct job *job, struct service_call *call)
{
	struct session *outer = sigbus_guard_enter(s), *source = sigbus_guard_read_from(call->from);
	uint64_t upto = call->copied + RESULTS_PART_BYTES, begin = 0;
	unsigned runs = RUNS_MOST;

	for_each_tensor (i, job->writes) {
		const struct view *v = &s->views[job->view[i]];
		uint64_t next = begin + padded(bytes_of(v));

		if (call->copied < next && call->copied < upto &&
		    !copy_tensor(s, v, call, begin, upto, &runs))
			break;
		begin = next;
	}
	(void)sigbus_guard_read_from(source);
	sigbus_guard_leave(outer);
	return call->copied == call->bytes;
}

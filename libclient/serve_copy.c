/* SPDX-License-Identifier: MIT */
/* serve_copy.c - where a call's tensor lies, and a dense copy of it */
#include <string.h>

#include "library.h"
#include "serve.h"

static bool is_empty(const struct quoit_call_tensor *t)
{
	return !t->dim[0] || !t->dim[1] || !t->dim[2] || !t->dim[3];
}

bool libquoit_dense_bytes(const struct quoit_call_tensor *t, uint64_t *ret)
{
	int64_t bytes = (int64_t)libquoit_element_bytes(t->dtype);

	*ret = 0;
	if (is_empty(t))
		return true;
	for (unsigned i = 0; i < QUOIT_MAX_DIMS; i++)
		if (__builtin_mul_overflow(bytes, t->dim[i], &bytes))
			return false;
	*ret = (uint64_t)bytes;
	return true;
}

bool libquoit_is_within(const struct quoit_call_tensor *t, uint64_t bytes)
{
	const int64_t element = (int64_t)libquoit_element_bytes(t->dtype);
	int64_t first, last; /* bytes from the start of the memory; `last` is behind the element */

	if (is_empty(t))
		return t->place <= bytes;
	if (__builtin_add_overflow(t->place, 0, &first) ||
	    __builtin_add_overflow(first, element, &last))
		return false;
	for (unsigned i = 0; i < QUOIT_MAX_DIMS; i++) {
		int64_t *end = t->stride[i] < 0 ? &first : &last;
		int64_t by = (int64_t)(t->dim[i] - 1) * t->stride[i]; /* below 2^63 */

		if (__builtin_mul_overflow(by, element, &by) ||
		    __builtin_add_overflow(*end, by, end))
			return false;
	}
	return first >= 0 && (uint64_t)last <= bytes;
}

/* One line of the last dim; by the element's size, so that each loop moves whole elements. */
static void gather_line(uint8_t *to, const uint8_t *from, uint32_t n, ptrdiff_t step,
			uint64_t element)
{
	switch (element) {
	case 2:
		for (uint32_t i = 0; i < n; i++, to += 2, from += step)
			memcpy(to, from, 2);
		break;
	case 4:
		for (uint32_t i = 0; i < n; i++, to += 4, from += step)
			memcpy(to, from, 4);
		break;
	default:
		for (uint32_t i = 0; i < n; i++, to += 8, from += step)
			memcpy(to, from, 8);
		break;
	}
}

/*
 * How many of the last dims are dense together, so that they can be copied at once?  *ret_bytes: of
 * these.  A dim of 1 may have any stride.
 */
static unsigned dense_dims(const struct quoit_call_tensor *t, uint64_t *ret_bytes)
{
	uint64_t elements = 1;
	unsigned n = 0;

	while (n < QUOIT_MAX_DIMS) {
		const unsigned i = QUOIT_MAX_DIMS - 1 - n;

		if (t->dim[i] != 1 && (t->stride[i] < 0 || (uint64_t)t->stride[i] != elements))
			break;
		elements *= t->dim[i];
		n++;
	}
	*ret_bytes = elements * libquoit_element_bytes(t->dtype);
	return n;
}

void libquoit_gather_dense(uint8_t *to, const uint8_t *from, const struct quoit_call_tensor *t)
{
	const uint64_t element = libquoit_element_bytes(t->dtype);
	const uint32_t line = t->dim[QUOIT_MAX_DIMS - 1];
	uint64_t whole;
	unsigned dense = dense_dims(t, &whole);
	uint32_t at[QUOIT_MAX_DIMS] = {0};
	int dim;

	if (is_empty(t))
		return;
	do {
		ptrdiff_t offset = 0;

		for (unsigned i = 0; i < QUOIT_MAX_DIMS; i++)
			offset += (ptrdiff_t)at[i] * t->stride[i] * (ptrdiff_t)element;
		if (dense)
			memcpy(to, from + offset, whole);
		else
			gather_line(to, from + offset, line,
				    t->stride[QUOIT_MAX_DIMS - 1] * (ptrdiff_t)element, element);
		to += dense ? whole : line * element;
		/* the next line, or the next run of dense dims */
		dim = QUOIT_MAX_DIMS - 1 - (int)(dense ? dense : 1);
		while (dim >= 0 && ++at[dim] == t->dim[dim])
			at[dim--] = 0;
	} while (dim >= 0);
}

/* SPDX-License-Identifier: MIT */
/* memory_need.c - how many bytes a job's buffers lack, and whether there are so many */
#include "memory_private.h"

#include "store/pinned.h"

bool memory_lacking(const struct session *s, const struct job *job)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job->holds & 1u << i && !s->buffers[s->views[job->view[i]].buffer].reserved)
			return true;
	return false;
}

bool memory_fits_device(const struct session *s, const struct memory_need *need, unsigned i)
{
	return !need->device[i].bytes ||
	       need->device[i].bytes <= memory_device_left(s, need->device[i].number);
}

bool memory_fits(const struct session *s, struct memory_need need)
{
	return need.pageable <= memory_lease_left(s) && memory_fits_device(s, &need, 0) &&
	       memory_fits_device(s, &need, 1) && (!need.fixed[FIXED_PINNED] || s->pinned_filled) &&
	       need.fixed[FIXED_PINNED] <= pinned_free(&s->pieces[FIXED_PINNED]) &&
	       need.fixed[FIXED_SHARED] <= pinned_free(&s->pieces[FIXED_SHARED]);
}

static void need_on_device(struct memory_need *need, uint32_t number, uint64_t bytes)
{
	unsigned i = need->device[0].bytes && need->device[0].number != number;

	need->device[i].number = number;
	need->device[i].bytes += bytes;
}

struct memory_need memory_needs(const struct session *s, uint8_t tensors, const uint32_t *view)
{
	struct memory_need need = {0};

	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct buffer *buffer;
		uint32_t b, seen = 0;

		if (!(tensors & 1u << i))
			continue;
		b = s->views[view[i]].buffer;
		buffer = &s->buffers[b];
		for (unsigned j = 0; j < i; j++)
			seen |= tensors & 1u << j && s->views[view[j]].buffer == b;
		if (seen || buffer->reserved)
			continue;
		if (buffer->place == PLACE_DEVICE)
			need_on_device(&need, buffer->device, sizeclass_bytes(buffer->class));
		else if (buffer->fixed)
			need.fixed[buffer->fixed] += pinned_piece_bytes(buffer->size);
		else
			need.pageable += sizeclass_bytes(buffer->class);
	}
	return need;
}

/* SPDX-License-Identifier: MIT */
/* memory_device.c - counts bytes on devices; their executors place them, or slabs here do */
#include "memory_private.h"

#include <assert.h>

void memory_device_reserve(struct session *s, struct buffer *b)
{
	struct device_memory *d = &s->device[b->device - 1];

	d->used += sizeclass_bytes(b->class);
	if (d->used > d->peak)
		d->peak = d->used;
	b->offset = 0;
	b->in_slab = s->direct && slab_take(&d->slab, b->class, &b->offset);
	b->reserved = true;
	b->zeroed = false; /* it has old contents */
}

void memory_device_drop(struct session *s, struct buffer *b)
{
	struct device_memory *d = &s->device[b->device - 1];
	uint32_t self = (uint32_t)(b - s->buffers);

	assert(d->used >= sizeclass_bytes(b->class));
	d->used -= sizeclass_bytes(b->class);
	b->reserved = b->zeroed = false;
	if (b->in_slab) {
		slab_give(&d->slab, b->class, b->offset);
		tables_give_buffer(s, self);
		return;
	}
	b->next = NIL;
	if (d->dropped.head == NIL)
		d->dropped.head = self;
	else
		s->buffers[d->dropped.tail].next = self;
	d->dropped.tail = self;
	s->drops++;
}

/* SPDX-License-Identifier: MIT */
/* tensor.c - creates and frees handles, views and buffers */
#include "tensor.h"

#include <assert.h>
#include <errno.h>

#include "memory/lease.h"
#include "memory/memory.h"
#include "session/named_tensor.h"
#include "session/objects.h"

static void bind_handle(struct session *s, uint32_t handle, uint32_t view)
{
	s->tensors[handle & QUOIT_HANDLE_INDEX_MASK] =
		(struct tensor){.handle = handle, .view = view};
	s->tensors_alive++;
}

/* Memory that other sessions use, too: charged to its maker, with the contents that it has. */
static void init_named(const struct session *s, struct buffer *b, uint32_t number)
{
	struct caller *c = session_named(s, number);

	b->place = PLACE_NAMED;
	b->size = c->service->object->tensor->bytes;
	b->named = (uint8_t)number;
	b->read_only = c->read_only;
	b->reserved = b->zeroed = true;
	c->buffer = (uint32_t)(b - s->buffers);
	c->out++;
}

static void init_buffer(const struct session *s, struct buffer *b, const struct quoit_sqe *sqe,
			uint64_t size)
{
	b->size = size;
	b->views = 1;
	b->poisoned = false;
	b->writers = b->readers = NIL;
	b->park_job = NIL;
	b->place = PLACE_PAGEABLE;
	b->device = sqe->device;
	b->fixed = FIXED_NONE;
	b->holds = 0;
	b->reserved = b->zeroed = b->in_slab = b->read_only = false;
	b->class = 0;
	b->offset = 0;
	if (size)
		b->class = sizeclass_of(size);
	else
		b->reserved = b->zeroed = true; /* no bytes are needed */
	if (sqe->device) {
		b->place = PLACE_DEVICE;
	} else if (sqe->arg & QUOIT_CREATE_PINNED) {
		b->place = PLACE_PINNED;
		b->fixed = FIXED_PINNED;
	} else if (sqe->arg & QUOIT_CREATE_SHARED) {
		b->place = PLACE_ARENA;
		b->fixed = FIXED_SHARED;
	} else if (sqe->arg & QUOIT_CREATE_ARENA) {
		b->place = PLACE_ARENA; /* charged since HELLO, with the client's contents */
		b->offset = s->shared_bytes + sqe->offset;
		b->reserved = b->zeroed = true;
	} else if (sqe->arg & QUOIT_CREATE_NAMED) {
		init_named(s, b, sqe->base[1]);
	}
}

/* All views of a tensor with a name are on one buffer, so that jobs are ordered by them. */
static uint32_t buffer_for(struct session *s, const struct quoit_sqe *sqe, uint64_t size)
{
	uint32_t buffer;

	if (sqe->arg & QUOIT_CREATE_NAMED) {
		buffer = session_named(s, sqe->base[1])->buffer;
		if (buffer != NIL) {
			s->buffers[buffer].views++;
			return buffer;
		}
	}
	buffer = tables_take_buffer(s);
	if (buffer != NIL)
		init_buffer(s, &s->buffers[buffer], sqe, size);
	return buffer;
}

/* A table has no free entry.  -EAGAIN: one may come, try again; else there will be none. */
static int full(struct session *s, struct fault *fault)
{
	return lease_ask_tables(s) ? -EAGAIN
				   : refuse(fault, -ENOMEM, QUOIT_FIELD_MEMORY,
					    sizeof(struct view) + sizeof(struct buffer), 0);
}

int tensor_create(struct session *s, const struct quoit_sqe *sqe, struct fault *fault)
{
	uint32_t view = tables_take_view(s), buffer;
	struct view *v;
	int err;

	if (view == NIL)
		return full(s, fault);
	v = &s->views[view];
	err = validate_create(s, sqe, v, fault); /* in place, since a copy would cost more */
	buffer = err ? NIL : buffer_for(s, sqe, v->hi);
	if (buffer == NIL) {
		tables_give_view(s, view);
		return err ? err : full(s, fault);
	}
	if (s->eager)
		memory_take_eagerly(s, &s->buffers[buffer]);
	v->buffer = buffer;
	v->refs = 1;
	bind_handle(s, sqe->base[0], view);
	return 0;
}

int tensor_view(struct session *s, const struct quoit_sqe *sqe, struct fault *fault)
{
	uint32_t view = tables_take_view(s);
	struct view *v;
	int err;

	if (view == NIL)
		return full(s, fault);
	v = &s->views[view];
	err = validate_view(s, sqe, v, fault);
	if (err) {
		tables_give_view(s, view);
		return err;
	}
	v->refs = 1;
	s->buffers[v->buffer].views++;
	bind_handle(s, sqe->base[0], view);
	return 0;
}

static inline void unref(struct session *s, uint32_t view)
{
	struct view *v = &s->views[view];
	uint32_t buffer = v->buffer;

	if (--v->refs)
		return;
	tables_give_view(s, view);
	if (--s->buffers[buffer].views == 0)
		memory_release(s, buffer);
}

int tensor_free(struct session *s, const struct quoit_sqe *sqe, struct fault *fault)
{
	uint32_t view;
	int err = validate_free(s, sqe, &view, fault);

	if (err)
		return err;
	s->tensors[sqe->base[0] & QUOIT_HANDLE_INDEX_MASK].handle = 0;
	assert(s->tensors_alive > 0);
	s->tensors_alive--;
	memory_mark_free(s, &s->buffers[s->views[view].buffer]);
	unref(s, view);
	return 0;
}

void tensor_unref(struct session *s, uint32_t view)
{
	unref(s, view);
}

/* SPDX-License-Identifier: MIT */
/*
 * launcher_clear.c - clear device memory, so that no session sees what another has left there.
 *
 * Memory that a buffer gets is dirty.  The first flight that uses it clears it before it runs,
 * unless it overwrites all of it.  If such a flight fails, the memory is cleared after all: later
 * flights may be in streams behind it already, and would read it.  A later flight follows the one
 * that cleared, whatever order quoitd asked for.  Memory that cannot be cleared stays dirty, and
 * its flight does not run.
 *
 * A slab is dirty as a whole.  quoitd hears its address when it is clear; from then on it holds
 * only its own session's data.  Only quoitd knows which of that is old, because some jobs there do
 * not pass through the launcher.
 */
#include "launcher_clear.h"

#include <errno.h>

#include "launcher_end.h"
#include "launcher_private.h"

static bool is_there(const struct flight *f, uint32_t i)
{
	return f->q.view[i].given && f->q.view[i].region == QUOIT_EXEC_ON_DEVICE && f->q.bytes[i];
}

static bool is_in_slab(const struct flight *f, uint32_t i)
{
	return f->q.view[i].buffer & QUOIT_EXEC_IN_SLAB;
}

static struct device_buffer *buffer_of(struct launcher *l, const struct flight *f, uint32_t i)
{
	return is_there(f, i) ? holding_look(l, flight_holding(l, f), f->q.view[i].buffer) : NULL;
}

void clear_name(struct launcher *l, struct flight *f)
{
	f->afters = f->named;
	for (uint32_t i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct device_buffer *b = buffer_of(l, f, i);

		if (b && b->cleaner.serial && b->cleaner.serial != f->serial &&
		    l->flight[b->cleaner.index].serial == b->cleaner.serial)
			f->after[f->afters++] = b->cleaner;
	}
}

static int clear(struct launcher *l, const struct flight *f, struct device_buffer *b)
{
	int err = launcher_check(
		l, l->driver->clear(l->stream[f->stream].stream, b->address, b->bytes));

	if (!err) {
		b->dirty = false;
		b->cleaner = (struct flight_name){(uint32_t)(f - l->flight), f->serial};
	}
	return err;
}

/* Clear the place of one tensor in the slab. */
static int clear_place(struct launcher *l, struct flight *f, uint32_t i, uint64_t address)
{
	int err = launcher_check(
		l, l->driver->clear(l->stream[f->stream].stream, address, f->q.bytes[i]));

	if (!err)
		f->q.zero &= (uint8_t) ~(1u << i);
	return err;
}

int clear_before(struct launcher *l, struct flight *f)
{
	int err = 0;

	for (uint32_t i = 0; i < QUOIT_MAX_TENSORS_PER_JOB && !err; i++) {
		const struct quoit_exec_view *v = &f->q.view[i];
		struct device_buffer *b;
		uint64_t address;

		if (!is_there(f, i) || (v->whole && !is_in_slab(f, i)))
			continue;
		err = holding_find(l, flight_holding(l, f), v->buffer, f->q.bytes[i], &address);
		b = buffer_of(l, f, i);
		if (!err && b->dirty)
			err = clear(l, f, b);
		if (!err && f->q.zero & 1u << i)
			err = clear_place(l, f, i, address);
	}
	return err;
}

void clear_written(struct launcher *l, const struct flight *f)
{
	for (uint32_t i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		struct device_buffer *b = buffer_of(l, f, i);

		if (b && f->q.view[i].whole && !is_in_slab(f, i))
			b->dirty = false;
	}
}

int clear_after(struct launcher *l, struct flight *f)
{
	int err = 0;

	for (uint32_t i = 0; i < QUOIT_MAX_TENSORS_PER_JOB && err != -EAGAIN; i++) {
		struct device_buffer *b = buffer_of(l, f, i);

		if (b && b->dirty)
			err = clear(l, f, b);
	}
	return err == -EAGAIN ? err : 0;
}

uint64_t clear_slab(const struct launcher *l, const struct holding *h)
{
	const struct flight_name *cleaner = &h->slab.cleaner;

	if (h->slab.dirty || l->flight[cleaner->index].serial == cleaner->serial)
		return 0;
	return h->slab.address;
}

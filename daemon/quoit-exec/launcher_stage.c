/* SPDX-License-Identifier: MIT */
/*
 * launcher_stage.c - copies between the device and host memory that it does not reach.
 *
 * The bytes go through a few parts of memory that it reaches: while the device has one, the next is
 * filled or emptied here.  There is one copy at a time each way.  It counts as issued when its last
 * part is through and its own mark is in the stream.  A copy that has failed or was cancelled stops
 * where it is.
 */
#include "launcher_stage.h"

#include <errno.h>
#include <string.h>

#include "base/tsc.h"
#include "launcher_clear.h"
#include "launcher_end.h"
#include "launcher_private.h"

int stage_open(struct launcher *l)
{
	int err = 0;

	for (uint32_t way = 0; way < 2 && !err; way++) {
		void *memory;

		l->stage[way].queue.head = NOBODY;
		err = l->driver->host_new(l->device, STAGE_PARTS * STAGE_BYTES, &memory);
		if (!err)
			l->stage[way].memory = memory;
	}
	return err;
}

void stage_close(struct launcher *l)
{
	for (uint32_t way = 0; way < 2; way++)
		if (l->stage[way].memory)
			l->driver->host_free(l->device, l->stage[way].memory);
}

void stage_take(struct launcher *l, uint32_t index)
{
	queue_append(l, &l->stage[l->flight[index].stream].queue, index);
}

/* ---- one part ---- */

static uint64_t part_bytes(const struct transfer *t, uint64_t offset)
{
	return t->bytes - offset < STAGE_BYTES ? t->bytes - offset : STAGE_BYTES;
}

static uint32_t part_at(uint64_t offset)
{
	return (uint32_t)(offset / STAGE_BYTES % STAGE_PARTS);
}

static uint8_t *part_memory(const struct stage *g, uint64_t offset)
{
	return g->memory + part_at(offset) * STAGE_BYTES;
}

/* Put the next part into the stream, if a part of the buffer is free. */
static int copy_part(struct launcher *l, uint32_t way, const struct transfer *t)
{
	struct stage *g = &l->stage[way];
	uint64_t bytes = part_bytes(t, g->sent), there = t->device + g->sent;
	uint64_t here = (uint64_t)(uintptr_t)part_memory(g, g->sent);
	int err;

	if (g->sent - g->done == STAGE_PARTS * STAGE_BYTES)
		return -EAGAIN;
	if (t->in)
		memcpy(part_memory(g, g->sent), t->host + g->sent, bytes);
	err = launcher_check(l, l->driver->copy(l->stream[way].stream, t->in ? there : here,
						t->in ? here : there, bytes,
						t->in ? QUOIT_DEVICE_IN : QUOIT_DEVICE_OUT));
	g->unmarked = !err;
	return err;
}

static int mark_part(struct launcher *l, uint32_t way, const struct transfer *t)
{
	struct stage *g = &l->stage[way];
	int err = stream_mark(l, way, &g->number[part_at(g->sent)]);

	if (!err) {
		g->unmarked = false;
		g->sent += part_bytes(t, g->sent);
	}
	return err;
}

/* The oldest part is through: copy it out, and free it. */
static void take_part(struct stage *g, const struct transfer *t)
{
	uint64_t bytes = part_bytes(t, g->done);

	if (!t->in)
		memcpy(t->host + g->done, part_memory(g, g->done), bytes);
	g->done += bytes;
}

/* ---- the copy under way ---- */

static bool take_parts(struct launcher *l, uint32_t way, const struct transfer *t)
{
	struct stage *g = &l->stage[way];
	bool any = false;

	while (g->done < g->sent && stream_has_passed(l, way, g->number[part_at(g->done)])) {
		take_part(g, t);
		any = true;
	}
	return any;
}

/* Put the copy's own mark behind all its parts, even if it has stopped early. */
static int finish(struct launcher *l, uint32_t way)
{
	struct stage *g = &l->stage[way];
	uint32_t index = g->queue.head, next = l->flight[index].next;
	struct flight *f = &l->flight[index];
	int err = f->res ? clear_after(l, f) : 0;

	if (err)
		return err;
	stream_append(l, index);
	if (!f->res)
		clear_written(l, f);
	f->step = STEP_ISSUED;
	g->queue.head = next;
	g->begun = false;
	return 0;
}

/* Do the next step of the first copy.  -EAGAIN: that cannot be done yet. */
static int do_next(struct launcher *l, uint32_t way, const struct transfer *t)
{
	struct stage *g = &l->stage[way];
	struct flight *f = &l->flight[g->queue.head];

	if (g->unmarked)
		return mark_part(l, way, t);
	if (!f->res && g->sent < t->bytes)
		return copy_part(l, way, t);
	if (!f->res && f->step == STEP_END) {
		int err = flight_stamp(l, f, 1);

		f->step += !err;
		return err;
	}
	return g->done < g->sent ? -EAGAIN : finish(l, way);
}

static bool advance(struct launcher *l, uint32_t way, int *ret_err)
{
	struct stage *g = &l->stage[way];
	uint32_t index = g->queue.head;
	struct transfer t;
	bool any;
	int err;

	if (index == NOBODY)
		return false;
	*ret_err = flight_transfer(l, &l->flight[index], &t);
	if (*ret_err)
		return false;
	if (!g->begun) {
		g->begun = true;
		g->sent = g->done = 0;
		l->flight[index].issued = tsc_now();
	}
	any = take_parts(l, way, &t);
	do {
		err = do_next(l, way, &t);
		any |= !err;
	} while (!err && g->queue.head == index);
	if (err && err != -EAGAIN)
		flight_fail(&l->flight[index], err);
	return any;
}

bool stage_advance(struct launcher *l, int *ret_err)
{
	bool any = advance(l, STREAM_IN, ret_err);

	return (!*ret_err && advance(l, STREAM_OUT, ret_err)) || any;
}

/* SPDX-License-Identifier: MIT */
/*
 * launcher_stage.c - copies between the device and host memory that it does not reach
 *
 * The bytes go through a few parts of memory that it does: while the device has one, the
 * next is filled or emptied here.  One copy at a time each way; it counts as issued when its
 * last part is in the stream (in), or is over when that has been emptied (out).
 */
#include "launcher_private.h"

#include <errno.h>
#include <string.h>

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

/* The next part goes into the stream. */
static int send_part(struct launcher *l, uint32_t way, const struct transfer *t)
{
	struct stage *g = &l->stage[way];
	uint64_t bytes = part_bytes(t, g->sent);
	uint64_t here = (uint64_t)(uintptr_t)part_memory(g, g->sent);
	int err;

	if (t->in) {
		memcpy(part_memory(g, g->sent), t->host + g->sent, bytes);
		err = l->driver->copy(l->stream[way].stream, t->device + g->sent, here, bytes,
				      QUOIT_DEVICE_IN);
	} else {
		err = l->driver->copy(l->stream[way].stream, here, t->device + g->sent, bytes,
				      QUOIT_DEVICE_OUT);
	}
	err = launcher_check(l, err);
	if (!err)
		err = stream_mark(l, way, &g->number[part_at(g->sent)]);
	g->sent += bytes;
	return err;
}

/* The oldest part is through. */
static void take_part(struct stage *g, const struct transfer *t)
{
	uint64_t bytes = part_bytes(t, g->done);

	if (!t->in)
		memcpy(t->host + g->done, part_memory(g, g->done), bytes);
	g->done += bytes;
}

/* ---- the copy under way ---- */

static bool go_on(struct launcher *l, uint32_t way, const struct transfer *t, int *ret_err)
{
	struct stage *g = &l->stage[way];
	bool any = false;

	while (g->done < g->sent && stream_has_passed(l, way, g->number[part_at(g->done)])) {
		take_part(g, t);
		any = true;
	}
	while (!*ret_err && g->sent < t->bytes && g->sent - g->done < STAGE_PARTS * STAGE_BYTES) {
		*ret_err = send_part(l, way, t);
		if (!*ret_err && g->sent == t->bytes)
			*ret_err = flight_stamp(l, &l->flight[g->queue.head], 1);
		any = true;
	}
	return any;
}

static int end(struct launcher *l, uint32_t way, const struct transfer *t)
{
	struct stage *g = &l->stage[way];
	uint32_t index = queue_pop(l, &g->queue);

	g->begun = false;
	return t->in ? stream_append(l, index) : launcher_answer(l, index);
}

static bool advance(struct launcher *l, uint32_t way, int *ret_err)
{
	struct stage *g = &l->stage[way];
	struct transfer t;
	bool any;

	if (g->queue.head == NOBODY)
		return false;
	*ret_err = flight_transfer(l, &l->flight[g->queue.head], &t);
	if (*ret_err)
		return false;
	if (!g->begun) {
		g->begun = true;
		g->sent = g->done = 0;
	}
	any = go_on(l, way, &t, ret_err);
	/* Also of what comes in every part is through then, and can be used again. */
	if (!*ret_err && g->done == t.bytes && !flight_waits(l, &l->flight[g->queue.head])) {
		*ret_err = end(l, way, &t);
		any = true;
	}
	return any;
}

bool stage_advance(struct launcher *l, int *ret_err)
{
	bool any = advance(l, STREAM_IN, ret_err);

	return (!*ret_err && advance(l, STREAM_OUT, ret_err)) || any;
}

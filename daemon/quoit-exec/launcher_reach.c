/* SPDX-License-Identifier: MIT */
/*
 * launcher_reach.c - the host memory that the device reaches.
 *
 * The driver is asked for a stretch when that is first used, and for no more than one in a pass.
 * Stretches that it refuses go through a staging buffer from then on.  When a session leaves, one
 * stretch is given back in a pass.
 */
#include "launcher_reach.h"

#include <errno.h>
#include <stdlib.h>

#include "launcher_direct.h"
#include "launcher_end.h"
#include "launcher_private.h"

enum reach {
	REACH_UNKNOWN,
	REACH_NONE,
	REACH_DIRECT,
};

static uint64_t stretches(const struct memory *m, uint32_t region)
{
	return (m->bytes[region] + REACH_BYTES - 1) / REACH_BYTES;
}

static uint64_t stretch_bytes(const struct memory *m, uint32_t region, uint64_t i)
{
	uint64_t left = m->bytes[region] - i * REACH_BYTES;

	return left < REACH_BYTES ? left : REACH_BYTES;
}

/* ---- asking ---- */

static uint8_t ask(struct launcher *l, struct flight *f, uint32_t region, uint64_t i)
{
	const struct memory *m = flight_memory(l, f);
	uint64_t bytes = stretch_bytes(m, region, i);
	int err;

	l->reach_requested = true;
	launcher_works(l, true);
	direct_park(l);
	err = launcher_check(
		l, l->driver->host_register(l->device, m->base[region] + i * REACH_BYTES, bytes));
	launcher_works(l, false);
	if (!err)
		return REACH_DIRECT;
	f->refused += bytes;
	f->refusal = (uint8_t)-err;
	return REACH_NONE;
}

/* The daemon or the client may take pages away from the other regions. */
static bool is_reachable(uint32_t region)
{
	return region == QUOIT_EXEC_PINNED || region == QUOIT_EXEC_BRIDGE;
}

int reach_transfer(struct launcher *l, struct flight *f, const struct transfer *t)
{
	uint8_t **reach = &l->holding[flight_holding(l, f)].reach[t->region];

	if (!is_reachable(t->region))
		return 0;
	if (!*reach)
		*reach = calloc(stretches(flight_memory(l, f), t->region), sizeof **reach);
	if (!*reach)
		return 0;
	for (uint64_t i = t->offset / REACH_BYTES; i <= (t->offset + t->bytes - 1) / REACH_BYTES;
	     i++) {
		if ((*reach)[i] == REACH_UNKNOWN && l->reach_requested)
			return -EAGAIN;
		if ((*reach)[i] == REACH_UNKNOWN)
			(*reach)[i] = ask(l, f, t->region, i);
		if ((*reach)[i] == REACH_NONE)
			return 0;
	}
	return 1;
}

/* A driver need not take one copy that crosses stretches registered in two calls. */
uint64_t reach_copy_bytes(const struct transfer *t, uint64_t offset)
{
	uint64_t stretch = REACH_BYTES - (t->offset + offset) % REACH_BYTES;

	return stretch < t->bytes - offset ? stretch : t->bytes - offset;
}

/* ---- leaving ---- */

static struct memory *memory_of(struct launcher *l, uint32_t holding)
{
	return &l->channels->channel[holding / QUOIT_EXEC_SLOTS].slots[holding % QUOIT_EXEC_SLOTS];
}

/* False: the driver has no stretch of this region any more. */
static bool give_back(struct launcher *l, uint32_t holding, uint32_t region)
{
	uint8_t **reach = &l->holding[holding].reach[region];
	const struct memory *m = memory_of(l, holding);

	for (uint64_t i = 0; *reach && i < stretches(m, region); i++) {
		if ((*reach)[i] != REACH_DIRECT)
			continue;
		direct_park(l);
		l->driver->host_unregister(l->device, m->base[region] + i * REACH_BYTES);
		(*reach)[i] = REACH_UNKNOWN;
		return true;
	}
	free(*reach);
	*reach = NULL;
	return false;
}

/* True: the last stretch was given back, and the memory is unmapped. */
static bool leave_on(struct launcher *l, uint32_t holding)
{
	for (uint32_t i = 0; i < QUOIT_EXEC_REGIONS; i++)
		if (give_back(l, holding, i))
			return false;
	memory_unmap(memory_of(l, holding));
	return true;
}

static int say_left(struct launcher *l, uint32_t holding)
{
	struct quoit_exec_answer a = {.id = holding % QUOIT_EXEC_SLOTS, .type = QUOIT_EXEC_UNMAP};

	return channel_answer(&l->channels->channel[holding / QUOIT_EXEC_SLOTS], &a);
}

int reach_leave(struct launcher *l, uint32_t holding)
{
	if (leave_on(l, holding))
		return say_left(l, holding);
	l->holding[holding].next_leaving = NOBODY;
	if (l->leaving.head == NOBODY)
		l->leaving.head = holding;
	else
		l->holding[l->leaving.tail].next_leaving = holding;
	l->leaving.tail = holding;
	launcher_works(l, true);
	return 0;
}

bool reach_advance(struct launcher *l, int *ret_err)
{
	uint32_t holding = l->leaving.head;

	if (holding == NOBODY)
		return false;
	launcher_works(l, true);
	if (leave_on(l, holding)) {
		l->leaving.head = l->holding[holding].next_leaving;
		launcher_works(l, false);
		*ret_err = say_left(l, holding);
	}
	return true;
}

void reach_open(struct launcher *l)
{
	l->leaving.head = NOBODY;
}

void reach_close(struct launcher *l)
{
	for (uint32_t i = 0; i < l->channels->count * QUOIT_EXEC_SLOTS; i++)
		for (uint32_t region = 0; region < QUOIT_EXEC_REGIONS; region++)
			free(l->holding[i].reach[region]);
}

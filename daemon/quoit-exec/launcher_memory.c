/* SPDX-License-Identifier: MIT */
/* launcher_memory.c - device memory of sessions */
#include "launcher_memory.h"

#include <errno.h>
#include <stdlib.h>

#include "launcher_direct.h"
#include "launcher_end.h"
#include "launcher_private.h"

/* ---- the pool ---- */

static bool pool_take(struct pool *p, uint32_t class, uint64_t *ret)
{
	if (!p->free[class].count)
		return false;
	*ret = p->free[class].address[--p->free[class].count];
	p->cached -= sizeclass_bytes(class);
	return true;
}

static bool pool_give(struct pool *p, uint32_t class, uint64_t address)
{
	if (p->free[class].count == p->free[class].room) {
		uint32_t room = p->free[class].room ? 2 * p->free[class].room : 16;
		uint64_t *grown = realloc(p->free[class].address, room * sizeof *grown);

		if (!grown)
			return false;
		p->free[class].address = grown;
		p->free[class].room = room;
	}
	p->free[class].address[p->free[class].count++] = address;
	p->cached += sizeclass_bytes(class);
	return true;
}

/*
 * Give free pieces back to the driver, the largest first, until `keep` bytes are left; true: some.
 */
static bool pool_trim(struct launcher *l, uint64_t keep)
{
	uint64_t address;
	bool any = false;

	for (uint32_t c = SIZECLASS_NR; l->pool.cached > keep && c-- > 0;)
		while (l->pool.cached > keep && pool_take(&l->pool, c, &address)) {
			direct_park(l);
			launcher_check(l, l->driver->memory_free(l->device, address));
			any = true;
		}
	return any;
}

/*
 * So many bytes more are in use.  Free and used bytes together never exceed the most that was in
 * use at once: other processes on this device have leases, too, and leases count only used bytes.
 */
static void pool_use(struct launcher *l, uint64_t bytes)
{
	struct pool *p = &l->pool;

	p->used += bytes;
	if (p->most < p->used)
		p->most = p->used;
	(void)pool_trim(l, p->most - p->used);
}

/* Take a freed piece of this class, or new memory. */
static int take(struct launcher *l, uint64_t bytes, uint64_t *ret)
{
	uint32_t class = sizeclass_of(bytes);
	int err;

	bytes = sizeclass_bytes(class);
	if (pool_take(&l->pool, class, ret)) {
		pool_use(l, bytes);
		return 0;
	}
	pool_use(l, bytes);
	direct_park(l);
	err = l->driver->memory_new(l->device, bytes, ret);
	/* By count there is enough, but it lies in pieces of other sizes. */
	if (err == -ENOMEM && pool_trim(l, 0))
		err = l->driver->memory_new(l->device, bytes, ret);
	if (err)
		l->pool.used -= bytes;
	return launcher_check(l, err);
}

static void give(struct launcher *l, struct device_buffer *b)
{
	if (b->address) {
		uint32_t class = sizeclass_of(b->bytes);

		l->pool.used -= sizeclass_bytes(class);
		if (!pool_give(&l->pool, class, b->address)) {
			direct_park(l);
			launcher_check(l, l->driver->memory_free(l->device, b->address));
		}
	}
	*b = (struct device_buffer){0};
}

/* ---- buffers ---- */

static int grow(struct holding *h, uint32_t buffer)
{
	uint32_t count = h->count ? h->count : 64;
	struct device_buffer *grown;

	while (count <= buffer)
		count *= 2;
	grown = realloc(h->buffer, count * sizeof *grown);
	if (!grown)
		return -ENOMEM;
	for (uint32_t i = h->count; i < count; i++)
		grown[i] = (struct device_buffer){0};
	h->buffer = grown;
	h->count = count;
	return 0;
}

/* Find a place in the slab; the slab is made when its first place is needed. */
static int find_in_slab(struct launcher *l, struct holding *h, uint32_t page, uint64_t bytes,
			uint64_t *ret)
{
	uint64_t offset = (uint64_t)page * QUOIT_EXEC_PAGE;
	int err;

	if (bytes > QUOIT_DIRECT_SLAB_BYTES || offset > QUOIT_DIRECT_SLAB_BYTES - bytes)
		return -EPROTO;
	if (!h->slab.address) {
		struct device_buffer fresh = {.bytes = QUOIT_DIRECT_SLAB_BYTES, .dirty = true};

		err = take(l, fresh.bytes, &fresh.address);
		if (err)
			return err;
		h->slab = fresh;
	}
	*ret = h->slab.address + offset;
	return 0;
}

struct device_buffer *holding_look(struct launcher *l, uint32_t holding, uint32_t buffer)
{
	struct holding *h = &l->holding[holding];

	if (buffer & QUOIT_EXEC_IN_SLAB)
		return h->slab.address ? &h->slab : NULL;
	return buffer < h->count && h->buffer[buffer].address ? &h->buffer[buffer] : NULL;
}

int holding_find(struct launcher *l, uint32_t holding, uint32_t buffer, uint64_t bytes,
		 uint64_t *ret)
{
	struct holding *h = &l->holding[holding];
	int err;

	if (buffer & QUOIT_EXEC_IN_SLAB)
		return find_in_slab(l, h, buffer & ~QUOIT_EXEC_IN_SLAB, bytes, ret);
	err = buffer < h->count ? 0 : grow(h, buffer);

	if (!err && !h->buffer[buffer].address) {
		struct device_buffer fresh = {.bytes = bytes, .dirty = true};

		err = take(l, bytes, &fresh.address);
		if (!err)
			h->buffer[buffer] = fresh;
	}
	if (!err)
		*ret = h->buffer[buffer].address;
	return err;
}

void holding_drop(struct launcher *l, uint32_t holding, uint32_t buffer)
{
	struct holding *h = &l->holding[holding];

	if (buffer < h->count)
		give(l, &h->buffer[buffer]);
}

/* ---- the end ---- */

void holding_leave(struct launcher *l, uint32_t holding)
{
	struct holding *h = &l->holding[holding];

	for (uint32_t i = 0; i < h->count; i++)
		give(l, &h->buffer[i]);
	give(l, &h->slab);
	free(h->buffer);
	h->buffer = NULL;
	h->count = 0;
	l->pool.most = l->pool.used; /* another process may get its lease next */
	(void)pool_trim(l, 0);
}

void holdings_close(struct launcher *l)
{
	for (uint32_t i = 0; i < l->channels->count * QUOIT_EXEC_SLOTS; i++)
		free(l->holding[i].buffer);
	for (uint32_t c = 0; c < SIZECLASS_NR; c++)
		free(l->pool.free[c].address);
}

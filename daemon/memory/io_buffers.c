/* SPDX-License-Identifier: MIT */
/* io_buffers.c - hands out numbers of buffers, and registers them */
#include "io_buffers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct io_buffers {
	io_buffers_set_fn *set;
	struct io_ring *ring;
	bool taken[IO_BUFFERS];
};

int io_buffers_new(io_buffers_set_fn *set, struct io_ring *ring, struct io_buffers **ret)
{
	struct io_buffers *b = calloc(1, sizeof *b);

	*ret = b;
	if (!b)
		return -ENOMEM;
	b->set = set;
	b->ring = ring;
	return 0;
}

void io_buffers_free(struct io_buffers *b)
{
	free(b);
}

static uint64_t parts(uint64_t region_bytes)
{
	return (region_bytes + IO_BUFFER_BYTES - 1) / IO_BUFFER_BYTES;
}

uint32_t io_buffers_take(struct io_buffers *b, uint64_t region_bytes)
{
	uint64_t count = parts(region_bytes), run = 0;

	for (uint32_t i = 0; i < IO_BUFFERS; i++) {
		run = b->taken[i] ? 0 : run + 1;
		if (run < count)
			continue;
		i -= (uint32_t)count - 1;
		memset(&b->taken[i], true, count);
		return i;
	}
	return IO_NO_BUFFER;
}

void io_buffers_give(struct io_buffers *b, uint32_t first, uint64_t region_bytes)
{
	memset(&b->taken[first], false, parts(region_bytes));
}

int io_buffers_register(struct io_buffers *b, uint32_t number, void *at, uint64_t bytes)
{
	return b->set(b->ring, number, at, bytes);
}

void io_buffers_unregister(struct io_buffers *b, uint32_t number)
{
	(void)b->set(b->ring, number, NULL, 0);
}

/* SPDX-License-Identifier: MIT */
/* arena.c - cut pieces from one range of addresses; the bookkeeping lies outside of the range */
#include "arena.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#define ARENA_FREE   0x80000000u
#define ARENA_LENGTH 0x7fffffffu

static unsigned bin_of(uint32_t length)
{
	return 31u - (unsigned)__builtin_clz(length);
}

static bool is_free(const struct arena *a, uint32_t at)
{
	return a->table[at].length & ARENA_FREE;
}

static uint32_t length_at(const struct arena *a, uint32_t at)
{
	return a->table[at].length & ARENA_LENGTH;
}

static void mark(struct arena *a, uint32_t at, uint32_t length, uint32_t flag)
{
	a->table[at].length = length | flag;
	a->table[at + length - 1].length = length | flag;
}

static void insert(struct arena *a, uint32_t at, uint32_t length)
{
	uint32_t *bin = &a->bin[bin_of(length)];

	mark(a, at, length, ARENA_FREE);
	a->table[at].next = *bin;
	a->table[at].prev = 0;
	if (*bin)
		a->table[*bin].prev = at;
	*bin = at;
}

static void unlink_piece(struct arena *a, uint32_t at)
{
	const struct arena_granule *g = &a->table[at];

	if (g->prev)
		a->table[g->prev].next = g->next;
	else
		a->bin[bin_of(length_at(a, at))] = g->next;
	if (g->next)
		a->table[g->next].prev = g->prev;
}

/*
 * Any piece in the bin of the next logarithm is long enough; one in the length's own bin may not
 * be.
 */
static uint32_t find(const struct arena *a, uint32_t length)
{
	unsigned bin = bin_of(length);

	for (uint32_t at = a->bin[bin]; at; at = a->table[at].next)
		if (length_at(a, at) >= length)
			return at;
	while (++bin < ARENA_BINS)
		if (a->bin[bin])
			return a->bin[bin];
	return 0;
}

static uint32_t granules_of(uint64_t bytes)
{
	uint64_t granules = bytes / ARENA_GRANULE;

	return granules > ARENA_LENGTH - 2 ? ARENA_LENGTH - 2 : (uint32_t)granules;
}

int libquoit_arena_init(struct arena *a, void *base, uint64_t bytes, uint64_t most)
{
	uint32_t granules = granules_of(bytes);

	*a = (struct arena){
		.base = base, .bytes = bytes, .granules = granules, .most = granules_of(most)};
	a->table = mmap(NULL, ((size_t)a->most + 2) * sizeof *a->table, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (a->table == MAP_FAILED) {
		a->table = NULL;
		return -ENOMEM;
	}
	pthread_mutex_init(&a->lock, NULL);
	if (granules)
		insert(a, 1, a->granules);
	return 0;
}

void libquoit_arena_done(struct arena *a)
{
	if (!a->table)
		return;
	munmap(a->table, ((size_t)a->most + 2) * sizeof *a->table);
	pthread_mutex_destroy(&a->lock);
	a->table = NULL;
}

void *libquoit_arena_take(struct arena *a, size_t size)
{
	uint32_t length, at;

	if (size > (uint64_t)a->most * ARENA_GRANULE)
		return NULL;
	length = size ? (uint32_t)((size + ARENA_GRANULE - 1) / ARENA_GRANULE) : 1;
	pthread_mutex_lock(&a->lock);
	at = find(a, length);
	if (at) {
		uint32_t rest = length_at(a, at) - length;

		unlink_piece(a, at);
		if (rest)
			insert(a, at + length, rest);
		mark(a, at, length, 0);
	}
	pthread_mutex_unlock(&a->lock);
	return at ? a->base + (uint64_t)(at - 1) * ARENA_GRANULE : NULL;
}

/* Free the piece at `at` and join it with the free pieces before and behind it. */
static void release(struct arena *a, uint32_t at)
{
	uint32_t length = length_at(a, at);

	if (is_free(a, at + length)) {
		uint32_t behind = at + length;

		unlink_piece(a, behind);
		length += length_at(a, behind);
	}
	if (is_free(a, at - 1)) {
		a->table[at].length =
			0; /* no piece begins here any more, so that a second release is ignored */
		at -= length_at(a, at - 1);
		unlink_piece(a, at);
		length += length_at(a, at);
	}
	insert(a, at, length);
}

void libquoit_arena_extend(struct arena *a, uint64_t bytes)
{
	uint32_t granules = granules_of(bytes), at;

	pthread_mutex_lock(&a->lock);
	at = a->granules + 1;
	if (granules >= at && granules <= a->most) {
		mark(a, at, granules + 1 - at, 0);
		a->bytes = bytes;
		a->granules = granules;
		release(a, at);
	}
	pthread_mutex_unlock(&a->lock);
}

void libquoit_arena_give(struct arena *a, void *memory)
{
	uint64_t offset = (uint64_t)((uint8_t *)memory - a->base);
	uint32_t at = (uint32_t)(offset / ARENA_GRANULE) + 1;

	if (!memory || offset >= (uint64_t)a->most * ARENA_GRANULE || offset % ARENA_GRANULE)
		return;
	pthread_mutex_lock(&a->lock);
	if (at <= a->granules && length_at(a, at) && !is_free(a, at))
		release(a, at);
	pthread_mutex_unlock(&a->lock);
}

/* SPDX-License-Identifier: MIT */
/*
 * arena.h - cut pieces from one range of addresses; the bookkeeping lies outside of the range.
 *
 * The range is cut into granules of 64 bytes.  A piece is a run of granules; its length stands at
 * its first and its last granule in a table beside the range, so that neighbours are found and
 * joined at once.  Free pieces hang in lists by the logarithm of their length, the last freed
 * first: equal sizes come and go in constant time.  Nothing is written into the range itself, so a
 * job that damages it cannot damage the allocator.
 *
 * The table takes 12 bytes of address space for each granule, also for granules that the range gets
 * later; it takes memory only where pieces begin and end.  Thread-safe.
 */
#ifndef LIBQUOIT_ARENA_H
#define LIBQUOIT_ARENA_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define ARENA_GRANULE 64u
#define ARENA_BINS    32

struct arena_granule {
	uint32_t length; /* of the piece that begins or ends here, in granules; or ARENA_FREE */
	uint32_t next; /* at the first granule of a free piece: the next piece in its bin's list */
	uint32_t prev;
};

struct arena {
	pthread_mutex_t lock;
	uint8_t *base;
	uint64_t bytes;
	/* the range is [1, granules]; entries 0 and granules + 1 are never free */
	uint32_t granules;
	uint32_t most; /* the most granules that the range may get */
	struct arena_granule *table;
	uint32_t bin[ARENA_BINS]; /* a free piece of 2^i to 2^(i+1)-1 granules; 0: none */
};

/* Manage [base, base + bytes), which may grow up to `most`.  bytes may be 0.  -ENOMEM. */
int libquoit_arena_init(struct arena *a, void *base, uint64_t bytes, uint64_t most);

/* The range has grown to this many bytes, at most `most`. */
void libquoit_arena_extend(struct arena *a, uint64_t bytes);
void libquoit_arena_done(struct arena *a);

/* 64-byte aligned; NULL: no piece is long enough.  Zero bytes are taken as one. */
void *libquoit_arena_take(struct arena *a, size_t size);

/* Free a piece.  An address at which no piece in use begins is ignored. */
void libquoit_arena_give(struct arena *a, void *memory);

#endif

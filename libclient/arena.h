/* SPDX-License-Identifier: MIT */
/*
 * arena.h - pieces of one range of addresses, whose bookkeeping lies elsewhere.
 *
 * The range is cut into granules of 64 bytes.  A piece is a run of granules; its
 * length stands at its first and its last granule in a table beside the range, so
 * that neighbours are found and joined at once.  Free pieces hang in lists by the
 * logarithm of their length, the last freed first: equal sizes come and go in
 * constant time.  Nothing is written into the range itself, so a job that damages
 * it cannot damage the allocator.
 *
 * The table takes 12 bytes a granule of address space, also of one that comes later, and memory
 * only where pieces begin and end.  Thread-safe.
 */
#ifndef LIBQUOIT_ARENA_H
#define LIBQUOIT_ARENA_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define ARENA_GRANULE 64u
#define ARENA_BINS    32

struct arena_granule {
	uint32_t length; /* of the piece that begins or ends here, in granules; ARENA_FREE */
	uint32_t next;   /* free pieces, at their first granule: the list of their bin */
	uint32_t prev;
};

struct arena {
	pthread_mutex_t lock;
	uint8_t *base;
	uint64_t bytes;
	uint32_t granules; /* [1, granules] are the range; 0 and granules + 1 are never free */
	uint32_t most;     /* that it may have */
	struct arena_granule *table;
	uint32_t bin[ARENA_BINS]; /* first piece of 2^i to 2^(i+1)-1 granules; 0: none */
};

/* Manage [base, base + bytes), bytes may be 0, which may become up to `most`.  -ENOMEM. */
int libquoit_arena_init(struct arena *a, void *base, uint64_t bytes, uint64_t most);

/* The range has become so large; no more than `most`. */
void libquoit_arena_extend(struct arena *a, uint64_t bytes);
void libquoit_arena_done(struct arena *a);

/* 64-byte aligned; NULL: no piece is long enough.  Zero bytes are taken as one. */
void *libquoit_arena_take(struct arena *a, size_t size);

/* Give a piece back.  What is not the begin of a piece in use is ignored. */
void libquoit_arena_give(struct arena *a, void *memory);

#endif

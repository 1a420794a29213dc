/* SPDX-License-Identifier: MIT */
/* work.c - the tiles of a work, and the bell that tells workers of new ones */
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker_private.h"

/* A range is cleared in tiles of this size. */
#define CLEAR_BYTES (UINT64_C(1) << 20)

/*
 * A tile runs to its end.  So a long job gets more tiles than there are cores, and no tile is
 * predicted to last longer than this.  (Smaller tiles have fewer rows, which costs the BLAS much of
 * its speed.)
 */
#define TILE_MOST_NS UINT64_C(250000000)

/* ---- the bell: a futex that only the daemon's own threads reach ---- */

void workers_wait(struct workers *w, uint32_t seen)
{
	(void)syscall(SYS_futex, &w->bell, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

void workers_ring(struct workers *w)
{
	atomic_fetch_add(&w->bell, 1);
	if (atomic_load(&w->sleepers))
		(void)syscall(SYS_futex, &w->bell, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* ---- tiles ---- */

uint32_t work_clear_tiles(const struct work *work)
{
	uint64_t tiles = 0;

	for (uint32_t i = 0; i < work->zeros; i++)
		tiles += (work->zero[i].bytes + CLEAR_BYTES - 1) / CLEAR_BYTES;
	return (uint32_t)tiles;
}

void work_clear_tile(const struct work *work, uint64_t tile)
{
	for (uint32_t i = 0; i < work->zeros; i++) {
		const struct zero_range *z = &work->zero[i];
		uint64_t tiles = (z->bytes + CLEAR_BYTES - 1) / CLEAR_BYTES, at, n;

		if (tile >= tiles) {
			tile -= tiles;
			continue;
		}
		at = tile * CLEAR_BYTES;
		n = z->bytes - at < CLEAR_BYTES ? z->bytes - at : CLEAR_BYTES;
		memset((uint8_t *)z->start + at, 0, n);
		return;
	}
}

uint32_t work_compute_tiles(const struct workers *w, const struct work *work, uint32_t reactor)
{
	uint64_t cores = w->cores[reactor], n;

	if (cores < work->cost / TILE_MOST_NS)
		cores = work->cost / TILE_MOST_NS;
	n = work->impl->tiles ? work->impl->tiles(&work->args, (uint32_t)cores) : 1;

	return n ? (uint32_t)n : 1;
}

void work_begin(struct workers *w, struct work *work, uint32_t reactor)
{
	uint32_t tiles = work_clear_tiles(work);

	atomic_store(&work->clearing, tiles != 0);
	atomic_store_explicit(&work->order, atomic_fetch_add(&w->order, 1), memory_order_relaxed);
	work_offer(work, tiles ? tiles : work_compute_tiles(w, work, reactor));
}

void work_offer(struct work *work, uint32_t tiles)
{
	atomic_store_explicit(&work->left, tiles, memory_order_relaxed);
	atomic_store_explicit(&work->claim, (uint64_t)tiles << 32, memory_order_release);
}

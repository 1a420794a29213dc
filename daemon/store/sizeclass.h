/* SPDX-License-Identifier: MIT */
/*
 * sizeclass.h - the sizes by which memory is counted and reused.
 *
 * Whole pages up to eight, then four sizes per doubling: 10, 12, 14, 16, 20, 24, ... pages.  So at
 * most a fifth of a piece is rounding.  No piece is less than a page, so what a free gives back can
 * always be given back to the system.
 */
#ifndef QUOITD_SIZECLASS_H
#define QUOITD_SIZECLASS_H

#include <stdint.h>

#define PAGE_BYTES   4096u
#define SIZECLASS_NR 160u /* up to 2^41 pages, far beyond any lease */

/* The class of a piece of `bytes` > 0. */
static inline uint32_t sizeclass_of(uint64_t bytes)
{
	uint64_t more = (bytes - 1) / PAGE_BYTES; /* pages beyond the first */
	uint32_t log;

	if (more < 8)
		return (uint32_t)more;
	log = 63 - (uint32_t)__builtin_clzll(more);
	return 8 + (log - 3) * 4 + (uint32_t)((more - (UINT64_C(1) << log)) >> (log - 2));
}

/*
 * The most bytes of page tables for a mapping of so many bytes, wherever it begins: a page for each
 * 2 MiB, one for each GiB, and one of a higher level.
 */
static inline uint64_t page_table_bytes(uint64_t mapped)
{
	return mapped ? ((mapped >> 21) + 2 + (mapped >> 30) + 2 + 1) * PAGE_BYTES : 0;
}

/* Bytes of a piece of this class. */
static inline uint64_t sizeclass_bytes(uint32_t class)
{
	uint32_t log;

	if (class < 8)
		return (class + UINT64_C(1)) * PAGE_BYTES;
	log = 3 + (class - 8) / 4;
	return ((UINT64_C(1) << log) + (((class - 8) % 4 + UINT64_C(1)) << (log - 2))) * PAGE_BYTES;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * explore_memory.h - shared words as C11 lets threads see them.
 *
 * Every word has one writer and keeps all of its stores in order.  A thread has a
 * view: the oldest store of each word that it may still see.  A load takes any
 * store from there on, and moves the view.  A store with release carries its
 * thread's view, a load with acquire joins what it finds.  A sequentially
 * consistent load sees the last sequentially consistent store or a later one.
 * That is every behaviour of x86 (a store still in its buffer is one that nobody
 * else has to see) and those of weaker machines, except loads that see the future.
 *
 * For those there are plain words, the slots: accesses to them must be ordered by
 * what was acquired, read before overwriting included, or the schedule fails.
 *
 * A hostile word gives any of its values at any load.
 */
#ifndef EXPLORE_MEMORY_H
#define EXPLORE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "explore_sched.h"

#define EXPLORE_WORDS   9  /* of a scenario */
#define EXPLORE_STORES  28 /* to one word, its first value included; more is a failure */
#define EXPLORE_HOSTILE 8  /* values of a hostile word */

enum explore_order {
	EXPLORE_PLAIN,
	EXPLORE_RELAXED,
	EXPLORE_ACQUIRE,
	EXPLORE_RELEASE,
	EXPLORE_SEQ_CST,
	EXPLORE_ORDER_NR,
};

enum explore_kind {
	EXPLORE_ATOMIC,
	EXPLORE_SLOT, /* plain: races are failures */
};

struct explore_view {
	uint8_t from[EXPLORE_WORDS];    /* index of the oldest store that may be seen */
	uint8_t clock[EXPLORE_THREADS]; /* releases of each thread that happened before */
};

struct explore_store {
	uint64_t value;
	struct explore_view view; /* what an acquire takes over; empty without release */
};

struct explore_word {
	const void *address;
	const char *name;
	enum explore_kind kind;
	uint8_t stores;
	uint8_t last_seq_cst;
	uint8_t read_at[EXPLORE_THREADS]; /* clock of each thread's last load, for races */
	uint8_t values;                   /* hostile: how many of store[] are its values */
	struct explore_store store[EXPLORE_STORES];
};

/* All of it is part of the scheduler's state: no pointers into itself. */
struct explore_memory {
	struct explore_word word[EXPLORE_WORDS];
	struct explore_view view[EXPLORE_THREADS];
	uint8_t words;
};

extern struct explore_memory *explore_memory;

/* Forget all words. */
void explore_memory_reset(void);

/* Declare a word, its first value, and its name in schedules. */
void explore_share(const void *address, enum explore_kind kind, uint64_t value, const char *name);
void explore_share_hostile(const void *address, const uint64_t *values, size_t count,
			   const char *name);

uint64_t explore_load(const void *address, enum explore_order order);
void explore_put(const void *address, uint64_t value, enum explore_order order);

/*
 * As the kernel does: no step of its own, no order lent to the caller.  Also of the upper half of a
 * word, at its address + 4.
 */
uint64_t explore_kernel_load(const void *address);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * explore_memory.h - let threads see shared words as C11 allows.
 *
 * Every word has one writer and keeps all of its stores in order.  A thread has a view: for each
 * word, the oldest store that it may still see.  A load takes any store from there on, and moves
 * the view.  A store with release carries its thread's view; a load with acquire adds the view that
 * it finds.  A sequentially consistent load sees the last sequentially consistent store or a later
 * one.  That is every behaviour of x86 (a store that is still in its buffer need not be seen by
 * others) and those of weaker machines, except loads that see the future.
 *
 * On weaker machines plain words, the slots, could be read too early.  So acquires must order the
 * accesses to them, also a read before the slot is overwritten; otherwise the schedule fails.
 *
 * A hostile word gives any of its values at any load.
 */
#ifndef EXPLORE_MEMORY_H
#define EXPLORE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "explore_sched.h"

#define EXPLORE_WORDS   9  /* words of a scenario */
#define EXPLORE_STORES  28 /* stores to one word, including its first value; more are a failure */
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
	EXPLORE_SLOT, /* a plain word: races are failures */
};

struct explore_view {
	uint8_t from[EXPLORE_WORDS];    /* index of the oldest store that the thread may see */
	uint8_t clock[EXPLORE_THREADS]; /* how many releases of each thread happened before */
};

struct explore_store {
	uint64_t value;
	struct explore_view view; /* the view that an acquire takes over; empty without release */
};

struct explore_word {
	const void *address;
	const char *name;
	enum explore_kind kind;
	uint8_t stores;
	uint8_t last_seq_cst;
	uint8_t read_at[EXPLORE_THREADS]; /* each thread's clock at its last load, to find races */
	uint8_t values; /* of a hostile word: how many of store[] are its values */
	struct explore_store store[EXPLORE_STORES];
};

/* It is part of the scheduler's state, so it has no pointers into itself. */
struct explore_memory {
	struct explore_word word[EXPLORE_WORDS];
	struct explore_view view[EXPLORE_THREADS];
	uint8_t words;
};

extern struct explore_memory *explore_memory;

/* Forget all words. */
void explore_memory_reset(void);

/* Declare a word with its first value, and its name in schedules. */
void explore_share(const void *address, enum explore_kind kind, uint64_t value, const char *name);
void explore_share_hostile(const void *address, const uint64_t *values, size_t count,
			   const char *name);

uint64_t explore_load(const void *address, enum explore_order order);
void explore_put(const void *address, uint64_t value, enum explore_order order);

/*
 * A load by the kernel: not a step of its own, and no order for the caller.  It may name the upper
 * half of a word, at the word's address + 4.
 */
uint64_t explore_kernel_load(const void *address);

#endif

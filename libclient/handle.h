/* SPDX-License-Identifier: MIT */
/*
 * handle.h - indices of tensors: a pool of the session, a short stack in each ring.
 *
 * A ring takes and gives indices without a lock; once for every HANDLE_BLOCK of them it goes to the
 * session's pool.  An index that was freed on one ring may be used on another only when quoitd has
 * fetched the FREE, since nothing else orders the two rings.  So the stack remembers the SQ index
 * of each FREE, and gives back its bottom (the oldest ones) once the SQ's head has passed them.
 */
#ifndef LIBQUOIT_HANDLE_H
#define LIBQUOIT_HANDLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define HANDLE_BLOCK 32u

/* The pool of a session.  Thread-safe. */
struct handle_pool {
	pthread_mutex_t lock;
	uint32_t limit; /* indices are [1, limit) */
	uint32_t fresh; /* first index that was never used */
	uint32_t count; /* indices that were given back and not taken again */
	uint32_t *index;
};

struct handle_entry {
	uint32_t index;
	uint32_t freed; /* SQ index of its FREE */
};

/* The stack of a ring.  Entries are in the order of their frees, the oldest at 0. */
struct handle_stack {
	struct handle_pool *pool;
	struct handle_entry *entry;
	uint32_t count;
	uint32_t capacity;
};

int libquoit_handle_pool_init(struct handle_pool *p, uint32_t limit);
void libquoit_handle_pool_done(struct handle_pool *p);

/* At most sq_entries FREEs can be unfetched. */
int libquoit_handle_stack_init(struct handle_stack *s, struct handle_pool *p, uint32_t sq_entries);

/* Give all indices back to the pool; only after quoitd has fetched all FREEs. */
void libquoit_handle_empty(struct handle_stack *s);
void libquoit_handle_stack_done(struct handle_stack *s);

/* Fetch a block from the pool; `head` is the SQ's.  False: none is left. */
bool libquoit_handle_refill(struct handle_stack *s, uint32_t head);

/*
 * Take the index that was freed last; `head` is the SQ's.  False: none is left.  Only the entry's
 * index is read: a load of both words, just after a FREE stored them one by one, would wait until
 * the stores are in the cache.
 */
static inline bool libquoit_handle_take(struct handle_stack *s, uint32_t head, uint32_t *ret)
{
	if (!s->count && !libquoit_handle_refill(s, head))
		return false;
	*ret = s->entry[--s->count].index;
	return true;
}

/* Put back the index that was just taken. */
static inline void libquoit_handle_untake(struct handle_stack *s)
{
	s->count++;
}

/*
 * Put an entry on the stack.  True: the stack is high; refresh the SQ's head, and call
 * libquoit_handle_trim.
 */
static inline bool libquoit_handle_give(struct handle_stack *s, struct handle_entry entry)
{
	s->entry[s->count++] = entry;
	return s->count > 2 * HANDLE_BLOCK;
}

/* Give the oldest block back to the pool, unless one of its FREEs is in [head, next) of the SQ. */
void libquoit_handle_trim(struct handle_stack *s, uint32_t head, uint32_t next);

#endif

/* SPDX-License-Identifier: MIT */
/* handle.c - indices of tensors: a pool of the session, a short stack in each ring */
#include "handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int libquoit_handle_pool_init(struct handle_pool *p, uint32_t limit)
{
	*p = (struct handle_pool){.limit = limit, .fresh = 1};
	p->index = mmap(NULL, (size_t)limit * sizeof *p->index, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p->index == MAP_FAILED) {
		p->index = NULL;
		return -ENOMEM;
	}
	pthread_mutex_init(&p->lock, NULL);
	return 0;
}

void libquoit_handle_pool_done(struct handle_pool *p)
{
	if (!p->index)
		return;
	munmap(p->index, (size_t)p->limit * sizeof *p->index);
	pthread_mutex_destroy(&p->lock);
	p->index = NULL;
}

int libquoit_handle_stack_init(struct handle_stack *s, struct handle_pool *p, uint32_t sq_entries)
{
	/*
	 * Above two blocks the stack grows only while quoitd has not fetched the bottom block's
	 * FREEs, or while that only seems so after the indices have wrapped: by less than twice the
	 * SQ.
	 */
	*s = (struct handle_stack){.pool = p, .capacity = 2 * HANDLE_BLOCK + 2 * sq_entries};
	s->entry = malloc(s->capacity * sizeof *s->entry);
	return s->entry ? 0 : -ENOMEM;
}

static void give_back(struct handle_stack *s, uint32_t n)
{
	struct handle_pool *p = s->pool;

	pthread_mutex_lock(&p->lock);
	for (uint32_t i = 0; i < n; i++)
		p->index[p->count++] = s->entry[i].index;
	pthread_mutex_unlock(&p->lock);
	s->count -= n;
	memmove(s->entry, s->entry + n, s->count * sizeof *s->entry);
}

void libquoit_handle_empty(struct handle_stack *s)
{
	give_back(s, s->count);
}

void libquoit_handle_stack_done(struct handle_stack *s)
{
	free(s->entry);
	s->entry = NULL;
}

/* One block from the pool: first indices that came back, then fresh ones. */
bool libquoit_handle_refill(struct handle_stack *s, uint32_t head)
{
	struct handle_pool *p = s->pool;

	pthread_mutex_lock(&p->lock);
	while (s->count < HANDLE_BLOCK && (p->count || p->fresh < p->limit)) {
		uint32_t index = p->count ? p->index[--p->count] : p->fresh++;

		s->entry[s->count++] = (struct handle_entry){index, head - 1};
	}
	pthread_mutex_unlock(&p->lock);
	return s->count;
}

void libquoit_handle_trim(struct handle_stack *s, uint32_t head, uint32_t next)
{
	/*
	 * FREEs are in the order of time, so the last one of the block decides for all.  An entry
	 * may lie here until the SQ's indices have wrapped.  So the test asks only whether it lies
	 * among the unfetched SQEs, never whether it is "earlier" or "later".
	 */
	if (s->entry[HANDLE_BLOCK - 1].freed - head >= next - head)
		give_back(s, HANDLE_BLOCK);
}

/* SPDX-License-Identifier: MIT */
/* message_queue.c - the memory of a queue between sessions */
#include "message_queue.h"

#include <stdlib.h>

#include "store/lazy_pages.h"

static uint64_t slots_bytes(uint32_t slots)
{
	return slots * sizeof(struct message);
}

uint64_t message_queue_cost(uint32_t slots, uint64_t size)
{
	return sizeof(struct message_queue) + slots_bytes(slots) + size;
}

struct message_queue *message_queue_new(uint32_t slots, uint64_t size)
{
	struct message_queue *q = calloc(1, sizeof *q);

	if (!q)
		return NULL;
	q->slots = slots;
	q->size = size;
	q->message = lazy_pages_map(slots_bytes(slots));
	q->bytes = lazy_pages_map(size);
	if (q->message && q->bytes)
		return q;
	message_queue_free(q);
	return NULL;
}

void message_queue_free(struct message_queue *q)
{
	if (!q)
		return;
	lazy_pages_unmap(q->message, slots_bytes(q->slots));
	lazy_pages_unmap(q->bytes, q->size);
	free(q);
}

/* SPDX-License-Identifier: MIT */
/* message_queue.c - the memory of a queue between sessions */
#include "message_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

/* More is not unmapped by the thread that asks for it. */
#define UNMAP_BYTES (UINT64_C(16) << 20)

static uint64_t slots_bytes(uint32_t slots)
{
	return slots * sizeof(struct message);
}

uint64_t message_queue_cost(uint32_t slots, uint64_t size)
{
	return sizeof(struct message_queue) + slots_bytes(slots) + size;
}

/* Pages come when they are written. */
static void *map(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

struct message_queue *message_queue_new(uint32_t slots, uint64_t size)
{
	struct message_queue *q = calloc(1, sizeof *q);

	if (!q)
		return NULL;
	q->slots = slots;
	q->size = size;
	q->message = map(slots_bytes(slots));
	q->bytes = map(size);
	if (q->message && q->bytes)
		return q;
	message_queue_free(q);
	return NULL;
}

static void *unmap(void *of)
{
	struct message_queue *q = of;

	if (q->message)
		munmap(q->message, slots_bytes(q->slots));
	if (q->bytes)
		munmap(q->bytes, q->size);
	free(q);
	return NULL;
}

/* To free a GiB takes a tenth of a second, for which others would wait: a thread of its own does it. */
void message_queue_free(struct message_queue *q)
{
	pthread_t thread;

	if (!q)
		return;
	if (q->size > UNMAP_BYTES && !pthread_create(&thread, NULL, unmap, q))
		pthread_detach(thread);
	else
		unmap(q);
}

/* SPDX-License-Identifier: MIT */
/* launcher_queue.c - queues of flights */
#include "launcher_queue.h"

#include "launcher_private.h"

void queue_append(struct launcher *l, struct queue *q, uint32_t index)
{
	l->flight[index].next = NOBODY;
	if (q->head == NOBODY)
		q->head = index;
	else
		l->flight[q->tail].next = index;
	q->tail = index;
}

uint32_t queue_pop(struct launcher *l, struct queue *q)
{
	uint32_t index = q->head;

	q->head = l->flight[index].next;
	return index;
}

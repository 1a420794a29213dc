/* SPDX-License-Identifier: MIT */
/* launcher_queue.h - queues of flights, or of other things that are linked by their `next` */
#ifndef QUOIT_EXEC_LAUNCHER_QUEUE_H
#define QUOIT_EXEC_LAUNCHER_QUEUE_H

#include <stdint.h>

struct launcher;

#define NOBODY UINT32_MAX

/* A flight and its serial, which tells whether it is still the same: flights are used again. */
struct flight_name {
	uint32_t index;
	uint64_t serial;
};

struct queue {
	uint32_t head, tail; /* flights, linked by next; head NOBODY: empty */
};

void queue_append(struct launcher *l, struct queue *q, uint32_t index);
uint32_t queue_pop(struct launcher *l, struct queue *q);

#endif

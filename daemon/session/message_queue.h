/* SPDX-License-Identifier: MIT */
/*
 * message_queue.h - the messages of a queue between sessions (objects.h), in memory of quoitd.
 *
 * Their bytes lie in a ring, each in one piece, in the order in which their senders asked.  A sender's
 * reactor fills a message, and a receiver's empties it; the queue's home says when.
 */
#ifndef QUOITD_MESSAGE_QUEUE_H
#define QUOITD_MESSAGE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/abi.h>

#include "services.h"

enum message_state {
	MESSAGE_FILLS,  /* its sender's reactor copies it there */
	MESSAGE_WAITS,  /* for a receiver */
	MESSAGE_LEAVES, /* its receiver's reactor copies it from there */
	MESSAGE_GONE,
};

struct message {
	uint8_t state; /* enum message_state */
	uint8_t dtype;
	uint32_t dim[QUOIT_MAX_DIMS];
	uint64_t at;  /* of its first byte in the ring */
	uint64_t end; /* the ring's bytes are used up to here, counted from the queue's beginning */
};

/* The home's, but for the sizes, which never change. */
struct message_queue {
	uint64_t size;         /* bytes of messages */
	uint32_t slots;        /* messages */
	uint32_t first, count; /* those that are there: message i is slot (first + i) % slots */
	uint32_t given;        /* so many of these have been given to receivers, or are gone */
	uint64_t head, tail;   /* of the ring, in bytes from the queue's beginning */
	struct call_queue senders, receivers; /* they wait */
	struct message *message;
	uint8_t *bytes;
};

/* Bytes that it takes, of a budget. */
uint64_t message_queue_cost(uint32_t slots, uint64_t size);

/* NULL: there is no memory. */
struct message_queue *message_queue_new(uint32_t slots, uint64_t size);
void message_queue_free(struct message_queue *q);

/* The message i places behind another one; i is at most `slots`. */
static inline struct message *message_behind(const struct message_queue *q, const struct message *m,
					     uint32_t i)
{
	uint64_t at = (uint64_t)(m - q->message) + i;

	return &q->message[at < q->slots ? at : at - q->slots];
}

#endif

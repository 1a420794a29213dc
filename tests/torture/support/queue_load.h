/* SPDX-License-Identifier: MIT */
/*
 * queue_load.h - processes that send tensors to one queue and receive them from it, and see by a
 * table in memory that they share what has become of each message
 */
#ifndef TORTURE_QUEUE_LOAD_H
#define TORTURE_QUEUE_LOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <quoit.h>

#define QUEUE_WORKERS 5u
#define QUEUE_HANDS   (QUEUE_WORKERS + 1) /* the last one is the parent's */
#define QUEUE_SIZES   6u
#define QUEUE_WINDOW  8u         /* the most jobs of a way that a worker has under way */
#define QUEUE_ROWS    3u         /* the most messages of one job */
#define QUEUE_FATES   (1u << 22) /* messages of one sender */
#define QUEUE_NAME    "queue"

/* What may happen to workers. */
#define QUEUE_MAY_LATE  0x1u /* jobs have deadlines and short times, and are cancelled */
#define QUEUE_MAY_CLOSE 0x2u /* they close the queue at any moment, and open it again */
#define QUEUE_MAY_DIE   0x4u /* they are killed */
#define QUEUE_MAY_ROWS  0x8u /* a job sends or receives several; all have one size */

/* The queue, and what goes through it. */
struct queue_mode {
	uint32_t messages;
	uint64_t bytes;
	uint32_t window;            /* jobs of a way that a worker has under way */
	uint32_t sizes;             /* of messages: the first so many of these are used */
	uint32_t size[QUEUE_SIZES]; /* in elements of 8 bytes; the first one is the smallest */
	uint32_t may;
};

/* Of a message, in its byte of the table. */
enum { FATE_ASKED = 1, FATE_SENT = 2, FATE_FAILED = 4, FATE_RECEIVED = 8 };

/* All processes share it. */
struct queue_load {
	const char *socket;
	struct queue_mode mode;
	atomic_bool stop;
	_Atomic uint64_t backward; /* so often a receiver got an older message than before */
	_Atomic uint64_t retried;  /* so often one had a tensor that did not fit */
	struct {
		_Atomic uint64_t ended; /* sends and receives that have happened */
		_Atomic uint64_t gave_up;
		_Atomic uint32_t number; /* of its next message; it lives longer than a process */
		atomic_bool is_busy;     /* a job of it is under way */
		char wrong[200];         /* "": nothing is */
	} hand[QUEUE_HANDS];
	_Atomic uint8_t fate[QUEUE_HANDS][QUEUE_FATES];
};

/* NULL: there is no memory.  queue_load_free frees it. */
struct queue_load *queue_load_new(const char *socket, const struct queue_mode *mode);
void queue_load_free(struct queue_load *l);

/*
 * Start one in a process of its own.  The first two send, the next two receive, the last one does
 * both.  It exits with 0 once it is told to stop and none of its jobs waits.
 */
pid_t queue_load_start(struct queue_load *l, unsigned i);

/* Sends and receives that have happened. */
uint64_t queue_load_ended(const struct queue_load *l);

/* Messages that were sent and that nobody has received. */
uint64_t queue_load_lost(const struct queue_load *l);

/* ---- one that sends and receives ---- */

struct queue_hand;

/* Open a session and the queue; a failure is noted in the load.  NULL: so is that. */
struct queue_hand *queue_hand_open(struct queue_load *l, unsigned i);
bool queue_hand_close(struct queue_hand *h);

/*
 * Send the next message, of the smallest size or of another one; receive the next one of whatever
 * size, and check it.  0; -ETIME: it has not happened.  All else is noted.
 */
int queue_hand_send(struct queue_hand *h, unsigned size, int timeout_ms);
int queue_hand_receive(struct queue_hand *h, int timeout_ms);

#endif

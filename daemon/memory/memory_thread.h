/* SPDX-License-Identifier: MIT */
/*
 * memory_thread.h - the thread that takes pages from the system and gives them back.
 *
 * fallocate, punching and unmapping can take milliseconds, so no reactor does them.
 * Each reactor has a ring to the thread and one back.  What it does at a time is a part of a few
 * MiB (memory_pages.h): for the user that has had the least of its time over its share
 * (host/ledger.h), whose sessions take turns.  Requests of one session are served in order, so a
 * punch before an allocation is done before it.
 */
#ifndef QUOITD_MEMORY_THREAD_H
#define QUOITD_MEMORY_THREAD_H

#include <stdint.h>

#include <quoit/ring.h>

struct session;

enum memory_op {
	MEMORY_ALLOCATE, /* pages for [offset, offset + bytes) of the session's region */
	MEMORY_PUNCH,    /* give them back */
	MEMORY_FILL,     /* pages for the pinned region from offset on, in parts */
	MEMORY_TIDY,     /* move its pieces together, in parts */
	MEMORY_CLOSE,    /* give the whole region back and unmap it */
};

struct memory_message {
	uint8_t op; /* enum memory_op */
	int32_t result;
	struct session *session;
	uint64_t offset;
	uint64_t bytes; /* FILL: of the part, in the answer */
	uint32_t class;
	uint32_t buffer; /* ALLOCATE */
	uint32_t job;    /* ALLOCATE: who waits for it */
	/* FILL: to be locked and registered too; in the answer: it is */
	bool lock, enrol;
};

#define MEMORY_ENTRIES 256 /* of a ring */

/* Requests that a reactor has open, at most: the thread takes all that come, so that whose turn it
 * is is not said by who came first. */
#define MEMORY_OPEN 8192u

/* How much of what is long is done at a time. */
#define MEMORY_PART_BYTES (UINT64_C(4) << 20)

/* The two rings between one reactor and the thread. */
struct memory_link {
	uint32_t request_head __attribute__((aligned(64)));
	uint32_t request_tail __attribute__((aligned(64)));
	uint32_t answer_head __attribute__((aligned(64)));
	uint32_t answer_tail __attribute__((aligned(64)));
	struct memory_message request[MEMORY_ENTRIES];
	struct memory_message answer[MEMORY_ENTRIES];
	struct quoit_producer to_thread;   /* the reactor's */
	struct quoit_consumer from_thread; /* the reactor's */
	struct quoit_consumer requests;    /* the thread's */
	struct quoit_producer answers;     /* the thread's */
	uint32_t *reactor_need_wake;
	int reactor_eventfd;
};

struct memory_thread;
struct memory_work;

/* What of a session the thread has; the thread's own. */
struct memory_turns {
	struct memory_work *first, *last; /* its requests, in order */
	struct session *next;             /* of its user, whose turn is after its own */
};

/*
 * Start the thread with one link per reactor (filled in by the caller's eventfds).
 * huge: shared memory can have huge pages (features.h).
 */
int memory_thread_start(struct memory_link *links, unsigned count, bool huge,
			struct memory_thread **ret);
void memory_thread_stop(struct memory_thread *t);

/* For the watchdog: a number that changes when it has got on, and have it look.  Any thread. */
uint64_t memory_thread_progress(const struct memory_thread *t);
void memory_thread_kick(const struct memory_thread *t);

void memory_link_init(struct memory_link *l, uint32_t *reactor_need_wake, int reactor_eventfd);

/* From a reactor: send a request.  False: the ring is full, try again later. */
bool memory_send(struct memory_link *l, const struct memory_message *m);

/* The next answer, NULL: none; release it with memory_answer_done. */
const struct memory_message *memory_next_answer(struct memory_link *l);
void memory_answer_done(struct memory_link *l);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * memory_thread.h - the thread that takes pages from the system and gives them back.
 *
 * fallocate, punching and unmapping can take milliseconds, so no reactor does them.  Each reactor
 * has a ring to the thread and one back.  The thread works in parts of a few MiB (memory_pages.h).
 * The next part is for the user that has had the least time for its share (fair/ledger.h); the
 * user's sessions take turns.  One session's requests are served in order, so a punch before an
 * allocation is done before it.
 */
#ifndef QUOITD_MEMORY_THREAD_H
#define QUOITD_MEMORY_THREAD_H

#include <stdint.h>
#include <sys/types.h>

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
	uint64_t bytes; /* FILL: in the answer, those of the part */
	uint32_t class;
	uint32_t buffer; /* ALLOCATE */
	uint32_t job;    /* ALLOCATE: the job that waits for it */
	/* FILL: lock and register it, too; in the answer: that was done */
	bool lock, enrol;
};

#define MEMORY_ENTRIES 256 /* of a ring */

/* A reactor has at most so many requests open.  The thread takes in all that come, so that turns do
 * not depend on their order. */
#define MEMORY_OPEN 8192u

/* Size of the parts in which long requests are done. */
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
/*
 * Start the thread with one link per reactor; the caller has initialised them.  huge: shared memory
 * can have huge pages (features.h).  0 or -errno.
 */
int memory_thread_start(struct memory_link *links, unsigned count, bool huge,
			struct memory_thread **ret);
void memory_thread_stop(struct memory_thread *t);

/*
 * For the watchdog, any thread: a number that grows with each turn of the thread; the kernel's id of
 * it, 0: it has not begun; and wake it.
 */
uint64_t memory_thread_progress(const struct memory_thread *t);
pid_t memory_thread_tid(const struct memory_thread *t);
void memory_thread_kick(const struct memory_thread *t);

/* Set up an empty link, before the thread starts.  It wakes the reactor by these two. */
void memory_link_init(struct memory_link *l, uint32_t *reactor_need_wake, int reactor_eventfd);

/* From a reactor: send a request.  False: the ring is full; try again later. */
bool memory_send(struct memory_link *l, const struct memory_message *m);

/* From a reactor: the next answer; NULL: there is none.  Release it with memory_answer_done. */
const struct memory_message *memory_next_answer(struct memory_link *l);
void memory_answer_done(struct memory_link *l);

#endif

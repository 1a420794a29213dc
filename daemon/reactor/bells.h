/* SPDX-License-Identifier: MIT */
/*
 * bells.h - the thread that wakes and hears clients whose wake-ups are dear (host/dear.h).
 *
 * A reactor does that itself, and times it, until a user's are dear; from then on it hands them to
 * this thread, and goes on.  The thread is kept off the CPUs of reactors where there are others,
 * since the kernel's walk through a client's watches is one with interrupts off.  Each user pays
 * with its own time: after a dear one the user rests (dear_rest), while others are served.  What it
 * took, the answer says, and the reactor charges it.
 *
 * A ring has one request open at a time.  Each reactor has a ring to the thread and one back.
 */
#ifndef QUOITD_BELLS_H
#define QUOITD_BELLS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include <quoit/ring.h>

struct ring;

#define BELLS_ENTRIES 4096u /* as many as a reactor has rings */

/* What is done, any of them at a time. */
enum bell_op {
	BELL_WAKE = 1, /* the futex that the client sleeps on */
	BELL_RING = 2, /* a byte to its end of the ring's socket */
	BELL_HEAR = 4, /* what is in ours, up to BELLS_HEARD messages, is taken */
};

#define BELLS_HEARD 64u /* or one that never stops had us for good */

/* What came of it. */
struct bell_outcome {
	uint64_t took;    /* ticks, by the caller's clock */
	uint32_t heard;   /* messages */
	bool unsent;      /* the byte was not sent, for want of memory: to be tried again */
	bool ended;       /* the client has closed its end */
	bool descriptors; /* some came, which nobody sends but to have us close them */
};

/* Do it, here and now: whoever calls it pays for what the client has hung there. */
struct bell_outcome bells_do(struct ring *ring, unsigned ops, uint64_t (*clock)(void));

/* ---- the thread ---- */

struct bell_answer {
	struct ring *ring;
	unsigned ops;
	struct bell_outcome outcome;
};

/* The two rings between one reactor and the thread. */
struct bell_link {
	uint32_t request_head __attribute__((aligned(64)));
	uint32_t request_tail __attribute__((aligned(64)));
	uint32_t answer_head __attribute__((aligned(64)));
	uint32_t answer_tail __attribute__((aligned(64)));
	struct {
		struct ring *ring;
		unsigned ops;
	} request[BELLS_ENTRIES];
	struct bell_answer answer[BELLS_ENTRIES];
	struct quoit_producer to_thread;   /* the reactor's */
	struct quoit_consumer from_thread; /* the reactor's */
	struct quoit_consumer requests;    /* the thread's */
	struct quoit_producer answers;     /* the thread's */
	struct bells *bells;
	uint32_t *reactor_need_wake;
	int reactor_eventfd;
};

struct bells;

/* What of a ring the thread has; the thread's own. */
struct bell_turn {
	struct ring *next; /* of its user, whose turn is after its own */
	struct bell_link *link;
	unsigned ops;
	uint64_t took; /* by the last one */
};

void bell_link_init(struct bell_link *l, uint32_t *reactor_need_wake, int reactor_eventfd);

/* Start the thread, on these CPUs (none: on any), with one link per reactor.  -errno. */
int bells_start(struct bell_link *links, unsigned count, const cpu_set_t *cpus, struct bells **ret);

/* Takes NULL.  What was not done is not done any more. */
void bells_stop(struct bells *b);

/* For the watchdog: a number that changes when it has got on, and have it look.  Any thread. */
uint64_t bells_progress(const struct bells *b);
void bells_kick(struct bells *b);

/* From a reactor: one request of a ring that has none open. */
void bells_ask(struct bell_link *l, struct ring *ring, unsigned ops);

/* The next answer; false: none. */
bool bells_answered(struct bell_link *l, struct bell_answer *ret);

/* As quoit_ring_sleep. */
bool bells_may_sleep(struct bell_link *l);

#endif

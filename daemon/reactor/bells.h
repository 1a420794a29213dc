/* SPDX-License-Identifier: MIT */
/*
 * bells.h - the thread that wakes and hears clients whose wake-ups are dear (base/dear.h).
 *
 * A reactor wakes and hears its clients itself and times it.  Once a user's wake-ups are dear, the
 * reactor hands them to this thread and goes on.  The thread is kept off the reactors' CPUs where
 * there are others, because the kernel walks through a client's watches with interrupts off.  Each
 * user pays with its own time: after a dear wake-up it rests (dear_rest) while others are served.
 * The answer says how long the request took, and the reactor charges the user for it.
 *
 * A ring has one request open at a time.  Each reactor has a ring to the thread and one back.
 */
#ifndef QUOITD_BELLS_H
#define QUOITD_BELLS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <quoit/ring.h>

#include "session/session_ring.h"

#define BELLS_ENTRIES 4096u /* as many as a reactor has rings */

#define BELLS_HEARD 64u /* a limit: a client that never stops sending cannot keep us */

/* What a request has done. */
struct bell_outcome {
	uint64_t took;    /* ticks, by the caller's clock */
	uint32_t heard;   /* messages taken */
	bool unsent;      /* no memory to send the byte: try again */
	bool ended;       /* the client has closed its end */
	bool descriptors; /* file descriptors came, sent only to make us close them */
};

/* Serve a request here and now.  The caller spends the time for all that hangs at the ring. */
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

/* Set up an empty link, before the thread starts.  It wakes the reactor by these two. */
void bell_link_init(struct bell_link *l, uint32_t *reactor_need_wake, int reactor_eventfd);

/* Start the thread on these CPUs (an empty set: any), with one link per reactor.  0 or -errno. */
int bells_start(struct bell_link *links, unsigned count, const cpu_set_t *cpus, struct bells **ret);

/* Stop the thread; b may be NULL.  Open requests are dropped. */
void bells_stop(struct bells *b);

/*
 * For the watchdog, any thread: a number that grows with each turn of the thread; the kernel's id of
 * it, 0: it has not begun; and wake it.
 */
uint64_t bells_progress(const struct bells *b);
pid_t bells_tid(const struct bells *b);
void bells_kick(struct bells *b);

/* From a reactor: send a request of a ring that has none open. */
void bells_ask(struct bell_link *l, struct ring *ring, unsigned ops);

/* From a reactor: take the next answer; false: there is none. */
bool bells_answered(struct bell_link *l, struct bell_answer *ret);

/* From a reactor: quoit_ring_sleep for the answers. */
bool bells_may_sleep(struct bell_link *l);

#endif

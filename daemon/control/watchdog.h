/* SPDX-License-Identifier: MIT */
/*
 * watchdog.h - a thread that checks whether the others make progress, and tells the service manager
 * that all is well only if all of them do.
 *
 * Each subject has a number that changes whenever its thread makes progress:
 *
 *	reactor		it has made a pass over all its rings and queues.  It does so at work, while
 *			it spins, and once a second asleep.
 *	worker		it has looked for a tile, found or not; or it is in a tile, has had CPU time
 *			since the last look, and for that tile no more than --tile-ms in all.
 *	control thread	it has made a pass over its connections.
 *	memory thread	it has looked for requests, or done a part of one, 4 MiB at most.
 *	slow wake-ups	their thread has looked for wake-ups to make.
 *	executors	their thread has looked at each of them.  What a module or a device does
 *			has a time limit of its own (--module-ms, --gpu-ms), which that thread and
 *			the reactors enforce.
 *
 * A subject without progress since the last look is kicked, so that it goes on if it only slept.
 * After three looks in a row without progress, of four in a period, it is stuck.  Then the log
 * names it, and the service manager is not told that all is well until it goes on.  A look does not
 * count if the thread wants to run but gets no core, since others have it: a restart of quoitd
 * would not help.  Looks are counted, not timed: a suspend of the machine makes no thread stuck.
 */
#ifndef QUOITD_WATCHDOG_H
#define QUOITD_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

/* Looks in a period of the service manager. */
#define WATCHDOG_LOOKS 4u

struct watchdog_subject {
	char name[48]; /* "reactor 1 on CPU 4" */
	void *of;
	uint32_t index;
	uint64_t (*progress)(void *of, uint32_t index); /* any thread may call it at any time */
	void (*kick)(void *of);
	/* Does it want a core that others have?  NULL: unknown.  *seen: its own, first 0. */
	bool (*waits)(void *of, uint32_t index, uint64_t *seen);
	/* the watchdog's own */
	uint64_t seen;
	unsigned missed;       /* looks in a row */
	uint64_t seen_of_core; /* what `waits` has seen */
	bool without_core;     /* logged already */
};

/* What the thread calls; each must return soon. */
struct watchdog_calls {
	void (*feed)(void);     /* all make progress */
	void (*look)(void *of); /* after each look, also if a thread is stuck */
	void *of;
};

struct watchdog;

/* Start the thread.  Subjects (members after `kick` may be 0) and calls are copied.  -errno. */
int watchdog_start(const struct watchdog_subject *subjects, unsigned count, uint64_t period_ns,
		   const struct watchdog_calls *calls, struct watchdog **ret);

/* Call it before any subject ends.  NULL is fine. */
void watchdog_stop(struct watchdog *w);

/* One look, as the thread does it.  True: all make progress, or may still do so. */
bool watchdog_look(struct watchdog_subject *subjects, unsigned count, uint64_t interval_ns);

#endif

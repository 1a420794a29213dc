/* SPDX-License-Identifier: MIT */
/*
 * watchdog.h - a thread that looks whether the others get on, and says so only if all of them do.
 *
 * What it takes for progress is each subject's own number, which changes whenever that thread
 * has got on:
 *
 *	reactor		it has made a pass, over all its rings and queues.  It does so at work
 *			and spinning, and once a second asleep.
 *	worker		it has looked for a tile, found or not; or it is in one, and has had CPU
 *			time since the last look, and for that tile no more than --tile-ms in all.
 *	control thread	it has made a pass over its connections.
 *	memory thread	it has looked for requests, or done a part of one, 4 MiB at most.
 *	executors	their thread has looked at each of them.  What a module or a device does has
 *its own time (--module-ms, --gpu-ms), and is ended by that thread and the reactors.
 *
 * Who has not got on since the last look is kicked, so that it gets on if it only slept.  One that
 * has not for three looks in a row, of four in a period, is stuck: the log says who, and nobody is
 *told that all is well until it gets on.  A look at which it wants to run and gets no core, since
 * others have it, does not count: starting quoitd anew would not help.  Looks are counted and not
 *timed: in a machine that was suspended nobody is stuck.
 */
#ifndef QUOITD_WATCHDOG_H
#define QUOITD_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

/* In a period of the service manager's. */
#define WATCHDOG_LOOKS 4u

struct watchdog_subject {
	char name[48]; /* "reactor 1 on CPU 4" */
	void *of;
	uint32_t index;
	uint64_t (*progress)(void *of, uint32_t index); /* any thread's to call, as is */
	void (*kick)(void *of);
	/* Does it want a core that others have?  NULL: not known.  *seen: its own, zero at first.
	 */
	bool (*waits)(void *of, uint32_t index, uint64_t *seen);
	/* its own */
	uint64_t seen;
	unsigned missed;       /* looks in a row */
	uint64_t seen_of_core; /* what `waits` has seen */
	bool without_core;     /* so the log has it */
};

/* What the thread calls; each must return soon. */
struct watchdog_calls {
	void (*feed)(void);     /* all get on */
	void (*look)(void *of); /* at each look, whoever is stuck */
	void *of;
};

struct watchdog;

/* Both are copied; subjects may be as if zero behind `kick`.  -errno: there is no thread. */
int watchdog_start(const struct watchdog_subject *subjects, unsigned count, uint64_t period_ns,
		   const struct watchdog_calls *calls, struct watchdog **ret);

/* Before any of them ends.  NULL is fine. */
void watchdog_stop(struct watchdog *w);

/* One look, as the thread does each; true: all get on, or may still do so. */
bool watchdog_look(struct watchdog_subject *subjects, unsigned count, uint64_t interval_ns);

#endif

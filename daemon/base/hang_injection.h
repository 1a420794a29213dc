/* SPDX-License-Identifier: MIT */
/* hang_injection.h - test switch: makes a thread get stuck at a given place, to test the watchdog */
#ifndef QUOITD_HANG_INJECTION_H
#define QUOITD_HANG_INJECTION_H

#include <stdbool.h>

enum hang_place {
	HANG_NOWHERE,
	HANG_REACTOR,   /* when it gets its first session */
	HANG_CONTROL,   /* when it makes its first session */
	HANG_MEMORY,    /* the memory thread, at its first request */
	HANG_EXECUTORS, /* their thread, at once */
	HANG_WORKER,    /* asleep in its first tile */
	HANG_SPIN,      /* busy for ever in its first tile */
	HANG_EXIT,      /* its thread ends in its first tile */
};

/* Written before there are threads; only read afterwards. */
extern enum hang_place hang_place;

/* Find a place by name ("reactor", ...); "": nowhere.  False: there is no such place. */
bool hang_find(const char *name, enum hang_place *ret);

/* What hang_find finds, for a message. */
#define HANG_NAMES "reactor, control, memory, executors, worker, worker-spins, worker-exits"

/* Get stuck here; it does not return. */
void hang_now(enum hang_place place);

static inline void hang_at(enum hang_place place)
{
	if (__builtin_expect(hang_place == place, 0))
		hang_now(place);
}

/* Call it in a tile. */
static inline void hang_in_tile(void)
{
	if (__builtin_expect(hang_place >= HANG_WORKER, 0))
		hang_now(hang_place);
}

#endif

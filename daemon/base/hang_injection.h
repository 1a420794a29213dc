/* SPDX-License-Identifier: MIT */
/* hang_injection.h - test switch: makes a thread get stuck at a given place, to test the watchdog */
#ifndef QUOITD_HANG_INJECTION_H
#define QUOITD_HANG_INJECTION_H

#include <stdbool.h>

enum stick_place {
	STICK_NOWHERE,
	STICK_REACTOR,   /* when it gets its first session */
	STICK_CONTROL,   /* when it makes its first session */
	STICK_MEMORY,    /* the memory thread, at its first request */
	STICK_EXECUTORS, /* their thread, at once */
	STICK_WORKER,    /* asleep in its first tile */
	STICK_SPIN,      /* busy for ever in its first tile */
	STICK_EXIT,      /* its thread ends in its first tile */
};

/* Written before there are threads; only read afterwards. */
extern enum stick_place stick_place;

/* Find a place by name ("reactor", ...); "": nowhere.  False: there is no such place. */
bool stick_find(const char *name, enum stick_place *ret);

/* Get stuck here; it does not return. */
void stick_now(enum stick_place place);

static inline void stick_at(enum stick_place place)
{
	if (__builtin_expect(stick_place == place, 0))
		stick_now(place);
}

/* Call it in a tile. */
static inline void stick_in_tile(void)
{
	if (__builtin_expect(stick_place >= STICK_WORKER, 0))
		stick_now(stick_place);
}

#endif

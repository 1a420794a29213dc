/* SPDX-License-Identifier: MIT */
/* stick.h - test switch: a thread that gets stuck where it is told to, for who watches over it */
#ifndef QUOITD_STICK_H
#define QUOITD_STICK_H

#include <stdbool.h>

enum stick_place {
	STICK_NOWHERE,
	STICK_REACTOR,   /* when it gets its first session */
	STICK_CONTROL,   /* the same */
	STICK_MEMORY,    /* the memory thread, at its first request */
	STICK_EXECUTORS, /* their thread, at once */
	STICK_WORKER,    /* in its first tile, asleep; */
	STICK_SPIN,      /* at work for ever; */
	STICK_EXIT,      /* its thread ends */
};

/* Written before there are threads, and read only. */
extern enum stick_place stick_place;

/* "reactor" and so on; "": nowhere.  False: there is no such place. */
bool stick_find(const char *name, enum stick_place *ret);

/* It does not return. */
void stick_now(enum stick_place place);

static inline void stick_at(enum stick_place place)
{
	if (__builtin_expect(stick_place == place, 0))
		stick_now(place);
}

/* In a tile. */
static inline void stick_in_tile(void)
{
	if (__builtin_expect(stick_place >= STICK_WORKER, 0))
		stick_now(stick_place);
}

#endif

/* SPDX-License-Identifier: MIT */
/* hang_injection.c - makes a thread get stuck */
#include "hang_injection.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum hang_place hang_place;

static const char *const names[] = {
	[HANG_NOWHERE] = "",          [HANG_REACTOR] = "reactor",     [HANG_CONTROL] = "control",
	[HANG_MEMORY] = "memory",     [HANG_EXECUTORS] = "executors", [HANG_WORKER] = "worker",
	[HANG_SPIN] = "worker-spins", [HANG_EXIT] = "worker-exits",
};

bool hang_find(const char *name, enum hang_place *ret)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(name, names[i])) {
			*ret = (enum hang_place)i;
			return true;
		}
	return false;
}

void hang_now(enum hang_place place)
{
	if (place == HANG_EXIT)
		pthread_exit(NULL);
	for (;;)
		if (place != HANG_SPIN)
			(void)pause();
		else
			__asm__ volatile("" ::: "memory"); /* or the loop may be optimized away */
}

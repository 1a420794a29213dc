/* SPDX-License-Identifier: MIT */
/* hang_injection.c - makes a thread get stuck */
#include "hang_injection.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum stick_place stick_place;

static const char *const names[] = {
	[STICK_NOWHERE] = "",          [STICK_REACTOR] = "reactor",     [STICK_CONTROL] = "control",
	[STICK_MEMORY] = "memory",     [STICK_EXECUTORS] = "executors", [STICK_WORKER] = "worker",
	[STICK_SPIN] = "worker-spins", [STICK_EXIT] = "worker-exits",
};

bool stick_find(const char *name, enum stick_place *ret)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(name, names[i])) {
			*ret = (enum stick_place)i;
			return true;
		}
	return false;
}

void stick_now(enum stick_place place)
{
	if (place == STICK_EXIT)
		pthread_exit(NULL);
	for (;;)
		if (place != STICK_SPIN)
			(void)pause();
		else
			__asm__ volatile("" ::: "memory"); /* or the loop may be optimized away */
}

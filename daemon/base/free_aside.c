/* SPDX-License-Identifier: MIT */
/* free_aside.c - free what is large without letting others wait */
#include "free_aside.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/* Up to so many bytes are freed at once; it takes less time than to start a thread. */
#define INLINE_BYTES (UINT64_C(1) << 20)

struct work {
	void (*drop)(void *of);
	void *of;
};

static void *run(void *of)
{
	struct work w = *(struct work *)of;

	free(of);
	w.drop(w.of);
	return NULL;
}

static bool start(struct work work)
{
	struct work *w = malloc(sizeof *w);
	pthread_t thread;

	if (!w)
		return false;
	*w = work;
	if (pthread_create(&thread, NULL, run, w)) {
		free(w);
		return false;
	}
	pthread_detach(thread);
	return true;
}

void free_aside(uint64_t bytes, void (*drop)(void *of), void *of)
{
	if (bytes <= INLINE_BYTES || !start((struct work){drop, of}))
		drop(of);
}

/* SPDX-License-Identifier: MIT */
/* serve_results.c - memory for what a service's functions write, until quoitd has copied it */
#include <stdlib.h>
#include <time.h>

#include "clock.h"
#include "serve.h"
#include "team.h"

/* How long a call waits for memory that quoitd still copies from, and how often it looks. */
#define WAIT_NS UINT64_C(1000000000)
#define NAP_NS  100000u

struct results *libquoit_results_pop(struct results **list, const uint32_t *done, uint32_t mask)
{
	for (struct results **at = list; *at; at = &(*at)->next) {
		struct results *r = *at;
		uint32_t serial = QUOIT_RING_LOAD(&done[r->id & mask], QUOIT_RING_ACQUIRE);

		if (serial != r->id >> 32)
			continue;
		*at = r->next;
		return r;
	}
	return NULL;
}

/* ---- their memory ---- */

void libquoit_results_drop(struct quoit_team *t, struct results *r)
{
	quoit_dealloc(t->session, r->memory);
	free(r);
}

/* True: some are still quoitd's. */
static bool reclaim(struct quoit_team *t)
{
	struct results **list = &t->serve->results, *r;
	bool left;

	pthread_mutex_lock(&t->returning);
	while ((r = libquoit_results_pop(list, t->ring->results, t->ring->cq_mask)) != NULL)
		libquoit_results_drop(t, r);
	left = *list != NULL;
	pthread_mutex_unlock(&t->returning);
	return left;
}

void libquoit_results_reclaim(struct quoit_team *t)
{
	(void)reclaim(t);
}

static uint8_t *take_memory(struct quoit_team *t, uint64_t bytes, bool may_wait)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	uint64_t until = 0;
	uint8_t *memory;
	bool left;

	if (bytes > SIZE_MAX)
		return NULL;
	for (;;) {
		left = reclaim(t);
		memory = quoit_alloc(t->session, (size_t)bytes);
		if (memory || !left || !may_wait ||
		    __atomic_load_n(&t->ring->broken, __ATOMIC_RELAXED))
			return memory;
		if (!until)
			until = clock_ns() + WAIT_NS;
		else if (clock_ns() >= until)
			return NULL;
		(void)nanosleep(&nap, NULL);
	}
}

struct results *libquoit_results_take(struct quoit_team *t, uint64_t bytes, bool may_wait)
{
	struct results *r = malloc(sizeof *r);

	if (!r)
		return NULL;
	*r = (struct results){.memory = take_memory(t, bytes, may_wait), .bytes = bytes};
	if (r->memory)
		return r;
	free(r);
	return NULL;
}

uint64_t libquoit_results_give(struct quoit_team *t, struct results *r, uint64_t id)
{
	r->id = id;
	r->next = t->serve->results;
	t->serve->results = r;
	return QUOIT_RESULTS_AT(r->memory - t->session->shared.base);
}

void libquoit_results_end(struct quoit_team *t)
{
	struct results *r;

	while ((r = t->serve->results) != NULL) {
		t->serve->results = r->next;
		libquoit_results_drop(t, r);
	}
}

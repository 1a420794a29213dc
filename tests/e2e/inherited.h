/* SPDX-License-Identifier: MIT */
/* inherited.h - all that a session can have open, and each call of the library on it in a child */
#ifndef TESTS_INHERITED_H
#define TESTS_INHERITED_H

#include "acquire.h"

struct inherited {
	struct fixture f;       /* with two managed rings */
	struct quoit_ring *raw; /* with a CQE that was not given back */
	struct quoit_team *team, *served;
	struct quoit_service *service;
	int lock, flag, semaphore, barrier, queue, named, keys;
	quoit_tensor a;    /* acquired on f.q for writing */
	quoit_job waits;   /* of f.p: receives from the queue, which is empty */
	quoit_tensor into; /* what it receives */
	void *memory;      /* of quoit_alloc */
	int32_t *at;       /* of a */
};

struct inherited inherited_begin(void);

/* Release and close all; expects that each goes on as if nothing had happened. */
void inherited_end(struct inherited *i);

/*
 * In a child: try each call on what it has inherited; "" or the first that was not refused, in words
 * of the program.  It does not close the session, unless it is told to.
 */
const char *inherited_try(struct inherited *i, bool closes);

#endif

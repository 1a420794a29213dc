/* SPDX-License-Identifier: MIT */
/* exported.h - a quoitd of which quoit exporter has every series to tell */
#ifndef TESTS_EXPORTED_H
#define TESTS_EXPORTED_H

#include <sys/types.h>

#include "client.h"
#include "offer.h"

struct exported {
	struct client c;
	struct {
		struct quoit_session *s;
		struct quoit_ring *q;
	} device, things; /* a session of the soft device; one that has one of each kind open */
	struct offer *offer;
	pid_t server;
};

/*
 * Open one of each kind: a lock "ledger", which it holds and waits for, a queue "rows" with a
 * message, a service, and so on.  Of this ring, no job but that wait is left open.
 */
void exported_use_things(struct quoit_session *s, struct quoit_ring *q);

void exported_begin(struct exported *x);
void exported_end(struct exported *x);

/* Run some jobs in the first ring, and on the device: rates need them. */
void exported_work(struct exported *x, unsigned jobs);

#endif

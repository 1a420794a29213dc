/* SPDX-License-Identifier: MIT */
/* flood.h - a process of some user's that gives quoitd more to do than it can, in many sessions */
#ifndef TESTS_FLOOD_H
#define TESTS_FLOOD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct flood_wish {
	const char *socket;
	uid_t uid;
	unsigned sessions;
	uint32_t device; /* 0: the host */
	bool tiles;   /* products, for the workers; else what takes microseconds, for the reactor */
	bool lengthy; /* sums for the workers, each of which takes many seconds */
	uint32_t rows; /* of a factor; 0: so many that a product takes a few milliseconds */
};

struct flood {
	pid_t pid;
	struct flood_state *state; /* shared with it */
};

/* It has begun, and all its sessions have jobs; false: it has ended, and said why. */
bool flood_begin(struct flood *f, const struct flood_wish *wish);

/* Jobs of it that have ended. */
uint64_t flood_done(const struct flood *f);

void flood_end(struct flood *f);

#endif

/* SPDX-License-Identifier: MIT */
/* flood.h - run a process of a user that submits more work than quoitd can do, in many sessions */
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
	bool tiles; /* true: products, for workers; false: jobs of microseconds, for the reactor */
	bool lengthy;  /* sums for the workers, each of which takes many seconds */
	uint32_t rows; /* rows of a factor; 0: a product takes a few milliseconds */
};

struct flood {
	pid_t pid;
	struct flood_state *state; /* shared with the process */
};

/*
 * Start the process, and wait until all its sessions have jobs; false: it has ended, and said why.
 */
bool flood_begin(struct flood *f, const struct flood_wish *wish);

/* How many of its jobs have ended. */
uint64_t flood_done(const struct flood *f);

void flood_end(struct flood *f);

#endif

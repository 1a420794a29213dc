/* SPDX-License-Identifier: MIT */
/* device.h - open a private quoitd with soft devices, and a session there. */
#ifndef TESTS_DEVICE_H
#define TESTS_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit.h>

#include "daemon.h"

struct device_room {
	struct daemon daemon;
	struct quoit_session *s;
	struct quoit_ring *q; /* creates tensors on the host */
	struct quoit_ring *d; /* creates tensors on the first device */
};

/* False: $QUOIT_TEST_GPU=cuda asks for a real device, for tests that can use one. */
bool room_is_soft(void);
const char *room_kind(void);

/*
 * Change the options, ended by NULL, from a soft device to that kind.  Skips a test that needs a
 * soft device: one that gives it a size, or uses $QUOIT_SOFT_FAULTS.
 */
void room_adapt(const char **options);

/*
 * gpu: the option; megabytes: leased on each device, 0: the default.  Ends the test on failure.
 * Options are adapted; a test of soft:2 is skipped if there is only one real device.
 */
struct device_room room_open(const char *gpu, uint32_t megabytes);
struct device_room room_open_with(const char *const *options, uint32_t megabytes);
void room_close(struct device_room *r);

/* Run one job, for at most 20 s.  Returns its result; ret (may be NULL) gets its error record. */
int room_run(struct quoit_ring *q, struct quoit_sqe sqe, struct quoit_error *ret);

/*
 * Expect a new vector of this many float32 to be zero, although its memory held something else;
 * also beside a part that was written.
 */
void room_expect_zeros(const struct device_room *r, uint32_t elements);

/* The process of a device, or of the first; waits until there is one other than `before`. */
pid_t room_executor_of(const struct device_room *r, unsigned device, pid_t before);
pid_t room_executor(const struct device_room *r, pid_t before);

/* Does the topology file have these words within some seconds? */
bool room_topology_says(const struct device_room *r, const char *words);

/* The sum of a counter over all reactors (quoit/stats.h), as last published. */
uint64_t room_count(const struct device_room *r, unsigned counter);

#endif

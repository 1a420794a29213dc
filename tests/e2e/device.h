/* SPDX-License-Identifier: MIT */
/*
 * device.h - a private quoitd with soft devices, and a session there.
 */
#ifndef TESTS_DEVICE_H
#define TESTS_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit.h>

#include "daemon.h"

struct device_room {
	struct daemon daemon;
	struct quoit_session *s;
	struct quoit_ring *q; /* creates on the host */
	struct quoit_ring *d; /* creates on the first device */
};

/* False: with $QUOIT_TEST_GPU=cuda the tests are to be run on a real one, where they can be. */
bool room_is_soft(void);
const char *room_kind(void);

/*
 * The options, ended by NULL, become those for that kind of device in place of a soft one.  A test
 * that wants what only a soft device does is skipped: it has a size, or $QUOIT_SOFT_FAULTS.
 */
void room_adapt(const char **options);

/*
 * gpu: the option; megabytes: leased of each device, 0: the default.  Ends the test if it fails.
 * Options are adapted; a test of soft:2 is skipped where there is but one real device.
 */
struct device_room room_open(const char *gpu, uint32_t megabytes);
struct device_room room_open_with(const char *const *options, uint32_t megabytes);
void room_close(struct device_room *r);

/* Run one job, for at most 20 s; its result, and with ret (NULL is fine) its error record. */
int room_run(struct quoit_ring *q, struct quoit_sqe sqe, struct quoit_error *ret);

/*
 * A new vector of so many float32, in the place of one that held something else: what nobody has
 * written is zero, also beside what somebody has.
 */
void room_expect_zeros(const struct device_room *r, uint32_t elements);

/* The process of a device, or of the first; it waits until there is one that is not `before`. */
pid_t room_executor_of(const struct device_room *r, unsigned device, pid_t before);
pid_t room_executor(const struct device_room *r, pid_t before);

/* Has the topology file these words, within some seconds? */
bool room_topology_says(const struct device_room *r, const char *words);

/* A counter of all reactors (quoit/stats.h), as last published. */
uint64_t room_count(const struct device_room *r, unsigned counter);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * direct.h - open sessions in GPU-direct mode, and run small jobs there.
 *
 * Calls that must succeed are asserted.
 */
#ifndef TESTS_DIRECT_H
#define TESTS_DIRECT_H

#include "device.h"

#define DIRECT_PATIENCE_MS 20000

/* Open one more session of the room's quoitd, and a ring that creates on a device (0: the host). */
struct quoit_session *direct_session(const struct device_room *r, bool direct);
struct quoit_ring *direct_ring(struct quoit_session *s, unsigned device);

/*
 * Open a quoitd with one more option (NULL: none), whose soft device has these faults
 * (soft_faults.h), and a session in GPU-direct mode.
 */
struct device_room direct_open(const char *faults, const char *option);

/* The first device's description, for the room's session. */
struct quoit_device_desc direct_device(const struct device_room *r);

/* Wait for a job: its result; ret (may be NULL) gets its error record. */
int direct_finish(struct quoit_ring *q, quoit_job job, struct quoit_error *ret);
int direct_run(struct quoit_ring *q, struct quoit_sqe sqe, struct quoit_error *ret);

/* Run small jobs until the consumer has run one; returns how many went through a stream before. */
uint64_t direct_bring_up_by(const struct device_room *r, quoit_tensor x);

/* The same with a tensor of its own. */
void direct_bring_up(const struct device_room *r);

/* Expect n + 1 small jobs in a row to give the right result. */
void direct_expect_works(const struct device_room *r, int n);

#endif

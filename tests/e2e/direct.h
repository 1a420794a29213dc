/* SPDX-License-Identifier: MIT */
/*
 * direct.h - sessions in GPU-direct mode, and small jobs there.
 *
 * What must not fail is asserted.
 */
#ifndef TESTS_DIRECT_H
#define TESTS_DIRECT_H

#include "device.h"

#define DIRECT_PATIENCE_MS 20000

/* One more session with the room's quoitd, and a ring that creates on a device (0: the host). */
struct quoit_session *direct_session(const struct device_room *r, bool direct);
struct quoit_ring *direct_ring(struct quoit_session *s, unsigned device);

/*
 * A quoitd with one more option (NULL: none), whose soft device suffers these faults
 * (soft_faults.h), and a session in GPU-direct mode.
 */
struct device_room direct_open(const char *faults, const char *option);

/* What the first device says of the room's session. */
struct quoit_device_desc direct_device(const struct device_room *r);

/* A job's result once it has ended; ret (may be NULL): its error record. */
int direct_finish(struct quoit_ring *q, quoit_job job, struct quoit_error *ret);
int direct_run(struct quoit_ring *q, struct quoit_sqe sqe, struct quoit_error *ret);

/* Small jobs, until one has found the consumer there; how many went through a stream before. */
uint64_t direct_bring_up_by(const struct device_room *r, quoit_tensor x);

/* The same by a tensor of its own. */
void direct_bring_up(const struct device_room *r);

/* n + 1 small jobs, one after the other; their result is right. */
void direct_expect_works(const struct device_room *r, int n);

#endif

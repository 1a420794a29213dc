/* SPDX-License-Identifier: MIT */
/*
 * executor.h - open a private quoitd with the sample module, and look at its executor from outside.
 */
#ifndef TESTS_EXECUTOR_H
#define TESTS_EXECUTOR_H

#include <quoit.h>

#include "daemon.h"

struct house {
	struct daemon d;
	struct quoit_session *s;
	struct quoit_ring *q; /* a raw ring: the caller sets user_data */
	int axpy, smooth, sleep;
};

/* sqe.arg of sample_sleep: its action after the sleep. */
enum { SLEEP_WELL, SLEEP_CRASH, SLEEP_EXIT, SLEEP_LOOP, SLEEP_DEAF, SLEEP_LEAK };

/* Start quoitd with the module, open a session and a raw ring with this many entries. */
struct house house_open(uint32_t entries);
void house_close(struct house *h);

/* Open one more session of the same quoitd. */
void house_visit(const struct house *h, struct quoit_session **ret_s, struct quoit_ring **ret_q);

/* Put a job into the ring and publish it. */
void house_submit(struct quoit_ring *q, struct quoit_sqe sqe, uint64_t user_data);

/* Wait for the next CQE; error (may be NULL) gets its record. */
struct quoit_cqe house_reap(struct quoit_ring *q, struct quoit_error *error);

/* Reap the CQEs of at most 64 jobs, with user_data from 0 on: one for each. */
void house_reap_each(struct quoit_ring *q, unsigned jobs);

/* Submit a job and wait for it; no other may be in flight. */
int house_run(struct quoit_ring *q, struct quoit_sqe sqe);

/* sample_sleep for this time, then `how`. */
struct quoit_sqe house_nap(const struct house *h, quoit_tensor out, int64_t milliseconds,
			   uint8_t how);

/* A float32 vector in the arena, so that the test sees what the executor writes. */
quoit_tensor house_vector(struct quoit_session *s, struct quoit_ring *q, uint32_t n, float **ret);

/* sample_axpy: out = a x + y. */
struct quoit_sqe house_axpy(const struct house *h, quoit_tensor out, double a, quoit_tensor x,
			    quoit_tensor y);

/* The executor's pid; 0: it is not up.  _wait: waits until one other than `old` is up. */
pid_t house_executor(const struct house *h);
pid_t house_executor_wait(const struct house *h, pid_t old);

/* Does the topology text contain this word? */
bool house_says(const struct house *h, const char *word);

/* How many descriptors quoitd has open; its sessions; a counter of the totals. */
unsigned house_descriptors(const struct house *h);
unsigned house_sessions(const struct house *h);
uint64_t house_total(const struct house *h, unsigned counter);

/* Wait until check(h, value) is true; false after ten seconds. */
bool house_until(bool (*check)(const struct house *h, uint64_t value), const struct house *h,
		 uint64_t value);

#endif

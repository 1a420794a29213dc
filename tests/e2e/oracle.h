/* SPDX-License-Identifier: MIT */
/*
 * oracle.h - a model of quoitd that runs one job at a time, in the order of its calls.
 *
 * It models CREATE, VIEW and FREE of vectors of i32, on the host, pinned or shared there, or on
 * devices, and a few operations on them; what is acquired for writing has oracle_change() done to
 * each element; the charge of buffers by size class or in pages; and poison.  The daemon must give
 * the same answer for each job, however many are in flight (daemon/memory/memory.h, the theorem).
 * The model is written to be read, shares only the size classes with the daemon, and trusts its
 * caller: every handle is valid.
 */
#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/abi.h>

#define ORACLE_TENSORS 64u
/* The host, two devices by their numbers, the pinned and the shared region. */
#define ORACLE_PLACES  5u
#define ORACLE_PINNED  3u /* index of the host's pinned region */
#define ORACLE_SHARED  4u /* index of the shared region */

struct oracle_buffer {
	uint64_t bytes;
	unsigned tensors;
	bool arena;     /* its bytes are charged already */
	uint8_t device; /* where its jobs run; 0: on the host */
	uint8_t place;  /* the place that it is charged to */
	bool reserved;  /* its bytes are reserved */
	bool poisoned;
	uint64_t lo, hi; /* extent of the poison, in elements */
	uint64_t cause;  /* user_data of the first failure */
	int32_t code;    /* code of that failure */
	bool uncertain;  /* its contents depend on a cancel or a deadline */
	int32_t *data;
};

struct oracle_tensor {
	uint32_t handle; /* 0: none */
	struct oracle_buffer *buffer;
	int64_t first, stride; /* in elements */
	uint32_t n;
};

struct oracle_memory {
	uint64_t budget, used, peak; /* bytes */
};

struct oracle {
	struct oracle_memory memory[ORACLE_PLACES];
	uint32_t first; /* index of tensor[0]: a multiple of ORACLE_TENSORS */
	uint32_t generation[ORACLE_TENSORS];
	struct oracle_tensor tensor[ORACLE_TENSORS];
};

/* How a job ends. */
struct oracle_end {
	int32_t res;
	uint64_t cause; /* user_data of the job that failed first */
	int32_t code;
	bool uncertain; /* the rest may be wrong: a cancel or deadline may have changed it */
};

void oracle_init(struct oracle *o, const uint64_t budget[ORACLE_PLACES], uint32_t first);
void oracle_done(struct oracle *o);

/* Run one SQE.  may_fail: a cancel or a deadline may end it first. */
struct oracle_end oracle_run(struct oracle *o, const struct quoit_sqe *sqe, bool may_fail);

/* The handle of a new tensor at this index of the table. */
uint32_t oracle_new_handle(const struct oracle *o, uint32_t index);

/*
 * First byte and end of a tensor, in elements of its buffer; and whether it covers all in between.
 */
void oracle_extent(const struct oracle_tensor *t, uint64_t *ret_lo, uint64_t *ret_hi);
bool oracle_covers(const struct oracle_tensor *t);

/* What the program does to each element that it has acquired for writing. */
int32_t oracle_change(int32_t x);

/* Element i of a tensor. */
int32_t *oracle_at(const struct oracle_tensor *t, uint32_t i);

#endif

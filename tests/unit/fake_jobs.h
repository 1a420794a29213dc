/* SPDX-License-Identifier: MIT */
/* fake_jobs.h - the fake quoitd's data, and how it runs jobs */
#ifndef TESTS_FAKE_JOBS_H
#define TESTS_FAKE_JOBS_H

#include <pthread.h>

#include <quoit/ring.h>

#include "fake_daemon.h"

#define FAKE_RINGS 8u
#define FAKE_BYTES (16u << 20) /* all tensors that are not in the arena */

struct fake_tensor {
	uint32_t handle;
	uint8_t *data;
	uint32_t dim[4];
	int64_t stride[4]; /* bytes */
	uint32_t element;
};

struct fake_ring {
	int socket;
	bool stamps, spoil_cqes;
	struct quoit_ring_layout layout;
	uint8_t *client, *daemon;
	struct quoit_consumer sq;
	struct quoit_producer cq;
	struct quoit_sqe held[256];
	uint32_t held_count;
};

struct fake_daemon {
	uint32_t cpu_hint; /* from the last hello */
	struct fake_options options;
	char directory[32], path[64];
	pthread_t thread;
	pthread_mutex_t lock;
	int listener, client;
	bool stop, hold_fetch, hold_jobs, asleep;
	uint8_t fail_opcode;
	int fail_error;
	struct fake_ring ring[FAKE_RINGS];
	uint32_t rings, rings_given, files;
	int memory[FAKE_RINGS]; /* descriptors that were handed over and are not ready */
	uint32_t waiting;
	uint8_t *arena, *bytes;
	int arena_fd; /* open while there is an arena */
	uint64_t bytes_used;
	struct fake_tensor tensor[FAKE_TENSORS];
	struct quoit_sqe log[FAKE_LOG];
	uint32_t fetched, kicks, alive, closed, arena_asked;
	bool refuse_arena;
};

/* Fetch and run new jobs; answer doorbells and arms. */
void fake_serve_ring(struct fake_daemon *f, struct fake_ring *r);

/* Cancel the job at that SQ index: 0 or -EALREADY. */
int fake_cancel(struct fake_ring *r, uint32_t sq_index);

#endif

/* SPDX-License-Identifier: MIT */
/* core_case.h - make a session without a client, for tests of the daemon's core. */
#ifndef TESTS_CORE_CASE_H
#define TESTS_CORE_CASE_H

#include "session/session.h"

#define CORE_LEASE (UINT64_C(4) << 20)
#define CORE_ARENA (UINT64_C(64) << 10)

/* The handle with this index and its first generation. */
#define CORE_HANDLE(index) (1u << QUOIT_HANDLE_INDEX_BITS | (index))

/* Mapped memory like a client's; asserts success. */
void core_memory(uint64_t bytes, struct shared *ret);

/* A session with one ring of 8 SQEs and 16 CQEs; asserts success. */
struct session *core_session(uint32_t max_jobs);
struct ring *core_ring(struct session *s);
void core_session_free(struct session *s);

/* A dense tensor with the handle CORE_HANDLE(index). */
void core_create(struct session *s, uint32_t index, uint8_t dtype, uint32_t d0, uint32_t d1,
		 uint32_t d2, uint32_t d3);

/* A 1-d view of n elements of the base tensor, from element `first`. */
void core_view(struct session *s, uint32_t index, uint32_t base, uint32_t first, uint32_t n,
	       int32_t stride);

const struct view *core_view_of(const struct session *s, uint32_t index);

#endif

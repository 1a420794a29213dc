/* SPDX-License-Identifier: MIT */
/* core_case.c - make a session without a client */
#include "core_case.h"

#include <unistd.h>

#include <criterion/criterion.h>

#include "base/memfd.h"
#include "job/shape.h"
#include "job/tensor.h"
#include "ops/optable.h"

void core_memory(uint64_t bytes, struct shared *ret)
{
	int fd = memfd_create_sealed("test", bytes);
	const struct shared_wish wish = {.bytes = bytes, .node = -1};
	char text[QUOIT_TEXT_BYTES];

	cr_assert(fd >= 0 && shared_map(fd, &wish, ret, text, sizeof text) == 0, "%s", text);
}

struct session *core_session(uint32_t max_jobs)
{
	const struct session_limits limits = {.host_bytes = CORE_LEASE,
					      .arena_bytes = CORE_ARENA,
					      .device_job_ns = UINT64_MAX,
					      .max_tensors = 64,
					      .max_jobs = max_jobs};
	const struct quoit_ring_open open = {.sq_entries = 8, .cq_entries = 16, .count = 1};
	struct quoit_ring_layout layout;
	struct shared memory;
	struct session *s;
	struct ring *ring;
	int socket;

	optable_init();
	quoit_ring_layout_of(&open, &layout);
	cr_assert_eq(session_new(&limits, 1, &s), 0);
	core_memory(CORE_ARENA, &s->arena_memory);
	s->arena = s->arena_memory.base;
	core_memory(quoit_ring_bytes(&layout), &memory);
	cr_assert_eq(ring_new(s, 0, &open, &memory, &ring, &socket), 0);
	close(socket);
	s->rings[0] = ring;
	s->ring_count = 1;
	return s;
}

struct ring *core_ring(struct session *s)
{
	return s->rings[0];
}

void core_session_free(struct session *s)
{
	session_free(s);
}

void core_create(struct session *s, uint32_t index, uint8_t dtype, uint32_t d0, uint32_t d1,
		 uint32_t d2, uint32_t d3)
{
	const struct quoit_sqe sqe = {.opcode = QUOIT_OP_CREATE,
				      .arg = dtype,
				      .base = {CORE_HANDLE(index)},
				      .dim = {d0, d1, d2, d3}};
	struct fault fault;

	cr_assert_eq(tensor_create(s, &sqe, &fault), 0);
}

void core_view(struct session *s, uint32_t index, uint32_t base, uint32_t first, uint32_t n,
	       int32_t stride)
{
	uint32_t element = op_dtype_size(core_view_of(s, base)->dtype);
	const struct quoit_sqe sqe = {.opcode = QUOIT_OP_VIEW,
				      .base = {CORE_HANDLE(index), CORE_HANDLE(base)},
				      .dim = {1, 1, 1, n},
				      /* all strides 0 would mean dense */
				      .stride = {1, 0, 0, stride},
				      .offset = (uint64_t)first * element};
	struct fault fault;

	cr_assert_eq(tensor_view(s, &sqe, &fault), 0);
}

const struct view *core_view_of(const struct session *s, uint32_t index)
{
	return &s->views[session_view(s, CORE_HANDLE(index))];
}

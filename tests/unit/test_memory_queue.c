/* SPDX-License-Identifier: MIT */
/* test_memory_queue.c - bytes ahead of a job's turn, and on their way back to the system */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/tsc.h"
#include "core_case.h"
#include "memory/memory_private.h"
#include "memory/memory_thread.h"
#include "reactor/reactor.h"
#include "session/tables.h"
#include "store/sizeclass.h"

#define PART     16    /* a job ahead of its turn gets bytes up to this part of the lease */
#define ELEMENTS 8192u /* 32 KiB */
#define BYTES    (4 * ELEMENTS)
#define TENSORS  40u

static struct reactor *reactor;
static struct memory_link *memory, *other; /* the reactor's, which no thread reads; the thread's */
static struct memory_thread *thread;
static struct mailbox *outbox;
static struct user *user;
static struct session *s;

static void *zeroed(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);

	cr_assert(p);
	return memset(p, 0, bytes);
}

static void open_session(void)
{
	tsc_init();
	reactor = zeroed(sizeof *reactor);
	memory = zeroed(sizeof *memory);
	user = zeroed(sizeof *user + sizeof user->tenant[0]);
	other = zeroed(sizeof *other);
	memory_link_init(memory, &reactor->need_wake, -1);
	memory_link_init(other, &reactor->need_wake, -1);
	cr_assert_eq(memory_thread_start(other, 1, false, &thread), 0);
	reactor->memory = memory;
	outbox = zeroed(sizeof *outbox);
	mailbox_init(outbox, &reactor->need_wake, -1);
	reactor->outbox = outbox;
	s = core_session(64);
	s->reactor = reactor;
	s->user = user;
	for (uint32_t i = 0; i < TENSORS; i++)
		core_create(s, 1 + i, QUOIT_F32, 1, 1, 1, ELEMENTS);
}

static void close_session(void)
{
	memory_thread_stop(thread);
	core_session_free(s);
	free(user);
	free(outbox);
	free(other);
	free(memory);
	free(reactor);
}

TestSuite(memory_queue, .init = open_session, .fini = close_session);

static struct buffer *buffer_of(uint32_t index)
{
	return &s->buffers[core_view_of(s, index)->buffer];
}

static void no_job(struct session *of, struct job *job)
{
	(void)of;
	(void)job;
}

/* ---- ahead of a job's turn ---- */

/* A job that writes the tensor, and waits for so many others. */
static struct job *admit(uint32_t index, uint32_t others)
{
	struct job *job = tables_take_job(s);

	cr_assert(job);
	memset(job, 0, sizeof *job);
	job->state = JOB_WAITING;
	job->waits = others;
	job->tensors = job->holds = 1;
	job->view[0] = session_view(s, CORE_HANDLE(index));
	memory_admit(s, job);
	return job;
}

Test(memory_queue, jobs_ahead_of_their_turn_get_a_small_part_of_the_lease)
{
	uint64_t room = (s->memory.lease - s->memory.fixed) / PART;
	uint32_t got = 0;

	for (uint32_t i = 0; i < TENSORS; i++) {
		(void)admit(1 + i, 1);
		got += buffer_of(1 + i)->reserved;
	}
	cr_expect_eq(got, room / BYTES, "%u", got);
	cr_expect_leq(s->memory.used - s->memory.fixed, room);
	cr_expect_lt(got, TENSORS);
}

Test(memory_queue, a_job_that_waits_for_nothing_else_gets_its_bytes)
{
	for (uint32_t i = 0; i < TENSORS; i++) {
		(void)admit(1 + i, 0);
		cr_expect(buffer_of(1 + i)->reserved, "%u", i);
	}
}

Test(memory_queue, jobs_get_their_bytes_in_the_order_of_their_fetch)
{
	uint32_t i = 0;

	do
		(void)admit(++i, 1);
	while (buffer_of(i)->reserved);
	(void)admit(++i, 0);
	cr_expect_not(buffer_of(i)->reserved, "one before it waits for its turn");
	cr_expect_neq(s->memory.head, NIL);
}

/* ---- back to the system ---- */

/* Give all tensors bytes, and free them: their pages are kept for the session. */
static void use_and_free(void)
{
	for (uint32_t i = 0; i < TENSORS; i++) {
		uint32_t view = session_view(s, CORE_HANDLE(1 + i));

		cr_assert(memory_take_now(s, 1, &view));
	}
	for (uint32_t i = 0; i < TENSORS; i++)
		memory_give_back(s, core_view_of(s, 1 + i)->buffer);
	cr_assert_eq(s->region.cached_bytes, TENSORS * BYTES);
}

/* Punch up to so many of the pieces that the memory thread was asked to punch; returns their bytes. */
static uint64_t punch(uint32_t most)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < most && quoit_ring_peek(&memory->requests); i++) {
		const struct memory_message m =
			memory->request[memory->requests.next % MEMORY_ENTRIES];

		cr_assert_eq(m.op, MEMORY_PUNCH);
		quoit_ring_release(&memory->requests, 1);
		bytes += m.bytes;
		memory_answer(s, &m, no_job);
	}
	return bytes;
}

Test(memory_queue, pages_of_a_session_at_rest_go_back_to_the_system)
{
	uint64_t cached;

	use_and_free();
	cached = s->region.cached_bytes;
	memory_trim(s);
	cr_expect_eq(s->region.cached_bytes, cached, "it has just used them");
	memory_trim(s);
	cr_expect_leq(s->memory.used + s->region.cached_bytes,
		      s->memory.fixed + s->memory.fixed / 2,
		      "all that it has is its arena, and half as much is kept");
	cr_expect_eq(s->memory.punching, cached - s->region.cached_bytes);
	cr_expect_eq(punch(TENSORS), cached - s->region.cached_bytes);
}

/* They are counted as the session's until they are gone, and then no more. */
Test(memory_queue, bytes_on_their_way_back_are_counted_until_they_are_there)
{
	use_and_free();
	memory_trim(s);
	memory_trim(s);
	(void)punch(s->requests - 1);
	cr_expect_eq(s->memory.punching, BYTES);
	cr_expect_eq(s->requests, 1);
	(void)punch(TENSORS);
	cr_expect_eq(s->memory.punching, 0);
	cr_expect_eq(s->requests, 0);
}

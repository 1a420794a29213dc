/* SPDX-License-Identifier: MIT */
/* test_holds.c - what the program holds: releases behind SQEs that wait, cancels, and who pays */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "backend/cpu/worker_private.h"
#include "base/tsc.h"
#include "core_case.h"
#include "job/deps.h"
#include "job/hold.h"
#include "job/sched.h"
#include "reactor/fetch_job.h"
#include "reactor/reactor_cancel.h"
#include "reactor/reactor_leave.h"
#include "reactor/start.h"

#define ENTRIES 256u
#define PART    64u /* so many SQEs are looked at in one go */

static struct reactor *reactor;
static struct mailbox *outbox;
static struct user *user;
static struct session *s;
static struct ring *ring;

static void *zeroed(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);

	cr_assert(p);
	return memset(p, 0, bytes);
}

static void open_ring(void)
{
	const struct quoit_ring_open open = {
		.sq_entries = ENTRIES, .cq_entries = ENTRIES, .count = 1};
	struct quoit_ring_layout layout;
	struct shared memory;
	int socket;

	quoit_ring_layout_of(&open, &layout);
	core_memory(quoit_ring_bytes(&layout), &memory);
	cr_assert_eq(ring_new(s, 1, &open, &memory, &ring, &socket), 0);
	close(socket);
	s->rings[1] = ring;
	s->ring_count = 2;
}

static void open_session(void)
{
	tsc_init();
	reactor = zeroed(sizeof *reactor);
	reactor->port = zeroed(sizeof *reactor->port);
	outbox = zeroed(sizeof *outbox);
	mailbox_init(outbox, &reactor->need_wake, -1);
	reactor->outbox = outbox;
	reactor->now = tsc_now();
	tenancy_init(&reactor->tenancy, 1000, 1000);
	user = zeroed(sizeof *user + sizeof user->tenant[0]);
	user->share = 100;
	user->tenant[0].user = user;
	s = core_session(64);
	s->reactor = reactor;
	s->user = user;
	s->counters_current = true;
	core_create(s, 1, QUOIT_F32, 1, 1, 1, 4);
	user->tenant[0].session_count = 1;
	tenancy_add(&reactor->tenancy, &user->tenant[0]);
	reactor_take_in(reactor, s);
	open_ring();
}

static void close_session(void)
{
	core_session_free(s);
	free(user);
	free(outbox);
	free(reactor->port);
	free(reactor);
}

TestSuite(holds, .init = open_session, .fini = close_session, .timeout = 60);

/* The program holds tensor 1 by the acquire with this SQ index. */
static struct job *hold(uint32_t sq_index)
{
	struct job *job = tables_take_job(s);

	cr_assert_not_null(job);
	memset(job, 0, sizeof *job);
	job->sqe.opcode = QUOIT_OP_ACQUIRE_WRITE;
	job->state = JOB_HELD;
	job->executor = NO_EXECUTOR;
	job->edges = NIL;
	job->tensors = 1;
	job->view[0] = session_view(s, CORE_HANDLE(1));
	job->access[0].buffer = NIL;
	job->ring = (uint16_t)ring->index;
	job->sq_index = sq_index;
	job->next = s->holds.count ? s->holds.first : NIL;
	s->holds.first = job_index(s, job);
	s->holds.count++;
	depth_enter(&s->holds.held, reactor->now);
	s->views[job->view[0]].refs++;
	s->buffers[s->views[job->view[0]].buffer].holds++;
	return job;
}

/* ---- releases behind SQEs that wait ---- */

/* The client puts this SQE in; none of the ring is fetched. */
static void submit(struct quoit_sqe sqe)
{
	uint32_t tail = ring->client->sq_tail;
	struct quoit_sqe *sqes = (struct quoit_sqe *)(uintptr_t)ring->sqes;

	sqes[tail & (ENTRIES - 1)] = sqe;
	ring->client->sq_tail = tail + 1;
}

static void submit_nops(uint32_t n)
{
	while (n--)
		submit((struct quoit_sqe){.opcode = QUOIT_OP_NOP});
}

Test(holds, releases_ahead_are_looked_for_in_parts_and_once)
{
	submit_nops(PART + 36);
	cr_expect(fetch_releases_ahead(ring));
	cr_expect_eq(ring->looked_ahead, PART);
	cr_expect_eq(reactor->payer, s, "it is charged");
	cr_expect(fetch_releases_ahead(ring));
	cr_expect_eq(ring->looked_ahead, PART + 36);
	cr_expect_not(fetch_releases_ahead(ring), "all were looked at");
	submit_nops(1);
	cr_expect(fetch_releases_ahead(ring));
	cr_expect_eq(ring->looked_ahead, PART + 37);
	cr_expect_not(s->stopped);
}

Test(holds, looks_ahead_go_on_behind_what_was_fetched)
{
	submit_nops(10);
	cr_expect(fetch_releases_ahead(ring));
	submit_nops(20);
	(void)quoit_ring_peek(&ring->sq);
	quoit_ring_release(&ring->sq, 30);
	cr_expect_not(fetch_releases_ahead(ring), "nothing is left");
	submit_nops(5);
	cr_expect(fetch_releases_ahead(ring));
	cr_expect_eq(ring->looked_ahead, 35);
	cr_expect_not(s->stopped);
}

Test(holds, tail_that_goes_back_or_too_far_ends_the_session)
{
	static const uint32_t tails[] = {0, 59, ENTRIES + 1, UINT32_MAX};

	for (unsigned i = 0; i < sizeof tails / sizeof tails[0]; i++) {
		struct mail m;

		ring->looked_ahead = 60;
		ring->client->sq_tail = tails[i];
		s->stopped = false;
		cr_expect(fetch_releases_ahead(ring));
		cr_expect(s->stopped, "%u", tails[i]);
		cr_assert(mailbox_receive(outbox, &m));
		cr_expect(m.type == MAIL_KILL && m.a == QUOIT_DAEMON_KILL_RING_TAIL);
		cr_expect_eq(ring->looked_ahead, 60, "nothing was looked at");
	}
}

Test(holds, release_is_carried_out_ahead_if_its_fetch_will_accept_it)
{
	static const struct {
		const char *what;
		struct quoit_sqe sqe;
		enum job_state state;
	} row[] = {
		{"another acquire's", {.scalar = {8}}, JOB_HELD},
		{"a number that is too long", {.scalar = {UINT64_C(0x100000007)}}, JOB_HELD},
		{"a second number", {.scalar = {7, 1}}, JOB_HELD},
		{"an argument", {.scalar = {7}, .arg = 1}, JOB_HELD},
		{"a tensor", {.scalar = {7}, .tensor = {CORE_HANDLE(1)}}, JOB_HELD},
		{"a reserved word", {.scalar = {7}, .reserved0 = 1}, JOB_HELD},
		{"a reserved byte", {.scalar = {7}, .reserved = {1}}, JOB_HELD},
		{"a priority", {.scalar = {7}, .priority = 1}, JOB_HELD},
		{"a deadline", {.scalar = {7}, .deadline = 1}, JOB_HELD},
		{"a link", {.scalar = {7}, .flags = QUOIT_SQE_LINK, .link = 1}, JOB_HELD},
		{"a quiet one", {.scalar = {7}, .flags = QUOIT_SQE_QUIET}, JOB_RELEASED},
	};
	const struct job *job = hold(7);

	for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct quoit_sqe sqe = row[i].sqe;

		sqe.opcode = QUOIT_OP_RELEASE;
		submit(sqe);
		cr_expect(fetch_releases_ahead(ring));
		cr_expect_eq(job->state, row[i].state, "%s", row[i].what);
	}
	cr_expect_eq(s->holds.count, 1, "its entry stays until the fetch");
}

/* ---- cancels ---- */

/* A job that is with a backend; it has no tensor. */
static struct job *run_job(uint8_t opcode, uint32_t sq_index)
{
	struct job *job = tables_take_job(s);

	cr_assert_not_null(job);
	memset(job, 0, sizeof *job);
	job->sqe.opcode = opcode;
	job->executor = NO_EXECUTOR;
	job->edges = NIL;
	job->ring = (uint16_t)ring->index;
	job->sq_index = sq_index;
	job_become(s, job, JOB_RUNNING);
	deps_ring_insert(ring, job);
	ring->in_flight++;
	return job;
}

Test(holds, acquire_can_be_cancelled_while_its_tensor_is_cleared)
{
	struct job *acquire = run_job(QUOIT_OP_ACQUIRE_READ, 3);
	struct job *other = run_job(QUOIT_OP_FILL, 4);

	cr_expect_eq(reactor_cancel(reactor, s, ring->index, 3), 0);
	cr_expect_eq(acquire->failed, -ECANCELED);
	cr_expect(acquire->posted);
	cr_expect_eq(reactor_cancel(reactor, s, ring->index, 3), -EALREADY, "it is already");
	cr_expect_eq(reactor_cancel(reactor, s, ring->index, 4), -EALREADY, "it runs");
	cr_expect_eq(other->failed, 0);
	job_become(s, acquire, JOB_WAITING);
	job_become(s, other, JOB_WAITING);
}

Test(holds, session_pays_for_the_ends_of_its_holds)
{
	(void)hold(1);
	(void)hold(2);
	(void)hold(3);
	cr_expect_eq(reactor_cancel(reactor, s, ring->index, 1), 0);
	cr_expect_eq(reactor->payer, s, "a cancel");
	reactor->payer = NULL;
	s->holds.due = true;
	s->jobs[s->holds.first].failed = -ECANCELED;
	(void)start_turns(reactor, &user->tenant[0]);
	cr_expect_eq(reactor->payer, s, "what was due");
	cr_expect_eq(s->holds.count, 1);
	reactor->payer = NULL;
	reactor_close_ring(reactor, s, ring->index);
	cr_expect_eq(reactor->payer, s, "the end of the ring");
	cr_expect_eq(s->holds.count, 0);
}

/* ---- while pieces are moved together ---- */

Test(holds, those_that_are_due_end_once_no_piece_is_moved)
{
	static const struct {
		uint8_t tidying; /* enum tidy_state */
		uint32_t left;
	} row[] = {{TIDY_RUNS, 1}, {TIDY_WAITS, 0}};

	for (unsigned i = 0; i < 2; i++) {
		if (!s->holds.count)
			(void)hold(i);
		s->memory.tidying = TIDY_RUNS;
		hold_end_all(s, NULL, reactor->now, sched_push);
		cr_expect_eq(s->holds.count, 1);
		s->memory.tidying = row[i].tidying;
		reactor_attend(reactor, s);
		(void)start_turns(reactor, &user->tenant[0]);
		cr_expect_eq(s->holds.count, row[i].left, "row %u", i);
	}
	s->memory.tidying = TIDY_NONE;
}

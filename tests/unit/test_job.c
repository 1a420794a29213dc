/* SPDX-License-Identifier: MIT */
/* test_job.c - a job's deadline in ticks, which job is first, and which one can be cancelled */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/tsc.h"
#include "core_case.h"
#include "job/deps.h"
#include "job/job.h"
#include "job/sched.h"
#include "memory/memory.h"
#include "reactor/reactor.h"
#include "reactor/reactor_cancel.h"

#define NOW UINT64_C(5000000000)

enum { OUT = 1, IN };

static struct session *session;
static uint32_t admitted;

static void open_session(void)
{
	tsc_init();
	session = core_session(16);
	for (uint32_t i = OUT; i <= IN; i++) {
		uint32_t view;

		core_create(session, i, QUOIT_F32, 1, 1, 1, 4);
		view = session_view(session, CORE_HANDLE(i));
		cr_assert(memory_take_now(session, 1, &view));
	}
	admitted = 0;
}

static void close_session(void)
{
	core_session_free(session);
}

TestSuite(job, .init = open_session, .fini = close_session);

static void on_ready(struct session *s, struct job *job)
{
	(void)s;
	(void)job;
}

static struct job *admit(uint32_t deadline_us, uint8_t priority)
{
	const struct quoit_sqe sqe = {.opcode = QUOIT_OP_COPY,
				      .tensor = {CORE_HANDLE(OUT), CORE_HANDLE(IN)},
				      .deadline = deadline_us,
				      .priority = priority};
	struct fault fault;
	struct plan plan;

	cr_assert_eq(validate_job(session, &sqe, &plan, &fault), 0);
	cr_assert_eq(job_admit(core_ring(session), &sqe, &plan, admitted, NOW, on_ready), 0);
	return deps_ring_find(core_ring(session), admitted++);
}

/* ---- deadlines ---- */

static void expect_deadline(const struct job *job, uint64_t us)
{
	uint64_t ticks = tsc_hz() / 1000000 * us;

	cr_expect_geq(job->deadline, NOW + ticks - ticks / 100);
	cr_expect_leq(job->deadline, NOW + ticks + ticks / 100);
}

Test(job, a_deadline_is_so_many_microseconds_after_the_fetch)
{
	expect_deadline(admit(1, QUOIT_PRIO_NORMAL), 1);
	expect_deadline(admit(1000, QUOIT_PRIO_NORMAL), 1000);
	expect_deadline(admit(UINT32_MAX, QUOIT_PRIO_NORMAL), UINT32_MAX);
	cr_expect_eq(admit(0, QUOIT_PRIO_NORMAL)->deadline, 0);
}

Test(job, the_session_is_looked_at_when_the_earliest_deadline_passes)
{
	const struct job *first = admit(1000, QUOIT_PRIO_NORMAL);

	cr_expect_eq(session->next_deadline, first->deadline);
	(void)admit(2000, QUOIT_PRIO_NORMAL);
	cr_expect_eq(session->next_deadline, first->deadline, "a later one comes later");
	(void)admit(0, QUOIT_PRIO_NORMAL);
	cr_expect_eq(session->next_deadline, first->deadline, "a job may have none");
	cr_expect_eq(session->next_deadline, first->deadline);
	first = admit(500, QUOIT_PRIO_NORMAL);
	cr_expect_eq(session->next_deadline, first->deadline, "an earlier one comes later");
	cr_expect_eq(session->deadlines, 3);
}

/* ---- priorities ---- */

Test(job, the_more_urgent_runs_first_and_those_alike_in_their_order)
{
	static const uint8_t come[] = {QUOIT_PRIO_LOW, QUOIT_PRIO_NORMAL, QUOIT_PRIO_HIGH,
				       QUOIT_PRIO_LOW, QUOIT_PRIO_HIGH,   QUOIT_PRIO_NORMAL};
	static const uint8_t go[] = {2, 4, 1, 5, 0, 3};
	struct job *job[sizeof come];

	for (size_t i = 0; i < sizeof come; i++) {
		job[i] = admit(0, come[i]);
		sched_append(session, &session->short_jobs[come[i]], job[i]);
	}
	for (size_t i = 0; i < sizeof go; i++)
		cr_expect_eq(sched_pop(session, session->short_jobs), job[go[i]], "%zu", i);
	cr_expect_null(sched_pop(session, session->short_jobs));
}

/* ---- cancelling ---- */

/* Its CQE would say that it was cancelled, and it would write all the same. */
Test(job, one_that_runs_is_not_cancelled)
{
	struct reactor *r = aligned_alloc(64, (sizeof *r + 63) / 64 * 64);
	struct job *job = admit(0, QUOIT_PRIO_NORMAL);
	struct quoit_producer before = core_ring(session)->cq;

	memset(r, 0, sizeof *r);
	job->state = JOB_RUNNING;
	cr_expect_eq(reactor_cancel(r, session, 0, 0), -EALREADY);
	cr_expect_not(job->failed);
	cr_expect_not(job->posted);
	cr_expect_eq(memcmp(&before, &core_ring(session)->cq, sizeof before), 0);
	free(r);
}

Test(job, what_has_no_ring_or_has_ended_is_not_cancelled)
{
	cr_expect_eq(reactor_cancel(NULL, session, 7, 0), -EINVAL);
	core_ring(session)->sq.next = 3;
	cr_expect_eq(reactor_cancel(NULL, session, 0, 2), -EALREADY);
	cr_expect_eq(core_ring(session)->cancels, 0);
	cr_expect_eq(reactor_cancel(NULL, session, 0, 3), 0, "it is not fetched yet");
	cr_expect_eq(core_ring(session)->cancels, 1);
}

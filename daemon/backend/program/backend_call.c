/* SPDX-License-Identifier: MIT */
/*
 * backend_call.c - runs calls: posts them to their team, and ends them when the program returns them
 *
 * No thread of the program waits while a call does: a team has as many calls posted that no thread
 * has taken as it has threads, and one more.  Of short calls it has more, since they would end
 * before the reactor hears of it; but what a call waits for there is short, and so priorities still
 * count.
 */
#include "backend_call.h"

#include <errno.h>

#include "backend/backend.h"
#include "base/tsc.h"
#include "call_entry.h"
#include "job/completion.h"
#include "job/job.h"
#include "job/probes.h"
#include "job/sched.h"
#include "session/session_team.h"

/* Slots of the CQ that calls leave free, for returns that are refused: those need one each. */
#define CREDITS_KEPT 4

/* So many are posted at a time; each that returns makes quoitd post more. */
#define POST_MOST 64u

/* Has a team got this job?  While its tensors are cleared, workers have it. */
static bool is_posted(const struct job *job)
{
	return job->state == JOB_RUNNING && optable_row(job->sqe.opcode)->flags & OP_CALL &&
	       job->sqe.team < QUOIT_TEAM_SERVICE && !job_host_zero(job);
}

/* ---- posting ---- */

static void post(struct session *s, struct ring *ring, struct job *job, uint64_t now)
{
	uint32_t slot = ring->cq.next++ & (ring->layout.cq_entries - 1);

	job->work = ++s->calls.serial;
	call_entry_fill(s, job, &ring->team->entries[slot]);
	ring->cqes[slot] =
		(struct quoit_cqe){.user_data = (uint64_t)job->work << 32 | job_index(s, job),
				   .res = job->sqe.function};
	ring->dirty = true;
	ring->team->posted++;
	s->calls.posted++;
	job_become(s, job, JOB_RUNNING);
	job->start = now;
	probe_start(s, job);
}

/* How many calls may be posted that no thread has taken. */
static uint32_t most_ahead(const struct ring *ring)
{
	uint32_t lanes = __atomic_load_n(&ring->client->lanes, __ATOMIC_RELAXED);
	uint64_t run = ring->team->run_ticks, brief = 0;

	lanes = lanes < CALL_LANES_MOST ? lanes : CALL_LANES_MOST;
	if (run)
		brief = tsc_from_ns(CALL_AHEAD_NS) / run;
	return (brief > lanes ? (uint32_t)brief : lanes) + 1;
}

/* How many more calls may be posted.  A client that lies about its CQ is ended. */
static uint32_t room(struct reactor *r, struct ring *ring)
{
	uint32_t untaken, most = most_ahead(ring);
	int credits = quoit_ring_refresh(&ring->cq) ? completion_credits(ring) : -EPROTO;

	if (credits < 0) {
		reactor_kill(r, ring->session, QUOIT_DAEMON_KILL_CQ_HEAD);
		return 0;
	}
	untaken = ring->cq.next - ring->cq.cached_head;
	if (untaken >= most || credits <= CREDITS_KEPT)
		return 0;
	credits -= CREDITS_KEPT;
	most -= untaken;
	most = most < (uint32_t)credits ? most : (uint32_t)credits;
	return most < POST_MOST ? most : POST_MOST;
}

/* It ends when its turn comes, without running: at once, but not while pieces are being moved. */
static void cancel(struct session *s, struct job *job)
{
	if (!job->failed)
		job->failed = -ECANCELED;
	sched_push(s, job);
}

void call_post(struct reactor *r, struct ring *ring)
{
	struct session *s = ring->session;
	struct job_queue *q = sched_most_urgent(ring->team->waiting);
	uint32_t left = q && !ring->closing && !ring->no_completions ? room(r, ring) : 0;
	const uint64_t now = left ? tsc_now() : 0;

	for (; q; q = sched_most_urgent(ring->team->waiting)) {
		struct job *job = &s->jobs[q->head];

		if (!job->failed && !left)
			break;
		q->head = job->next;
		s->calls.waiting--;
		if (job->failed) {
			cancel(s, job);
		} else {
			post(s, ring, job, now);
			left--;
		}
	}
	reactor_touch(r, ring);
}

static int start(struct reactor *r, struct session *s, struct job *job)
{
	struct ring *ring = team_ring(s, job->sqe.team);

	(void)r;
	if (!ring || ring->closing || ring->no_completions ||
	    ring->team->serves) { /* the team takes no more calls */
		cancel(s, job);
		return 0;
	}
	sched_append(s, &ring->team->waiting[job->sqe.priority], job);
	s->calls.waiting++;
	s->calls.due = true;
	return 0;
}

/*
 * Post calls that were started in one go: each look at a ring is a miss in the team's cache.  Not
 * while pieces are being moved, since an entry says where its tensors are.
 */
static bool advance(struct reactor *r, struct session *s)
{
	if (!s->calls.due || s->memory.tidying > TIDY_WAITS)
		return false;
	s->calls.due = false;
	for (uint32_t i = 0; i < s->ring_count; i++)
		if (s->rings[i] && s->rings[i]->team)
			call_post(r, s->rings[i]);
	return true;
}

/* ---- returns ---- */

/* A call that was posted comes to its end. */
static void forget(struct ring *ring)
{
	ring->team->posted--;
	ring->session->calls.posted--;
}

/* The call of this ring that a RETURN names; NULL: there is none. */
static struct job *find(const struct ring *ring, uint64_t id)
{
	struct session *s = ring->session;
	uint32_t index = (uint32_t)id;
	struct job *job = index < s->jobs_room ? &s->jobs[index] : NULL;

	if (!job || !is_posted(job) || job->work != id >> 32)
		return NULL;
	return job->sqe.team == ring->index ? job : NULL;
}

int call_return(struct reactor *r, struct ring *ring, const struct quoit_sqe *sqe, uint64_t now,
		struct fault *f)
{
	struct session *s = ring->session;
	struct job *job;
	int err = call_return_check(sqe, f);

	if (err)
		return err;
	if (sqe->results)
		return refuse(f, -EINVAL, QUOIT_FIELD_RESERVED, sqe->results, 0);
	job = find(ring, sqe->user_data);
	if (!job)
		return refuse(f, -ENOENT, QUOIT_FIELD_NONE, 0, 0);
	forget(ring);
	call_return_stamps(sqe, now, &job->start, &job->end);
	call_learn(&ring->team->run_ticks, job->end - job->start);
	s->calls.returned++;
	r->count[QUOIT_REACTOR_CALLS]++;
	s->calls.ticks += job->end - job->start;
	if (!job->failed)
		job->error = call_return_error(sqe);
	reactor_end_job(r, s, job, job->failed ? job->failed : call_return_result(sqe));
	return 0;
}

/* ---- ends ---- */

static bool is_of(const struct job *job, const struct ring *team)
{
	return !team || job->sqe.team == team->index;
}

/*
 * Cancel the calls that wait, and those that the program has and will not return; of NULL: of all.
 */
static void cancel_calls(struct reactor *r, struct session *s, const struct ring *team)
{
	for (uint32_t i = 0; s->calls.waiting && i < s->ring_count; i++) {
		struct ring *ring = s->rings[i];
		struct job *job;

		if (!ring || !ring->team || (team && ring != team))
			continue;
		while ((job = sched_pop(s, ring->team->waiting)) != NULL) {
			s->calls.waiting--;
			cancel(s, job);
		}
	}
	for (uint32_t i = s->oldest; s->calls.posted && i != NIL; i = s->jobs[i].newer) {
		struct job *job = &s->jobs[i];

		if (!is_posted(job) || !is_of(job, team))
			continue;
		forget(s->rings[job->sqe.team]);
		cancel(s, job);
	}
	reactor_attend(r, s);
}

static void abandon(struct reactor *r, struct session *s)
{
	if (s->calls.waiting || s->calls.posted)
		cancel_calls(r, s, NULL);
}

static bool has_returns(const struct session *s)
{
	for (uint32_t i = 0; !s->stopped && i < s->ring_count; i++)
		if (s->rings[i] && s->rings[i]->team && quoit_ring_peek(&s->rings[i]->sq))
			return true;
	return false;
}

/* After CLOSE the program serves no call; while quoitd ends, it still returns those that it has. */
static void leaving(struct reactor *r, struct session *s)
{
	if (s->ending && s->ending != MAIL_DRAIN && !has_returns(s))
		abandon(r, s);
}

static void ring_closes(struct reactor *r, struct ring *ring)
{
	if (ring->team && (ring->team->posted || ring->session->calls.waiting))
		cancel_calls(r, ring->session, ring);
}

/* ---- the rest ---- */

static bool can_be_late(const struct job *job)
{
	return is_posted(job) && !job->failed;
}

/* The program goes on with it, and its tensors stay its own until it returns. */
static uint64_t late(struct reactor *r, struct session *s, struct job *job, bool *ret_posted)
{
	job_fail_late(s, job, job->start, r->now);
	*ret_posted = true;
	return UINT64_MAX;
}

const struct backend call_backend = {
	.start = start,
	.advance = advance,
	.can_be_late = can_be_late,
	.late = late,
	.abandon = abandon,
	.leaving = leaving,
	.ring_closes = ring_closes,
};

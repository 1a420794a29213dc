/* SPDX-License-Identifier: MIT */
/* backend_exec.c - take the answers of executors, and deal with their deaths */
#include "backend_exec.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend_device.h"
#include "backend_direct.h"
#include "backend_exec_late.h"
#include "backend_exec_memory.h"
#include "backend_kernels.h"
#include "base/tsc.h"
#include "bridge.h"
#include "job/job.h"
#include "session/poison.h"

#define MASK (QUOIT_EXEC_ENTRIES - 1)

/* ---- answers ---- */

/*
 * A job has failed on a device.  The session's other jobs there may read what it left, and so may
 * their successors.  Until these have ended, send_job holds jobs that wait for others back in the
 * reactor, which knows what is poisoned.
 */
static void doubt_others(struct exec_port *p, struct session *s)
{
	uint32_t *in_doubt = &s->exec.may_be_poisoned[p->number];

	for (uint32_t i = 0; i < EXEC_FLIGHTS && *in_doubt < s->exec.in_flight[p->number]; i++)
		if (p->flight[i].session == s && !p->flight[i].may_be_poisoned) {
			p->flight[i].may_be_poisoned = true;
			++*in_doubt;
		}
}

/* End a flight and its job, with `res` unless the job had failed before. */
static void end_flight(struct reactor *r, struct exec_port *p, struct exec_flight *f, int32_t res,
		       const struct quoit_error *error)
{
	struct session *s = f->session;
	struct job *job = &s->jobs[f->job];

	f->session = NULL;
	exec_count_flight(p, s, f >= &p->flight[QUOIT_EXEC_ENTRIES], -1);
	exec_share_leave(p, s);
	s->exec.may_be_poisoned[p->number] -= f->may_be_poisoned;
	if (f->leg) {
		bridge_end_leg(r, s, job, f->leg, res, error);
		return;
	}
	if (job->failed)
		res = job->failed;
	else if (res < 0)
		job->error = *error;
	if (p->device && res < 0)
		doubt_others(p, s);
	if (p->device)
		device_count_job(s, p->device);
	job->end = tsc_now();
	reactor_end_job(r, s, job, res);
}

/*
 * Has a job before this one in the stream or the ring failed?  Then this one read what that left,
 * and its own answer does not count.
 */
static bool ran_on_poison(const struct exec_port *p, const struct session *s, struct job *job)
{
	return p->device && (job->in_stream || job->in_direct) && s->any_poison && !job->failed &&
	       job_is_poisoned(s, job);
}

/* An executor may not return quoitd's own codes, and a device no positive result. */
static bool is_result(const struct exec_port *p, int32_t res)
{
	return res > -QUOIT_EPOISON && (!p->device || res <= 0);
}

/*
 * Clamp the executor's stamps: a job begins after it was sent, and ends before it was answered.
 * The legs of a copy between devices are one job, from the first begin to the last end.
 */
static void take_stamps(struct job *job, const struct quoit_exec_answer *a)
{
	uint64_t now = tsc_now(), start = tsc_between(job->start, tsc_of_raw(a->start), now);
	uint64_t end = tsc_between(start, tsc_of_raw(a->end), now);

	if (!a->start && !a->end)
		return;
	if (!job->device_start || start < job->device_start)
		job->device_start = start;
	if (end > job->device_end)
		job->device_end = end;
	if (a->stamp_error > job->device_error)
		job->device_error = a->stamp_error;
}

/* False: none of our requests can have such an answer. */
static bool take_answer(struct reactor *r, struct exec_port *p, const struct quoit_exec_answer *a)
{
	struct quoit_error error = {.field = a->field < QUOIT_FIELD_NR ? a->field : 0,
				    .value = {a->value[0], a->value[1]}};
	struct session *s;
	struct job *job;
	int32_t res = a->res;

	if (a->type == QUOIT_EXEC_UNMAP)
		return exec_unmapped(p, a->id);
	if (a->type == QUOIT_EXEC_LOAD || a->type == QUOIT_EXEC_FIND)
		return kernels_answered(p, a);
	if (a->id >= QUOIT_EXEC_ENTRIES || a->type != p->flight[a->id].type ||
	    !is_result(p, a->res) || !p->flight[a->id].session)
		return false;
	s = p->flight[a->id].session;
	job = &s->jobs[p->flight[a->id].job];
	if (job->waits) /* answered before a job that it follows */
		return false;
	take_stamps(job, a);
	job->stream = a->stream <= QUOIT_EXEC_STREAMS ? a->stream : 0;
	if (p->device && a->refused)
		device_say_refused(p, s, a->refused, a->refusal);
	if (a->uncleared)
		device_lose_cleared(s, job, -QUOIT_EDEVLOST);
	if (p->device && !s->device[p->device - 1].slab_address)
		s->device[p->device - 1].slab_address = a->slab;
	assert(p->pending > 0);
	p->pending--;
	p->answered++;
	if (ran_on_poison(p, s, job)) {
		res = -QUOIT_EPOISON;
		error = job->error;
	}
	end_flight(r, p, &p->flight[a->id], res, &error);
	return true;
}

/* True: the answer is possible, and has been taken. */
static bool collect_answer(struct reactor *r, struct exec_port *p)
{
	struct quoit_exec_answer a;

	quoit_ring_copy((uint64_t *)&a, (const uint64_t *)&p->exec->answer[p->answers.next & MASK],
			sizeof a / sizeof(uint64_t));
	quoit_ring_release(&p->answers, 1);
	p->count.answers++;
	return take_answer(r, p, &a);
}

static bool collect_answers(struct reactor *r, struct exec_port *p)
{
	uint32_t ready = quoit_ring_peek(&p->answers);
	enum exec_kill lie = ready > QUOIT_EXEC_ENTRIES ? KILL_RINGS : KILL_NOT;

	if (!ready || p->lied)
		return false;
	for (uint32_t i = 0; i < ready && !lie; i++)
		if (!collect_answer(r, p))
			lie = KILL_ANSWER;
	if (lie) {
		p->lied = true;
		exec_port_kill(p, lie);
	}
	return true;
}

/* End the jobs that the consumer on the device has done; it reports their number only. */
static bool collect_direct(struct reactor *r, struct exec_port *p)
{
	uint32_t done;

	if (!p->device || p->lied)
		return false;
	done = direct_done(p);
	for (uint32_t i = 0; i < done; i++) {
		struct exec_flight *f = direct_reap(p);
		struct job *job = &f->session->jobs[f->job];
		bool poisoned = ran_on_poison(p, f->session, job);
		struct quoit_error error = job->error;

		p->answered++;
		end_flight(r, p, f, poisoned ? -QUOIT_EPOISON : 0, &error);
	}
	return done;
}

/* ---- death ---- */

/* The code that its jobs fail with; a device may have stored its fault before it ended. */
static int32_t death_code(const struct exec_port *p)
{
	int32_t fault = __atomic_load_n(&p->words->fault, __ATOMIC_ACQUIRE);

	if (!p->device)
		return -QUOIT_EEXEC;
	return fault == -QUOIT_EDEVLOST ? fault : -QUOIT_EGPUFAULT;
}

static void fail_flight(struct reactor *r, struct exec_port *p, struct exec_flight *f, int32_t res)
{
	uint64_t said = __atomic_load_n(&p->words->culprit, __ATOMIC_RELAXED);
	uint64_t culprit = p->culprit ? p->culprit : said, name = exec_port_name(p, f);
	struct quoit_error error = {.field = QUOIT_FIELD_EXECUTOR,
				    .value = {(uint64_t)p->pid, (uint64_t)p->status}};

	if (p->device) {
		error.field = QUOIT_FIELD_DEVICE;
		error.value[0] = p->device;
		error.value[1] = !exec_port_can_name(p, culprit) ? QUOIT_FAULT_UNKNOWN
				 : culprit == name               ? QUOIT_FAULT_OWN
								 : QUOIT_FAULT_OTHER;
	}
	end_flight(r, p, f, res, &error);
}

/*
 * Fail each job in flight; answers given before have been taken.  On a device some jobs follow
 * others, and end after them.
 */
static void fail_flights(struct reactor *r, struct exec_port *p, int32_t res)
{
	bool left = true;

	while (left) {
		left = false;
		for (uint32_t i = 0; i < EXEC_FLIGHTS; i++) {
			struct exec_flight *f = &p->flight[i];

			if (!f->session)
				continue;
			if (f->session->jobs[f->job].waits)
				left = true;
			else
				fail_flight(r, p, f, res);
		}
	}
}

static void reap_port(struct reactor *r, struct exec_port *p)
{
	int32_t res = death_code(p);

	exec_port_unwatch(p, r->epoll);
	(void)collect_answers(r, p);
	(void)collect_direct(r, p);
	fail_flights(r, p, res);
	exec_forget_all(p);
	p->open = false;
	if (p->device) {
		bridge_lose_device(r, p, res);
		device_lose_memory(r, p, -QUOIT_EDEVLOST);
	}
}

/* ---- a pass ---- */

static bool poll_port(struct reactor *r, struct exec_port *p)
{
	bool any;

	switch (exec_port_state(p)) {
	case PORT_UP:
		if (!p->open) {
			exec_port_open(p, r->epoll);
			direct_open(p);
		}
		any = collect_answers(r, p);
		any |= collect_direct(r, p);
		exec_end_hung(r, p);
		return any;
	case PORT_DEAD:
		if (p->open)
			reap_port(r, p);
		atomic_store_explicit(&p->state, PORT_DOWN, memory_order_release);
		exec_port_tell_starter(p);
		return true;
	default:
		return false;
	}
}

bool exec_poll(struct reactor *r)
{
	bool any = false;

	for (uint32_t i = 0; i < r->executors; i++)
		any |= poll_port(r, r->executor[i]);
	return any;
}

void exec_count(struct reactor *r)
{
	uint64_t requests = 0, answers = 0, bells = 0, queries = 0;

	for (uint32_t i = 0; i < r->executors; i++) {
		requests += r->executor[i]->count.requests;
		answers += r->executor[i]->count.answers;
		bells += r->executor[i]->count.bells;
		exec_port_count_queries(r->executor[i]);
		queries += r->executor[i]->count.queries;
	}
	r->count[QUOIT_REACTOR_EXEC_REQUESTS] = requests;
	r->count[QUOIT_REACTOR_EXEC_ANSWERS] = answers;
	r->count[QUOIT_REACTOR_EXEC_BELLS] = bells;
	r->count[QUOIT_REACTOR_EXEC_QUERIES] = queries;
}

bool exec_has(const struct job *job)
{
	return job->state == JOB_RUNNING && !job_host_zero(job) && job->executor != NO_EXECUTOR;
}

/* ---- for the reactor ---- */

static bool exec_has_waiting(const struct session *s)
{
	return s->exec.jobs_waiting || s->drops || kernels_wait(s) || s->bridge.fd >= 0;
}

static bool exec_advance(struct reactor *r, struct session *s)
{
	bool any = false;

	if ((s->exec.jobs_waiting || s->drops || kernels_wait(s)) && !s->memory.tidying)
		any |= exec_send(r, s);
	if (s->bridge.fd >= 0)
		any |= bridge_advance(r, s);
	return any;
}

static bool exec_computes(const struct reactor *r)
{
	for (uint32_t i = 0; i < r->executors; i++)
		if (r->executor[i]->pending)
			return true;
	return false;
}

const struct backend exec_backend = {
	.start = exec_start,
	.poll = exec_poll,
	.advance = exec_advance,
	.has_waiting = exec_has_waiting,
	.may_sleep = exec_may_sleep,
	.sleep_ns = exec_sleep_ns,
	.awake = exec_awake,
	.drain = exec_drain,
	.computes = exec_computes,
	.count = exec_count,
	.can_be_late = exec_has,
	.late = exec_overdue,
	.leaving = exec_abandon,
	.leave = exec_leave,
};

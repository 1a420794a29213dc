/* SPDX-License-Identifier: MIT */
/* backend_exec_send.c - send jobs to executors */
#include <errno.h>
#include <string.h>

#include "backend_device.h"
#include "backend_direct.h"
#include "backend_exec.h"
#include "backend_exec_memory.h"
#include "backend_kernels.h"
#include "base/tsc.h"
#include "job/deps.h"
#include "job/job.h"
#include "job/probes.h"
#include "job/sched.h"
#include "ops/optable.h"
#include "session/tensor_bits.h"

/*
 * Jobs in flight that the sessions there share.  A module has few: enough to keep it busy, and few
 * to lose with it.  A device has many: fewer do not keep it busy, and its death costs its memory
 * anyway.  The rest of its QUOIT_EXEC_ENTRIES is kept for new sessions.
 */
#define MODULE_FLIGHTS 8u
#define DEVICE_FLIGHTS 192u
#define DIRECT_FLIGHTS (QUOIT_DIRECT_ENTRIES / 4 * 3)

/* ---- shares of an executor ---- */

static struct tenant_part *part_of(const struct exec_port *p, const struct session *s)
{
	return &reactor_tenant(s->reactor, s)->part[p->number];
}

static void join(struct exec_port *p, struct session *s)
{
	struct tenant_part *part = part_of(p, s);

	if (s->exec.jobs[p->number]++ || part->sharers++)
		return;
	part->share = user_share(s->user);
	p->shares += part->share;
}

void exec_share_leave(struct exec_port *p, struct session *s)
{
	struct tenant_part *part = part_of(p, s);

	if (--s->exec.jobs[p->number] || --part->sharers)
		return;
	p->shares -= part->share;
}

void exec_count_flight(const struct exec_port *p, struct session *s, bool is_direct, int change)
{
	struct tenant_part *part = part_of(p, s);

	s->exec.in_flight[p->number] += (uint32_t)change;
	part->in_flight += (uint32_t)change;
	if (!is_direct)
		return;
	s->exec.in_direct[p->number] += (uint32_t)change;
	part->in_direct += (uint32_t)change;
}

/*
 * May a session without jobs there take a slot that the device keeps for new sessions?  One user's
 * new sessions take at most half of these.  (Where a user has more sessions than slots, they take
 * turns, and this is not asked.)  A module keeps none: it works at one job at a time.
 */
static bool is_new(const struct exec_port *p, uint32_t of_user, uint32_t of_session, uint32_t kept)
{
	return p->device && !of_session && of_user < kept;
}

static uint32_t one_at_least(uint32_t places)
{
	return places ? places : 1;
}

bool exec_has_share(const struct exec_port *p, const struct session *s, bool is_direct)
{
	const struct tenant_part *part = part_of(p, s);
	uint32_t all = is_direct ? DIRECT_FLIGHTS : p->device ? DEVICE_FLIGHTS : MODULE_FLIGHTS;
	uint32_t places = is_direct ? QUOIT_DIRECT_ENTRIES : QUOIT_EXEC_ENTRIES;
	uint32_t of_user = is_direct ? part->in_direct : part->in_flight;
	uint32_t of_session =
		is_direct ? s->exec.in_direct[p->number] : s->exec.in_flight[p->number];
	uint32_t most = one_at_least((uint32_t)(all * (uint64_t)part->share / p->shares));

	if (part->sharers <= most && is_new(p, of_user, of_session, most + (places - all) / 2))
		return true;
	return of_user < most && of_session < one_at_least(most / part->sharers);
}

/* ---- waiting jobs ---- */

int exec_start(struct reactor *r, struct session *s, struct job *job)
{
	if (job->executor != BRIDGE_EXECUTOR) /* its legs join where they go */
		join(r->executor[job->executor], s);
	sched_append(s, &s->exec.waiting[job->executor][job->sqe.priority], job);
	s->exec.jobs_waiting++;
	return 0;
}

struct job *exec_next(struct session *s, uint32_t executor)
{
	struct job *job = sched_pop(s, s->exec.waiting[executor]);

	if (job)
		s->exec.jobs_waiting--;
	return job;
}

static uint32_t free_flight(const struct exec_port *p)
{
	uint32_t i = 0;

	while (p->flight[i].session)
		i++;
	return i;
}

static void fill_module_request(const struct session *s, const struct job *job,
				struct quoit_exec_request *q)
{
	q->type = QUOIT_EXEC_RUN;
	q->op = optable_find(job->sqe.opcode)->index;
	q->arg = job->sqe.arg;
	for (unsigned i = 0; i < 2; i++)
		q->scalar[i] = job->sqe.scalar[i];
	for_each_tensor (i, job->tensors) {
		const struct view *v = &s->views[job->view[i]];
		const struct buffer *b = &s->buffers[v->buffer];

		q->view[i] = (struct quoit_exec_view){.offset = b->offset + v->offset,
						      .region = b->place,
						      .dtype = v->dtype,
						      .given = 1};
		memcpy(q->view[i].dim, v->dim, sizeof v->dim);
		memcpy(q->view[i].stride, v->stride, sizeof v->stride);
	}
}

/* Count a job of GPU-direct mode that goes through a stream. */
static void count_streamed(const struct exec_port *p, struct session *s, const struct job *job)
{
	struct device_memory *d = &s->device[p->device - 1];

	if (job->direct && !job->failed)
		__atomic_store_n(&d->streamed, d->streamed + 1, __ATOMIC_RELAXED);
}

/* Is the executor lost?  A process that is still another user's does not count. */
static bool is_lost(const struct exec_port *p, const struct session *s)
{
	return exec_port_state(p) == PORT_LOST && exec_is_for(p, s);
}

/*
 * May the session, which is among the sharers, have one more job there?  0; -EBUSY: not now;
 * -ENODEV: there is no executor to wait for.
 */
static int ask_for_room(struct exec_port *p, struct session *s)
{
	if (is_lost(p, s))
		return -ENODEV;
	if (!p->open || !exec_has_share(p, s, false) || !exec_port_has_room(p) ||
	    exec_map(p, s) < 0)
		return -EBUSY;
	return 0;
}

static void say_owner(const struct exec_port *p, const struct session *s, uint32_t slot)
{
	struct quoit_exec_owner *owner = &p->daemon->owner[slot];

	__atomic_store_n(&owner->user, s->user->number, __ATOMIC_RELAXED);
	__atomic_store_n(&owner->share, user_share(s->user), __ATOMIC_RELAXED);
}

/* Returns the id that the request has there. */
static uint32_t send_request(struct exec_port *p, struct session *s, const struct job *job,
			     uint8_t leg, struct quoit_exec_request *q)
{
	uint32_t id = free_flight(p);

	q->id = id;
	q->slot = s->exec.slot[p->number] - 1;
	say_owner(p, s, q->slot);
	if (__builtin_expect(p->profiled, 0))
		p->daemon->job[id] = QUOIT_EXEC_JOB(s->id, job->ring, job->sq_index);
	exec_port_request(p, q);
	p->flight[id] = (struct exec_flight){.session = s,
					     .job = job_index(s, job),
					     .leg = leg,
					     .type = q->type,
					     .serial = ++p->serial};
	exec_count_flight(p, s, false, 1);
	return id;
}

int exec_send_leg(struct exec_port *p, struct session *s, const struct job *job, uint8_t leg,
		  struct quoit_exec_request *q)
{
	bool any = false;
	int err;

	join(p, s);
	err = s->drops && !device_send_drops(p, s, &any) ? -EBUSY : ask_for_room(p, s);
	if (err)
		exec_share_leave(p, s);
	else
		(void)send_request(p, s, job, leg, q);
	if (!err || any)
		exec_port_flush(p);
	return err;
}

/*
 * 0; -EAGAIN: more of the jobs that it waits for must end first; -EBUSY, -ENODEV: as ask_for_room;
 * another error: the job's kernel cannot be had.
 */
static int send_job(struct exec_port *p, struct session *s, struct job *job)
{
	struct quoit_exec_request q = {0};
	int err;

	if (job->waits && s->exec.may_be_poisoned[p->number])
		return -EAGAIN;
	if (p->open && p->device && direct_send(p, s, job))
		return 0;
	if (!is_lost(p, s) && job->waits != job->waits_in_stream)
		return -EAGAIN; /* no stream waits for the direct ring */
	err = ask_for_room(p, s);
	if (!err && job->sqe.opcode == QUOIT_OP_LAUNCH && !job->failed) {
		err = kernels_bring(p, s, job->sqe.arg);
		if (!err && !exec_port_has_room(p))
			err = -EBUSY;
	}
	if (err)
		return err;
	if (p->device)
		device_fill_request(s, job, &q);
	else
		fill_module_request(s, job, &q);
	job->work = send_request(p, s, job, 0, &q);
	job_become(s, job, JOB_RUNNING);
	job->start = tsc_now();
	probe_start(s, job);
	if (p->device) {
		count_streamed(p, s, job);
		deps_in_stream(s, job, sched_push);
	}
	return 0;
}

static void end_unsent(struct reactor *r, const struct exec_port *p, struct session *s,
		       struct job *job, int32_t res)
{
	if (!job->failed && res == -ENODEV)
		job->error = (struct quoit_error){.field = QUOIT_FIELD_EXECUTOR,
						  .value = {0, p->device}};
	else if (!job->failed)
		job->error =
			(struct quoit_error){.field = QUOIT_FIELD_ARG, .value = {job->sqe.arg}};
	device_lose_cleared(s, job, res);
	job->start = job->end = r->now;
	reactor_end_job(r, s, job, res);
}

/* Has the job failed, with nothing left to clear? */
static bool is_over(const struct job *job)
{
	return job->failed && !job->zero;
}

/* Send one job, or end it.  False: there is no room. */
static bool send_one(struct reactor *r, struct exec_port *p, struct session *s, struct job *job)
{
	int32_t res;

	if (s->dead)
		res = -ECANCELED;
	else
		res = is_over(job) ? job->failed : send_job(p, s, job);
	if (res == -EBUSY)
		return false;
	if (res < 0) /* even if it is queued again later */
		exec_share_leave(p, s);
	if (res == -EAGAIN) {
		job_become(s, job, JOB_WAITING);
	} else if (res < 0 && job->waits) { /* it ends after the jobs that it follows */
		job->failed = job->failed ? job->failed : res;
		job_become(s, job, JOB_WAITING);
	} else if (res < 0) {
		end_unsent(r, p, s, job, job->failed ? job->failed : res);
	}
	return true;
}

static bool send_waiting(struct reactor *r, struct exec_port *p, struct session *s)
{
	bool any = false, room = !p->device || !s->drops || device_send_drops(p, s, &any);
	struct job_queue *q;

	while (room && (q = sched_most_urgent(s->exec.waiting[p->number])) != NULL) {
		struct job *job = &s->jobs[q->head];
		struct job_queue rest = {job->next, q->tail};

		if (!send_one(r, p, s, job))
			break;
		*q = rest;
		s->exec.jobs_waiting--;
		any = true;
	}
	if (any && p->open) {
		exec_port_flush(p);
		if (p->device)
			direct_flush(p);
	}
	return any;
}

bool exec_send(struct reactor *r, struct session *s)
{
	bool any = false;

	if (kernels_wait(s))
		any |= kernels_advance(r, s);
	for (uint32_t i = 0; i < r->executors && (s->exec.jobs_waiting || s->drops); i++)
		if (exec_serves(r->executor[i], s))
			any |= send_waiting(r, r->executor[i], s);
	return any;
}

/* SPDX-License-Identifier: MIT */
/* backend_exec.c - sending jobs to executors, taking their answers, and their deaths */
#include "backend_exec.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend_device.h"
#include "backend_exec_late.h"
#include "backend_exec_memory.h"
#include "deps.h"
#include "job.h"
#include "optable.h"
#include "sched.h"
#include "tsc.h"

/*
 * Jobs of one session in flight: enough to keep an executor busy, few to lose with it.  A device
 * is only kept busy by many, and what it loses is its memory.
 */
#define MODULE_FLIGHTS 8u
#define DEVICE_FLIGHTS 192u

/* How soon to look again for room among requests that have not been taken. */
#define ROOM_NS 1000000u

/* Taken at once: it may ring faster than we listen. */
#define BELLS 64u

#define MASK (QUOIT_EXEC_ENTRIES - 1)

/* ---- sending ---- */

void exec_start(struct session *s, struct job *job)
{
	struct job_queue *q = &s->exec.waiting[job->executor][job->sqe.priority];
	uint32_t self = job_index(s, job);

	job->next = NIL;
	if (q->head == NIL)
		q->head = self;
	else
		s->jobs[q->tail].next = self;
	q->tail = self;
	s->exec.jobs_waiting++;
}

static struct job_queue *most_urgent(struct session *s, uint32_t executor)
{
	static const uint8_t order[QUOIT_PRIO_NR] = {QUOIT_PRIO_HIGH, QUOIT_PRIO_NORMAL,
						     QUOIT_PRIO_LOW};

	for (unsigned i = 0; i < QUOIT_PRIO_NR; i++)
		if (s->exec.waiting[executor][order[i]].head != NIL)
			return &s->exec.waiting[executor][order[i]];
	return NULL;
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
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct view *v;
		const struct buffer *b;

		if (!(job->tensors & 1u << i))
			continue;
		v = &s->views[job->view[i]];
		b = &s->buffers[v->buffer];
		q->view[i] = (struct quoit_exec_view){.offset = b->offset + v->offset,
						      .region = b->place,
						      .dtype = v->dtype,
						      .given = 1};
		memcpy(q->view[i].dim, v->dim, sizeof v->dim);
		memcpy(q->view[i].stride, v->stride, sizeof v->stride);
	}
}

static uint32_t most_flights(const struct exec_port *p)
{
	return p->device ? DEVICE_FLIGHTS : MODULE_FLIGHTS;
}

/* 0; -EBUSY: no room there now; -ENODEV: no executor to wait for. */
static int send_job(struct exec_port *p, struct session *s, struct job *job)
{
	struct quoit_exec_request q = {0};
	uint32_t id;

	if (exec_port_state(p) == PORT_LOST)
		return -ENODEV;
	if (!p->open || s->exec.in_flight[p->number] == most_flights(p) || !exec_port_has_room(p) ||
	    exec_map(p, s) < 0)
		return -EBUSY;
	id = free_flight(p);
	if (p->device)
		device_fill_request(s, job, &q);
	else
		fill_module_request(s, job, &q);
	q.id = id;
	q.slot = s->exec.slot[p->number] - 1;
	exec_port_request(p, &q);
	p->flight[id] =
		(struct exec_flight){.session = s, .job = job_index(s, job), .serial = ++p->serial};
	s->exec.in_flight[p->number]++;
	job->work = id;
	job->state = JOB_RUNNING;
	job->start = tsc_now();
	if (p->device)
		deps_in_stream(s, job, sched_push);
	return 0;
}

static void end_unsent(struct reactor *r, struct session *s, struct job *job, int32_t res)
{
	if (!job->failed)
		job->error = (struct quoit_error){.field = QUOIT_FIELD_EXECUTOR};
	device_lose_cleared(s, job, res);
	job->start = job->end = r->now;
	reactor_end_job(r, s, job, res);
}

/* Has it failed, with nothing left to clear? */
static bool is_over(const struct job *job)
{
	return job->failed && !job->zero;
}

/* Send one, or end it.  False: there is no room. */
static bool send_one(struct reactor *r, struct exec_port *p, struct session *s, struct job *job)
{
	int32_t res = is_over(job) ? job->failed : send_job(p, s, job);

	if (res == -EBUSY)
		return false;
	if (res < 0 && job->waits) { /* a device has jobs before it: it ends behind them */
		job->failed = job->failed ? job->failed : res;
		job->state = JOB_WAITING;
	} else if (res < 0) {
		end_unsent(r, s, job, job->failed ? job->failed : res);
	}
	return true;
}

static bool send_waiting(struct reactor *r, struct exec_port *p, struct session *s)
{
	bool any = false, room = !p->device || !s->drops || device_send_drops(p, s, &any);
	struct job_queue *q;

	while (room && (q = most_urgent(s, p->number)) != NULL) {
		struct job *job = &s->jobs[q->head];
		struct job_queue rest = {job->next, q->tail};

		if (!send_one(r, p, s, job))
			break;
		*q = rest;
		s->exec.jobs_waiting--;
		any = true;
	}
	if (any && p->open)
		exec_port_flush(p);
	return any;
}

bool exec_send(struct reactor *r, struct session *s)
{
	bool any = false;

	for (uint32_t i = 0; i < r->executors && (s->exec.jobs_waiting || s->drops); i++)
		any |= send_waiting(r, r->executor[i], s);
	return any;
}

/* ---- answers ---- */

/* A flight is over: its job ends, by res unless it had failed before. */
static void end_flight(struct reactor *r, struct exec_port *p, struct exec_flight *f, int32_t res,
		       const struct quoit_error *error)
{
	struct session *s = f->session;
	struct job *job = &s->jobs[f->job];

	f->session = NULL;
	s->exec.in_flight[p->number]--;
	if (job->failed)
		res = job->failed;
	else if (res < 0)
		job->error = *error;
	if (p->device) /* the control thread may look */
		__atomic_store_n(&s->device[p->device - 1].jobs, s->device[p->device - 1].jobs + 1,
				 __ATOMIC_RELAXED);
	job->end = tsc_now();
	reactor_end_job(r, s, job, res);
}

/*
 * One that was in the stream before it has failed: whatever it made of what that left, and said
 * of it, it should not have run.
 */
static bool ran_on_poison(const struct exec_port *p, const struct session *s, struct job *job)
{
	return p->device && s->any_poison && !job->failed && job_is_poisoned(s, job);
}

static bool is_result(int32_t res)
{
	return res > -QUOIT_EEXEC && res != -QUOIT_EPOISON;
}

/* False: it answers what it was not asked. */
static bool take_answer(struct reactor *r, struct exec_port *p, const struct quoit_exec_answer *a)
{
	struct quoit_error error = {.field = a->field < QUOIT_FIELD_NR ? a->field : 0,
				    .value = {a->value[0], a->value[1]}};
	struct session *s;
	struct job *job;
	int32_t res = a->res;

	if (a->type == QUOIT_EXEC_UNMAP)
		return exec_unmapped(p, a->id);
	if (a->type != QUOIT_EXEC_RUN || a->id >= QUOIT_EXEC_ENTRIES || !is_result(a->res) ||
	    !p->flight[a->id].session)
		return false;
	s = p->flight[a->id].session;
	job = &s->jobs[p->flight[a->id].job];
	if (job->waits) /* before one that it had to be behind */
		return false;
	job->device_start = a->start;
	job->device_end = a->end;
	job->device_error = a->stamp_error;
	if (a->uncleared)
		device_lose_cleared(s, job, -QUOIT_EDEVLOST);
	p->pending--;
	p->answered++;
	if (ran_on_poison(p, s, job)) {
		res = -QUOIT_EPOISON;
		error = job->error;
	}
	end_flight(r, p, &p->flight[a->id], res, &error);
	return true;
}

static bool collect_answers(struct reactor *r, struct exec_port *p)
{
	uint32_t ready = quoit_ring_peek(&p->answers);
	bool sane = ready <= QUOIT_EXEC_ENTRIES;

	if (!ready || atomic_load_explicit(&p->killed, memory_order_relaxed) == KILL_FAULT)
		return false;
	for (uint32_t i = 0; i < ready && sane; i++) {
		struct quoit_exec_answer a;

		quoit_ring_copy((uint64_t *)&a,
				(const uint64_t *)&p->exec->answer[p->answers.next & MASK],
				sizeof a / sizeof(uint64_t));
		quoit_ring_release(&p->answers, 1);
		sane = take_answer(r, p, &a);
	}
	if (!sane)
		exec_port_kill(p, KILL_FAULT);
	return true;
}

/* ---- death ---- */

/* How its jobs fail: a device may have said what went wrong before it ended. */
static int32_t death_code(const struct exec_port *p)
{
	int32_t fault = __atomic_load_n(&p->words->fault, __ATOMIC_ACQUIRE);

	if (!p->device)
		return -QUOIT_EEXEC;
	return fault == -QUOIT_EDEVLOST ? fault : -QUOIT_EGPUFAULT;
}

static void fail_flight(struct reactor *r, struct exec_port *p, struct exec_flight *f, int32_t res)
{
	uint64_t culprit = __atomic_load_n(&p->words->culprit, __ATOMIC_RELAXED);
	uint64_t name = (uint64_t)p->channel << 32 | ((uint64_t)(f - p->flight) + 1);
	struct quoit_error error = {.field = QUOIT_FIELD_EXECUTOR,
				    .value = {(uint64_t)p->pid, (uint64_t)p->status}};

	if (p->device) {
		error.field = QUOIT_FIELD_DEVICE;
		error.value[0] = p->device;
		error.value[1] = culprit ? culprit == name ? QUOIT_FAULT_OWN : QUOIT_FAULT_OTHER
					 : QUOIT_FAULT_UNKNOWN;
	}
	end_flight(r, p, f, res, &error);
}

/*
 * What it had in flight fails, each by name; what it answered before counts.  On a device some
 * are behind others, and end behind them.
 */
static void fail_flights(struct reactor *r, struct exec_port *p)
{
	int32_t res = death_code(p);
	bool left = true;

	while (left) {
		left = false;
		for (uint32_t i = 0; i < QUOIT_EXEC_ENTRIES; i++) {
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

static void bury(struct reactor *r, struct exec_port *p)
{
	exec_port_unwatch(p, r->epoll);
	(void)collect_answers(r, p);
	fail_flights(r, p);
	exec_forget_all(p);
	p->open = false;
	if (p->device)
		device_lose_memory(r, p->device, -QUOIT_EDEVLOST);
}

/* ---- a pass ---- */

static bool poll_port(struct reactor *r, struct exec_port *p)
{
	uint64_t one = 1;
	bool any;
	ssize_t n;

	switch (exec_port_state(p)) {
	case PORT_UP:
		if (!p->open)
			exec_port_open(p, r->epoll);
		any = collect_answers(r, p);
		exec_end_hung(r, p);
		return any;
	case PORT_DEAD:
		if (p->open)
			bury(r, p);
		atomic_store_explicit(&p->state, PORT_DOWN, memory_order_release);
		n = write(p->starter, &one, sizeof one);
		(void)n;
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

bool exec_has(const struct job *job)
{
	return job->state == JOB_RUNNING && !job_host_zero(job) && job->executor != NO_EXECUTOR;
}

/* ---- sleep ---- */

/* Only answers ring: the room that a request leaves, when it is taken, does not. */
uint64_t exec_sleep_ns(struct reactor *r)
{
	for (uint32_t i = 0; i < r->executors; i++) {
		struct exec_port *p = r->executor[i];

		if (p->open && p->pending < QUOIT_EXEC_ENTRIES && !exec_port_has_room(p))
			return ROOM_NS;
	}
	return UINT64_MAX;
}

bool exec_may_sleep(struct reactor *r)
{
	bool idle = true;

	for (uint32_t i = 0; i < r->executors; i++) {
		struct exec_port *p = r->executor[i];

		if (p->open)
			idle &= quoit_ring_sleep(&p->answers, &p->daemon->need_wake);
	}
	return idle;
}

void exec_awake(struct reactor *r)
{
	for (uint32_t i = 0; i < r->executors; i++)
		if (r->executor[i]->open)
			quoit_ring_awake(&r->executor[i]->daemon->need_wake);
}

void exec_drain(struct reactor *r)
{
	for (uint32_t i = 0; i < r->executors; i++) {
		struct exec_port *p = r->executor[i];
		char bytes[64];
		ssize_t n = 1;

		if (!p->open || p->hung_up)
			continue;
		for (unsigned bells = 0; bells < BELLS && n > 0; bells++)
			n = recv(p->socket, bytes, sizeof bytes, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
			exec_port_unwatch(p, r->epoll);
			exec_port_kill(p, KILL_FAULT); /* mostly it is dead already */
		}
	}
}

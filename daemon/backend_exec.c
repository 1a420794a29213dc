/* SPDX-License-Identifier: MIT */
/* backend_exec.c - sending jobs to executors, taking their answers, and their deaths */
#include "backend_exec.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend_exec_late.h"
#include "backend_exec_memory.h"
#include "job.h"
#include "optable.h"
#include "tsc.h"

/* Jobs of one session in flight: enough to keep an executor busy, few to lose with it. */
#define SESSION_FLIGHTS 8u

/* Taken at once: it may ring faster than we listen. */
#define BELLS 64u

#define MASK (QUOIT_EXEC_ENTRIES - 1)

/* ---- sending ---- */

void exec_start(struct session *s, struct job *job)
{
	struct job_queue *q =
		&s->exec.waiting[optable_find(job->sqe.opcode)->module][job->sqe.priority];
	uint32_t self = job_index(s, job);

	job->next = NIL;
	if (q->head == NIL)
		q->head = self;
	else
		s->jobs[q->tail].next = self;
	q->tail = self;
	s->exec.jobs_waiting++;
}

static struct job_queue *most_urgent(struct session *s, uint32_t module)
{
	static const uint8_t order[QUOIT_PRIO_NR] = {QUOIT_PRIO_HIGH, QUOIT_PRIO_NORMAL,
						     QUOIT_PRIO_LOW};

	for (unsigned i = 0; i < QUOIT_PRIO_NR; i++)
		if (s->exec.waiting[module][order[i]].head != NIL)
			return &s->exec.waiting[module][order[i]];
	return NULL;
}

static uint32_t free_flight(const struct exec_port *p)
{
	uint32_t i = 0;

	while (p->flight[i].session)
		i++;
	return i;
}

static void fill_request(const struct session *s, const struct job *job,
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

/* 0; -EBUSY: no room there now; -ENODEV: no executor to wait for. */
static int send_job(struct exec_port *p, struct session *s, struct job *job)
{
	struct quoit_exec_request q = {0};
	uint32_t id;

	if (exec_port_state(p) == PORT_LOST)
		return -ENODEV;
	if (!p->open || s->exec.in_flight[p->module] == SESSION_FLIGHTS || !exec_port_has_room(p) ||
	    exec_map(p, s) < 0)
		return -EBUSY;
	id = free_flight(p);
	fill_request(s, job, &q);
	q.id = id;
	q.slot = s->exec.slot[p->module] - 1;
	if (!exec_port_request(p, &q))
		return -EBUSY;
	p->flight[id] = (struct exec_flight){.session = s, .job = job_index(s, job)};
	s->exec.in_flight[p->module]++;
	job->work = id;
	job->state = JOB_RUNNING;
	job->start = tsc_now();
	return 0;
}

static void end_unsent(struct reactor *r, struct session *s, struct job *job, int32_t res)
{
	if (!job->failed)
		job->error = (struct quoit_error){.field = QUOIT_FIELD_EXECUTOR};
	job->start = job->end = r->now;
	reactor_end_job(r, s, job, res);
}

static bool send_waiting(struct reactor *r, struct exec_port *p, struct session *s)
{
	struct job_queue *q;
	bool any = false, sent = false;

	while ((q = most_urgent(s, p->module)) != NULL) {
		struct job *job = &s->jobs[q->head];
		uint32_t next = job->next;
		int32_t res = job->failed ? job->failed : send_job(p, s, job);

		if (res == -EBUSY)
			break;
		q->head = next;
		s->exec.jobs_waiting--;
		if (res < 0)
			end_unsent(r, s, job, res);
		sent |= !res;
		any = true;
	}
	if (sent)
		exec_port_flush(p);
	return any;
}

bool exec_send(struct reactor *r, struct session *s)
{
	bool any = false;

	for (uint32_t i = 0; i < r->executors && s->exec.jobs_waiting; i++)
		any |= send_waiting(r, r->executor[i], s);
	return any;
}

/* ---- answers ---- */

/* A flight is over: its job ends, unless its CQE is out already with res as it was then. */
static void end_flight(struct reactor *r, struct exec_port *p, struct exec_flight *f, int32_t res,
		       const struct quoit_error *error)
{
	struct session *s = f->session;
	struct job *job = &s->jobs[f->job];

	f->session = NULL;
	if (p->watched == f) /* the next one to fly here is another */
		p->watched = NULL;
	s->exec.in_flight[p->module]--;
	if (job->posted)
		res = job->failed;
	else if (res < 0)
		job->error = *error;
	job->end = tsc_now();
	reactor_end_job(r, s, job, res);
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

	if (a->type == QUOIT_EXEC_UNMAP)
		return exec_unmapped(p, a->id);
	if (a->type != QUOIT_EXEC_RUN || a->id >= QUOIT_EXEC_ENTRIES || !is_result(a->res) ||
	    !p->flight[a->id].session)
		return false;
	p->pending--;
	p->answered++;
	end_flight(r, p, &p->flight[a->id], a->res, &error);
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

/* What it had in flight fails, each by name; what it answered before counts. */
static void bury(struct reactor *r, struct exec_port *p)
{
	struct quoit_error error = {.field = QUOIT_FIELD_EXECUTOR,
				    .value = {(uint64_t)p->pid, (uint64_t)p->status}};

	exec_port_unwatch(p, r->epoll);
	(void)collect_answers(r, p);
	for (uint32_t i = 0; i < QUOIT_EXEC_ENTRIES; i++) {
		struct exec_flight *f = &p->flight[i];
		int32_t failed;

		if (!f->session)
			continue;
		failed = f->session->jobs[f->job].failed;
		end_flight(r, p, f, failed ? failed : -QUOIT_EEXEC, &error);
	}
	exec_forget_all(p);
	p->open = false;
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
	return job->state == JOB_RUNNING && !job->zero &&
	       optable_find(job->sqe.opcode)->flags & OP_MODULE;
}

/* ---- sleep ---- */

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

/* SPDX-License-Identifier: MIT */
/* sched.c - queues of ready jobs: short and long, by priority */
#include "sched.h"

#include <assert.h>

#include "job.h"
#include "ops/optable.h"

static const uint8_t by_urgency[QUOIT_PRIO_NR] = {QUOIT_PRIO_HIGH, QUOIT_PRIO_NORMAL,
						  QUOIT_PRIO_LOW};

void sched_append(struct session *s, struct job_queue *q, struct job *job)
{
	uint32_t self = job_index(s, job);

	job->next = NIL;
	if (q->head == NIL)
		q->head = self;
	else
		s->jobs[q->tail].next = self;
	q->tail = self;
}

static unsigned urgency(const struct job *job)
{
	unsigned i = 0;

	while (by_urgency[i] != job->sqe.priority)
		i++;
	return i;
}

bool sched_is_before(const struct job *a, const struct job *b)
{
	return urgency(a) != urgency(b) ? urgency(a) < urgency(b) : a->order < b->order;
}

struct job_queue *sched_most_urgent(struct job_queue queues[QUOIT_PRIO_NR])
{
	for (unsigned i = 0; i < QUOIT_PRIO_NR; i++)
		if (queues[by_urgency[i]].head != NIL)
			return &queues[by_urgency[i]];
	return NULL;
}

struct job *sched_pop(struct session *s, struct job_queue queues[QUOIT_PRIO_NR])
{
	struct job_queue *q = sched_most_urgent(queues);
	struct job *job;

	if (!q)
		return NULL;
	job = &s->jobs[q->head];
	q->head = job->next;
	return job;
}

void sched_push(struct session *s, struct job *job)
{
	struct job_queue *queues = s->long_jobs;

	/* A failed job ends at once, and so does a job that only waits. */
	if (job->failed)
		queues = s->short_jobs;
	else if (job_names_file(job))
		queues = s->file_jobs;
	else if (job->executor != NO_EXECUTOR || job->cost < SCHED_INLINE_NS)
		queues = s->short_jobs;
	job_become(s, job, JOB_READY);
	sched_append(s, &queues[job->sqe.priority], job);
	s->ready_jobs++;
	s->ready_long += queues == s->long_jobs;
}

struct job *sched_next_short(struct session *s)
{
	struct job *job = sched_pop(s, s->short_jobs);

	assert(!job || s->ready_jobs > 0);
	s->ready_jobs -= job != NULL;
	return job;
}

struct job *sched_next_long(struct session *s)
{
	struct job *job = s->published < SCHED_PUBLISHED ? sched_pop(s, s->long_jobs) : NULL;

	s->ready_jobs -= job != NULL;
	s->ready_long -= job != NULL;
	return job;
}

struct job *sched_next_file(struct session *s)
{
	struct job *job = sched_pop(s, s->file_jobs);

	assert(!job || s->ready_jobs > 0);
	s->ready_jobs -= job != NULL;
	return job;
}

void sched_put_back(struct session *s, struct job *job)
{
	struct job_queue *queues = job_names_file(job) ? s->file_jobs : s->long_jobs;
	struct job_queue *q = &queues[job->sqe.priority];

	job->next = q->head;
	if (q->head == NIL)
		q->tail = job_index(s, job);
	q->head = job_index(s, job);
	s->ready_jobs++;
	s->ready_long += queues == s->long_jobs;
}

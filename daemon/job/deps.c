/* SPDX-License-Identifier: MIT */
/* deps.c - hazards between jobs on the bytes of buffers */
#include "deps.h"

#include <assert.h>
#include <errno.h>

#include "memory/memory.h"
#include "session/extent.h"
#include "session/tensor_bits.h"

/* An access is named by its job's index times four plus its place in the job. */
static struct access *access_at(const struct session *s, uint32_t name)
{
	return &s->jobs[name / QUOIT_MAX_TENSORS_PER_JOB].access[name % QUOIT_MAX_TENSORS_PER_JOB];
}

static const struct view *view_at(const struct session *s, uint32_t name)
{
	const struct job *job = &s->jobs[name / QUOIT_MAX_TENSORS_PER_JOB];

	return &s->views[job->view[name % QUOIT_MAX_TENSORS_PER_JOB]];
}

static bool overlap(const struct access *a, uint64_t lo, uint64_t hi)
{
	return a->lo < hi && lo < a->hi;
}

static struct extent extent_at(const struct session *s, uint32_t name)
{
	const struct access *a = access_at(s, name);

	return a->gaps ? extent_of(view_at(s, name)) : extent_whole(a->lo, a->hi);
}

/* Do accesses with overlapping hulls, of which one has gaps, share bytes?  Slower than a look. */
static bool share_bytes(struct session *s, uint32_t name, const struct extent *b)
{
	const struct extent a = extent_at(s, name);

	s->looks += DEPS_EXTENT_LOOKS;
	return extent_overlap(&a, b);
}

static bool list_conflicts(struct session *s, uint32_t list, const struct view *v)
{
	for (uint32_t i = list; i != NIL; i = access_at(s, i)->next) {
		const struct access *a = access_at(s, i);

		s->looks++;
		if (!overlap(a, v->lo, v->hi))
			continue;
		if (a->gaps || !v->covers) {
			const struct extent e = extent_of(v);

			if (!share_bytes(s, i, &e))
				continue;
		}
		return true;
	}
	return false;
}

bool deps_conflict(struct session *s, const struct view *v, bool write)
{
	const struct buffer *b = &s->buffers[v->buffer];

	return list_conflicts(s, b->writers, v) || (write && list_conflicts(s, b->readers, v));
}

/* ---- edges ---- */

/* The jobs that a new job must wait for, gathered before anything is changed. */
struct waited {
	uint32_t job[DEPS_MAX_EDGES];
	uint32_t count;
	bool full;
};

static void gather_job(struct waited *w, uint32_t job)
{
	if (w->count && w->job[w->count - 1] == job)
		return;
	if (w->count == DEPS_MAX_EDGES)
		w->full = true;
	else
		w->job[w->count++] = job;
}

/* Gather the jobs in the list that touch bytes of the access `name`. */
static void gather_list(struct session *s, uint32_t list, uint32_t name, struct waited *w)
{
	uint32_t self = name / QUOIT_MAX_TENSORS_PER_JOB;
	const struct access *a = access_at(s, name);

	for (uint32_t i = list; i != NIL && !w->full; i = access_at(s, i)->next) {
		s->looks++;
		if (i / QUOIT_MAX_TENSORS_PER_JOB == self ||
		    !overlap(access_at(s, i), a->lo, a->hi))
			continue;
		if (a->gaps | access_at(s, i)->gaps) {
			const struct extent e = extent_at(s, name);

			if (!share_bytes(s, i, &e))
				continue;
		}
		gather_job(w, i / QUOIT_MAX_TENSORS_PER_JOB);
	}
}

static void gather(struct session *s, const struct job *job, uint32_t link, struct waited *w)
{
	uint32_t self = job_index(s, job);

	if (link != NIL)
		gather_job(w, link);
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct access *a = &job->access[i];
		const struct buffer *b;

		if (!(job->tensors & 1u << i))
			continue;
		b = &s->buffers[a->buffer];
		gather_list(s, b->writers, self * QUOIT_MAX_TENSORS_PER_JOB + i, w);
		if (a->write)
			gather_list(s, b->readers, self * QUOIT_MAX_TENSORS_PER_JOB + i, w);
	}
}

/* ---- lists ---- */

static uint32_t *list_of(struct session *s, const struct access *a)
{
	struct buffer *b = &s->buffers[a->buffer];

	return a->write ? &b->writers : &b->readers;
}

static void list_remove(struct session *s, uint32_t name)
{
	struct access *a = access_at(s, name);

	if (a->prev == NIL)
		*list_of(s, a) = a->next;
	else
		access_at(s, a->prev)->next = a->next;
	if (a->next != NIL)
		access_at(s, a->next)->prev = a->prev;
	a->buffer = NIL;
}

/* Does the write touch all bytes of the access?  It has no gaps, or it has the very same ones. */
static bool is_hidden(struct session *s, uint32_t name, uint32_t by)
{
	const struct access *a = access_at(s, name), *w = access_at(s, by);
	struct extent of_a, of_w;

	if (a->lo < w->lo || a->hi > w->hi)
		return false;
	if (!w->gaps)
		return true;
	if (!a->gaps)
		return false;
	s->looks += DEPS_EXTENT_LOOKS;
	of_a = extent_at(s, name);
	of_w = extent_at(s, by);
	return extent_same(&of_a, &of_w);
}

/* Remove what the new write hides: a job that conflicts with that conflicts with the write. */
static void list_hide(struct session *s, uint32_t list, uint32_t by)
{
	uint32_t next;

	for (uint32_t i = list; i != NIL; i = next) {
		next = access_at(s, i)->next;
		if (is_hidden(s, i, by))
			list_remove(s, i);
	}
}

static void list_push(struct session *s, uint32_t name)
{
	struct access *a = access_at(s, name);
	uint32_t *list = list_of(s, a);

	a->prev = NIL;
	a->next = *list;
	if (*list != NIL)
		access_at(s, *list)->prev = name;
	*list = name;
}

static void list_insert(struct session *s, uint32_t name)
{
	struct access *a = access_at(s, name);

	if (a->write) {
		struct buffer *b = &s->buffers[a->buffer];

		list_hide(s, b->writers, name);
		list_hide(s, b->readers, name);
	}
	list_push(s, name);
}

/* ---- order kept by a device ---- */

/* `before` is in a stream: if that is the job's own device, the device can keep the order. */
static void ease(struct job *job, const struct job *before)
{
	if (job->executor == before->executor && job->waits_in_stream < QUOIT_EXEC_AFTER)
		job->after[job->waits_in_stream++] = before->work;
}

/* `before` has ended.  A work's number counts per device, so one of another device is not meant. */
static void unease(struct job *job, const struct job *before)
{
	if (job->executor != before->executor)
		return;
	for (uint32_t i = 0; i < job->waits_in_stream; i++)
		if (job->after[i] == before->work) {
			job->after[i] = job->after[--job->waits_in_stream];
			return;
		}
}

void deps_in_stream(struct session *s, struct job *job, deps_ready_fn *ready)
{
	job->in_stream = true;
	for (uint32_t e = job->edges; e != NIL; e = s->edges[e].next) {
		struct job *after = &s->jobs[s->edges[e].job];

		ease(after, job);
		if (job_may_start(after))
			ready(s, after);
	}
}

void deps_in_direct(struct session *s, struct job *job, deps_ready_fn *ready)
{
	job->in_direct = true;
	for (uint32_t e = job->edges; e != NIL; e = s->edges[e].next) {
		struct job *after = &s->jobs[s->edges[e].job];

		after->waits_in_direct_ring += after->executor == job->executor;
		if (job_may_start(after))
			ready(s, after);
	}
}

int deps_add(struct session *s, struct job *job, uint32_t link)
{
	uint32_t self = job_index(s, job);
	struct waited w;

	w.count = 0;
	w.full = false;
	gather(s, job, link, &w);
	if (w.full || w.count > s->edges_room - s->edges_open)
		return -EAGAIN;
	for (uint32_t i = 0; i < w.count; i++) {
		uint32_t edge = tables_take_edge(s);
		struct job *before = &s->jobs[w.job[i]];

		s->edges[edge] = (struct edge){.job = self, .next = before->edges};
		before->edges = edge;
		if (before->in_stream)
			ease(job, before);
		if (before->in_direct)
			job->waits_in_direct_ring += job->executor == before->executor;
	}
	job->waits += w.count;
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job->tensors & 1u << i)
			list_insert(s, self * QUOIT_MAX_TENSORS_PER_JOB + i);
	return 0;
}

void deps_remove(struct session *s, struct job *job, uint64_t now, deps_ready_fn *ready)
{
	uint32_t self = job_index(s, job), next;

	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job->tensors & 1u << i && job->access[i].buffer != NIL)
			list_remove(s, self * QUOIT_MAX_TENSORS_PER_JOB + i);
	for (uint32_t e = job->edges; e != NIL; e = next) {
		struct job *after = &s->jobs[s->edges[e].job];

		next = s->edges[e].next;
		tables_give_edge(s, e);
		after->waits--;
		after->data = now;
		memory_recount(s, after, now);
		if (job->in_stream)
			unease(after, job);
		if (job->in_direct)
			after->waits_in_direct_ring -= after->executor == job->executor;
		if (job_may_start(after))
			ready(s, after);
	}
	job->edges = NIL;
}

/* ---- what the program holds ---- */

/* Does an access to these bytes conflict with tensor i of `job`, which the program holds? */
static bool access_conflicts(struct session *s, const struct job *job, unsigned i,
			     const struct access *b, const struct view *v)
{
	const struct access *a = &job->access[i];
	struct extent e;

	if (s->views[job->view[i]].buffer != v->buffer)
		return false;
	if (!(a->write | b->write) || !overlap(a, b->lo, b->hi))
		return false;
	if (!(a->gaps | b->gaps))
		return true;
	e = b->gaps ? extent_of(v) : extent_whole(b->lo, b->hi);
	return share_bytes(s, job_index(s, job) * QUOIT_MAX_TENSORS_PER_JOB + i, &e);
}

/*
 * What the job itself does by its tensor t.  If it was fetched before the bytes were there, its
 * access says that it writes all of the buffer.
 */
static struct access own_access(const struct session *s, const struct job *job, unsigned t)
{
	const struct op_row *row = optable_row(job->sqe.opcode);
	const struct view *v = &s->views[job->view[t]];
	uint8_t writes = row->flags & OP_ACQUIRE ? row->writes : job->writes;

	return (struct access){
		.write = writes >> t & 1, .gaps = !v->covers, .lo = v->lo, .hi = v->hi};
}

/*
 * Must `after` go on waiting for `job`, which the program holds?  If others wait for `after`, what
 * counts is what it was taken to do: that may have hidden the held access from them, and then they
 * wait for it by `after` alone.
 */
static bool jobs_conflict(struct session *s, const struct job *job, const struct job *after)
{
	for_each_tensor (i, job->tensors)
		for_each_tensor (t, after->tensors) {
			const struct access b =
				after->edges == NIL ? own_access(s, after, t) : after->access[t];

			if (access_conflicts(s, job, i, &b, &s->views[after->view[t]]))
				return true;
		}
	return false;
}

/*
 * The access is what the program may do, and no more.  Later jobs may be in the lists already, and
 * may have hidden it; those that need not wait for it do so no more, so it comes back.
 */
static void narrow(struct session *s, struct job *job, unsigned i, bool write)
{
	struct access *a = &job->access[i];
	const struct view *v = &s->views[job->view[i]];
	uint32_t name = job_index(s, job) * QUOIT_MAX_TENSORS_PER_JOB + i;

	if (a->buffer != NIL)
		list_remove(s, name);
	a->write = write;
	a->gaps = !v->covers;
	a->lo = v->lo;
	a->hi = v->hi;
	a->buffer = v->buffer;
	list_push(s, name);
}

void deps_hold(struct session *s, struct job *job, uint8_t writes, uint64_t now,
	       deps_ready_fn *ready)
{
	uint32_t *link = &job->edges;

	for_each_tensor (i, job->tensors)
		narrow(s, job, i, writes >> i & 1);

	while (*link != NIL) {
		uint32_t e = *link;
		struct job *after = &s->jobs[s->edges[e].job];

		if (jobs_conflict(s, job, after)) {
			link = &s->edges[e].next;
			continue;
		}
		*link = s->edges[e].next;
		tables_give_edge(s, e);
		after->waits--;
		after->data = now;
		memory_recount(s, after, now);
		if (job_may_start(after))
			ready(s, after);
	}
}

/* ---- jobs of one ring by SQ index ---- */

static uint32_t *bucket_of(const struct ring *r, uint32_t sq_index)
{
	return &r->bucket[sq_index & (r->layout.cq_entries - 1)];
}

void deps_ring_insert(struct ring *r, struct job *job)
{
	uint32_t *bucket = bucket_of(r, job->sq_index);

	job->hash_next = *bucket;
	*bucket = job_index(r->session, job);
}

void deps_ring_remove(struct ring *r, struct job *job)
{
	uint32_t self = job_index(r->session, job);
	uint32_t *link = bucket_of(r, job->sq_index);

	while (*link != self)
		link = &r->session->jobs[*link].hash_next;
	*link = job->hash_next;
}

struct job *deps_ring_find(const struct ring *r, uint32_t sq_index)
{
	struct session *s = r->session;

	for (uint32_t i = *bucket_of(r, sq_index); i != NIL; i = s->jobs[i].hash_next)
		if (s->jobs[i].sq_index == sq_index)
			return &s->jobs[i];
	return NULL;
}

/* ---- AFTER_ALL ---- */

static uint32_t segment_slot(const struct ring *r, uint32_t segment)
{
	return segment & (2 * r->layout.cq_entries - 1);
}

bool deps_segments_full(const struct ring *r)
{
	return r->segment_tail - r->segment_head >= 2 * r->layout.cq_entries - 1;
}

void deps_segment_join(struct ring *r, struct job *job)
{
	job->segment = r->segment_tail;
	r->segment_open[segment_slot(r, job->segment)]++;
}

void deps_segment_end(struct ring *r, struct job *job)
{
	r->segment_job[segment_slot(r, r->segment_tail)] = job_index(r->session, job);
	r->segment_tail++;
	r->segment_open[segment_slot(r, r->segment_tail)] = 0;
	deps_segment_join(r, job); /* so the next segment waits for it, whatever its priority */
	job->waits++;
}

void deps_segment_leave(struct ring *r, const struct job *job)
{
	assert(r->segment_open[segment_slot(r, job->segment)] > 0);
	r->segment_open[segment_slot(r, job->segment)]--;
}

struct job *deps_segment_next(struct ring *r)
{
	uint32_t slot = segment_slot(r, r->segment_head);

	if (r->segment_head == r->segment_tail || r->segment_open[slot])
		return NULL;
	r->segment_head++;
	return &r->session->jobs[r->segment_job[slot]];
}

/* SPDX-License-Identifier: MIT */
/* memory_queue.c - the queue of jobs that lack bytes, in fetch order */
#include "memory_private.h"

#include <errno.h>

#include "base/tsc.h"
#include "lease.h"
#include "memory_pinned.h"
#include "session/poison.h"

/* So many jobs get their bytes in one go, since each may take fresh pages from the kernel. */
#define MEMORY_TURN 16u

/* ---- jobs that wait for memory alone ---- */

static void tell(struct session_memory *m, uint64_t now)
{
	depth_sum(&m->waiting, now);
	m->waiting.now = m->paging + (m->scarce ? m->starved : 0);
}

/* Note whether the head of the queue, and so all jobs in it, lacks bytes, or only its turn. */
static void set_scarce(struct session *s, bool scarce)
{
	struct session_memory *m = &s->memory;

	if (m->scarce == scarce)
		return;
	m->scarce = scarce;
	if (m->starved)
		tell(m, tsc_now());
}

void memory_count(struct session *s, struct job *job, uint64_t now)
{
	struct session_memory *m = &s->memory;
	uint32_t of_memory = job->memory_waits + job->allocating;
	enum lack lacks = LACK_NOTHING;

	if (of_memory && job->waits == of_memory)
		lacks = job->allocating ? LACK_PAGES : LACK_BYTES;
	if (lacks == job->lacks)
		return;
	if (!of_memory) /* this was the last thing that it waited for */
		s->memory_waited += job->lacks == LACK_PAGES || m->scarce;
	m->starved += (lacks == LACK_BYTES) - (job->lacks == LACK_BYTES);
	m->paging += (lacks == LACK_PAGES) - (job->lacks == LACK_PAGES);
	job->lacks = lacks;
	tell(m, now);
}

/* ---- giving a job its bytes ---- */

bool memory_is_overwritten(const struct session *s, const struct job *job, unsigned i)
{
	const struct view *v = &s->views[job->view[i]];

	return job->sqe.opcode != QUOIT_OP_LAUNCH && job->writes & 1u << i &&
	       !(job->reads & 1u << i) && v->covers && v->lo == 0 &&
	       v->hi == s->buffers[v->buffer].size;
}

/*
 * A piece with old contents goes to the first job that gets it.  Unless that job writes all of it,
 * it clears it before it runs (job->zero).  Its access covers the whole buffer, so no other job
 * looks before.  A device's executor does this itself, but not within a slab, as it does not see
 * all jobs that use the slab.
 */
static void take_over_contents(struct session *s, struct job *job)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		struct buffer *b;

		if (!(job->holds & 1u << i) || memory_is_overwritten(s, job, i))
			continue;
		b = &s->buffers[s->views[job->view[i]].buffer];
		if (b->reserved && !b->zeroed) {
			if (b->place != PLACE_DEVICE || b->in_slab)
				job->zero |= (uint8_t)(1u << i);
			b->zeroed = true;
		}
	}
	/* Only now: a job in place overwrites by one tensor what it reads by another. */
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job->holds & 1u << i) {
			struct buffer *b = &s->buffers[s->views[job->view[i]].buffer];

			b->zeroed |= b->reserved;
		}
}

/*
 * A job far from its turn gets its bytes only while at most this part of the lease is used.
 * Otherwise a deep queue would fill the lease with buffers that wait, all on new and cold pages,
 * while pages in use were never reused.  A job that waits for nothing else gets its bytes.
 */
#define AHEAD_PART 16

static bool is_time(const struct session *s, uint32_t other_waits, struct memory_need need)
{
	const struct session_memory *m = &s->memory;
	uint64_t bytes = need.pageable;
	uint64_t lease = m->lease > m->soft ? m->lease : m->soft; /* what it grows to for this */

	/* An earlier job has got all the bytes that this one lacks. */
	if (!bytes && !memory_needs_fixed(&need) && !need.device[0].bytes)
		return true;
	/* What waits for a function must not hold up what that function may wait for. */
	if (s->calls.posted)
		return true;
	/* A device has no cold pages, and its jobs are sent there ahead of their turn. */
	if (other_waits == 0 || (need.device[0].bytes && !bytes && !memory_needs_fixed(&need)))
		return true;
	return m->used - m->fixed + bytes <= (lease - m->fixed) / AHEAD_PART;
}

/*
 * Ask for what the head lacks, if it lacks only bytes of the lease.  last: nothing else will free
 * any.  True: they may come.
 */
static bool may_come(struct session *s, struct memory_need need, bool last)
{
	uint64_t lack = need.pageable - memory_lease_left(s);

	if (need.pageable <= memory_lease_left(s))
		return false;
	need.pageable = 0;
	return memory_fits(s, need) && lease_ask(s, lack, last);
}

/*
 * Once an acquire is granted, its bytes stay where they are.  Jobs that were fetched before it must
 * have their place by then, as in the serial run: it waits behind them, even if it lacks nothing.
 * A call waits in the same way: pieces move only while no job runs, and a function may run for any
 * time, so one that had begun before the head would hold up the head's move.
 */
static bool holds_place(const struct job *job)
{
	return optable_row(job->sqe.opcode)->flags & (OP_ACQUIRE | OP_CALL) && !job->orders_only &&
	       !job->is_message;
}

void memory_admit(struct session *s, struct job *job)
{
	struct session_memory *m = &s->memory;
	struct memory_need need;
	bool fits, time;

	job->parked = NIL;
	if (!memory_lacking(s, job) && (m->head == NIL || !holds_place(job))) {
		take_over_contents(s, job);
		return;
	}
	need = memory_needs(s, job->holds, job->view);
	fits = memory_fits(s, need);
	time = is_time(s, job->waits, need);
	if (m->head == NIL && time) {
		if (fits && memory_reserve(s, job)) {
			take_over_contents(s, job);
			return;
		}
		if (!fits)
			(void)may_come(s, need, false);
	}
	job->next = NIL;
	job->memory_waits = true;
	job->waits++;
	if (m->head == NIL) /* and it waits for more than its turn */
		set_scarce(s, !fits || time);
	memory_count(s, job, tsc_now());
	if (m->head == NIL)
		m->head = job_index(s, job);
	else
		s->jobs[m->tail].next = job_index(s, job);
	m->tail = job_index(s, job);
}

/* ---- the head of the queue ---- */

static void release_parked(struct session *s, struct job *job)
{
	uint32_t next;

	for (uint32_t i = job->parked; i != NIL; i = next) {
		next = s->buffers[i].next;
		memory_give_back(s, i);
	}
	job->parked = NIL;
}

static struct job *pop(struct session *s)
{
	struct job *job = &s->jobs[s->memory.head];

	s->memory.head = job->next;
	if (s->memory.head == NIL)
		s->memory.tail = NIL;
	job->memory_waits = false;
	job->waits--;
	if (memory_holds_up(job))
		memory_count(s, job, tsc_now());
	else
		memory_is_given(s, job);
	return job;
}

/*
 * Refuse the head: everything before it has ended and it still does not fit, so it never would
 * have.  If it reads what another job failed to write, perhaps for the same reason, it fails with
 * that job's cause.
 */
static void refuse_head(struct session *s, struct job *job, struct memory_need need)
{
	uint64_t found = 0, left = 0;

	if (job_is_poisoned(s, job)) {
		job->failed = -QUOIT_EPOISON;
		return;
	}
	for (unsigned i = FIXED_PINNED; i < FIXED_REGIONS; i++)
		if (need.fixed[i]) {
			found = need.fixed[i];
			left = pinned_free(&s->pieces[i]);
			/* enough are free: pieces that the program holds lie between them */
			left = left < found ? left : pinned_longest(&s->pieces[i]);
		}
	for (unsigned i = 0; i < 2; i++)
		if (!memory_fits_device(s, &need, i)) {
			found = need.device[i].bytes;
			left = memory_device_left(s, need.device[i].number);
		}
	if (need.pageable > memory_lease_left(s)) {
		found = need.pageable;
		left = memory_lease_left(s);
	}
	job->failed = -ENOMEM;
	job->error = (struct quoit_error){
		.field = QUOIT_FIELD_MEMORY, .code = -ENOMEM, .value = {found, left}};
}

/* Do all jobs before it wait at objects?  They free nothing, and may wait for what is behind it. */
static bool is_first(const struct session *s, uint32_t head)
{
	uint32_t i = s->oldest;

	while (i != head && s->jobs[i].orders_only && s->jobs[i].state == JOB_RUNNING)
		i = s->jobs[i].newer;
	return i == head;
}

/* Give the head what it lacks, or refuse it for good.  False: it has to wait. */
static bool decide_head(struct session *s, struct job *job)
{
	struct memory_need need;
	bool last;

	if (job->failed)
		return true;
	need = memory_needs(s, job->holds, job->view);
	if (memory_fits(s, need)) {
		if (!is_time(s, job->waits - 1, need)) {
			set_scarce(s, false);
			return false;
		}
		if (memory_reserve(s, job)) {
			take_over_contents(s, job);
			return true;
		}
		set_scarce(s, true);
		need = memory_needs(s, job->holds, job->view);
		if (!is_first(s, s->memory.head) || !memory_needs_fixed(&need))
			return false;
		if (s->memory.tidied_for == job->order) {
			refuse_head(s, job, need);
			return true;
		}
		/* Tidying begins where no loop over this session's jobs runs (reactor.c). */
		s->memory.tidying = TIDY_WAITS;
		s->memory.tidy_regions = 0;
		for (unsigned i = FIXED_PINNED; i < FIXED_REGIONS; i++)
			s->memory.tidy_regions |= (uint8_t)(!!need.fixed[i] << i);
		return false;
	}
	set_scarce(s, true);
	last = is_first(s, s->memory.head) && !(need.fixed[FIXED_PINNED] && !s->pinned_filled);
	if ((last || is_time(s, job->waits - 1, need)) && may_come(s, need, last))
		return false;
	if (!last)
		return false;
	refuse_head(s, job, need);
	return true;
}

void memory_advance(struct session *s, memory_ready_fn *ready)
{
	unsigned turn = MEMORY_TURN;

	s->memory.more = false;
	if (s->memory.tidying == TIDY_WAITS)
		s->memory.tidying = TIDY_NONE; /* look again: the reason may be gone */
	else if (s->memory.tidying == TIDY_READY)
		memory_pinned_tidy(s);
	while (s->memory.head != NIL && s->memory.tidying == TIDY_NONE) {
		struct job *job = &s->jobs[s->memory.head];

		if (!turn--) {
			s->memory.more = true;
			return;
		}
		if (!decide_head(s, job))
			return;
		pop(s);
		release_parked(s, job);
		if (job_may_start(job))
			ready(s, job);
	}
}

/* ---- buffers that are freed ---- */

void memory_mark_free(struct session *s, struct buffer *b)
{
	/* The bytes of a tensor with a name are not the session's. */
	b->park_job = b->place == PLACE_NAMED ? NIL : s->memory.tail;
	if (b->park_job != NIL)
		b->park_order = s->jobs[b->park_job].order;
}

bool memory_park(struct session *s, uint32_t index)
{
	struct buffer *b = &s->buffers[index];
	struct job *job = &s->jobs[b->park_job];

	if (!job->memory_waits || job->order != b->park_order)
		return false;
	b->next = job->parked;
	job->parked = index;
	return true;
}

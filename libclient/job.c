/* SPDX-License-Identifier: MIT */
/* job.c - managed rings: keep the table of jobs, their slots and their results */
#include <errno.h>
#include <stdlib.h>

#include "acquire.h"
#include "alone.h"
#include "clock.h"
#include "control.h"
#include "library.h"
#include "mine.h"
#include "queue.h"
#include "refusal.h"
#include "sleep.h"
#include "team.h"

/*
 * A quoit_job: generation << 32 | ring << 24 | slot.  It is also the job's user_data.  Since no
 * generation is 0, it never equals a push's user_data, which is below 2^32.
 */
#define SLOT_BITS 24u
#define SLOT_MASK ((1u << SLOT_BITS) - 1)

static quoit_job job_name(const struct quoit_ring *q, uint32_t index)
{
	return (uint64_t)q->jobs.slot[index].generation << 32 | q->index << SLOT_BITS | index;
}

/* ---- the table ---- */

int libquoit_job_init(struct quoit_ring *q, uint32_t jobs, bool stamps)
{
	struct job_table *t = &q->jobs;

	t->count = t->free_count = jobs + RESERVED_SLOTS;
	t->reserved = RESERVED_SLOTS;
	t->slot = aligned_alloc(QUOIT_LINE, t->count * sizeof *t->slot);
	t->stamps = stamps ? calloc(t->count, sizeof *t->stamps) : NULL;
	if (!t->slot || (stamps && !t->stamps))
		return -ENOMEM;
	for (uint32_t i = 0; i < t->count; i++)
		t->slot[i] = (struct job_slot){.generation = 1, .next = i + 1};
	t->slot[t->count - 1].next = NO_SLOT;
	return 0;
}

void libquoit_job_done(struct quoit_ring *q)
{
	free(q->jobs.slot);
	free(q->jobs.stamps);
}

static uint32_t take_slot(struct job_table *t)
{
	uint32_t index = t->free;

	t->free = t->slot[index].next;
	t->free_count--;
	return index;
}

void libquoit_job_end(struct quoit_ring *q, struct job_slot *slot)
{
	struct job_table *t = &q->jobs;

	if (++slot->generation == 0)
		slot->generation = 1;
	slot->state = JOB_FREE;
	slot->next = t->free;
	t->free = (uint32_t)(slot - t->slot);
	t->free_count++;
	t->reserved += slot->own;
}

/* The slot that a quoit_job or a user_data names, in any state; NULL: none. */
static struct job_slot *find_slot(const struct quoit_ring *q, quoit_job job)
{
	uint32_t index = job & SLOT_MASK;

	if (index >= q->jobs.count || job_name(q, index) != job)
		return NULL;
	return &q->jobs.slot[index];
}

struct job_slot *libquoit_job_find(struct quoit_ring *q, quoit_job job)
{
	struct job_slot *slot = find_slot(q, job);

	return slot && (slot->state == JOB_OPEN || slot->state == JOB_ENDED) ? slot : NULL;
}

/* ---- reaping ---- */

static void count_failure(struct job_table *t, const struct quoit_error *error)
{
	t->failures++;
	t->last_failure = *error;
}

/* The error record beside a CQE, or one made from the CQE alone. */
static struct quoit_error error_of(const struct quoit_ring *q, uint32_t at)
{
	const struct quoit_cqe *cqe = quoit_get_cqe(q, at);

	if (cqe->flags & QUOIT_CQE_ERROR)
		return *quoit_get_error(q, at);
	return (struct quoit_error){.user_data = cqe->user_data,
				    .cause = cqe->user_data,
				    .code = (int16_t)cqe->res,
				    .ring = (uint16_t)q->index};
}

static void release_piece(struct quoit_ring *q, struct job_slot *slot)
{
	if (!slot->piece)
		return;
	quoit_dealloc(q->session, q->staging[slot->piece - 1]);
	q->staging[slot->piece - 1] = NULL;
	slot->piece = 0;
}

/* Take over the ready CQE number `at`. */
static void settle(struct quoit_ring *q, uint32_t at)
{
	const struct quoit_cqe *cqe = quoit_get_cqe(q, at);
	struct job_slot *slot = find_slot(q, cqe->user_data);

	if (slot && (slot->state == JOB_OPEN || slot->state == JOB_DETACHED)) {
		slot->res = cqe->res;
		slot->failed = cqe->res < 0;
		if (slot->failed)
			slot->error = error_of(q, at);
		if (q->stamps)
			q->jobs.stamps[slot - q->jobs.slot] = *quoit_get_stamps(q, at);
		release_piece(q, slot);
		if (UNLIKELY(slot->hold) && libquoit_acquire_ended(q, slot, cqe))
			return;
		if (slot->state == JOB_OPEN) {
			slot->state = JOB_ENDED;
			return;
		}
		libquoit_job_end(q, slot);
	}
	if (cqe->res < 0) {
		struct quoit_error error = error_of(q, at);

		count_failure(&q->jobs, &error);
		libquoit_unmade_failed(q, &error);
	}
}

void libquoit_job_reap(struct quoit_ring *q)
{
	uint32_t n = libquoit_queue_ready(q);

	if (!n)
		return;
	for (uint32_t i = 0; i < n; i++)
		settle(q, i);
	libquoit_queue_release(q, n);
	__atomic_store_n(&q->client->last_reap, clock_ticks(), __ATOMIC_RELAXED);
}

/* ---- starting ---- */

static bool is_full(const struct job_table *t, bool own)
{
	return own ? !t->reserved : t->free_count <= t->reserved;
}

/*
 * Publish and reap.  If there is still no slot, a user's call fails, and the library's own call
 * waits until q->until.
 */
static __attribute__((noinline)) int make_room(struct quoit_ring *q, bool own)
{
	int err = quoit_flush(q); /* unpublished jobs would never end */

	libquoit_job_reap(q);
	while (!err && own && is_full(&q->jobs, own)) {
		err = libquoit_sleep_cq(q, q->until);
		libquoit_job_reap(q);
	}
	if (!is_full(&q->jobs, own))
		return 0;
	libquoit_sleep_look(q); /* the user may call again for ever */
	if (q->broken)
		return libquoit_refuse_broken(q);
	return err ? err
		   : libquoit_refuse(
			     q, -EAGAIN,
			     "the ring has %u names for jobs, and all are taken: wait for jobs, or "
			     "detach them",
			     q->jobs.count - RESERVED_SLOTS);
}

static int start(struct quoit_ring *q, const struct quoit_sqe *sqe, bool own, uint8_t piece,
		 quoit_job *ret)
{
	struct job_table *t = &q->jobs;
	struct job_slot *slot;
	uint32_t index, sq_index;
	int err;

	if (UNLIKELY(!libquoit_is_mine(q->mine)))
		return libquoit_refuse_child(q);
	if (UNLIKELY(sqe->opcode == QUOIT_OP_CALL)) {
		err = libquoit_team_check_call(q, sqe);
		if (err)
			return err;
	}
	if (UNLIKELY(is_full(t, own))) {
		err = make_room(q, own);
		if (err)
			return err;
	}
	err = libquoit_queue_take(q, &sq_index);
	if (err)
		return err;
	index = take_slot(t);
	slot = &t->slot[index];
	slot->state = piece ? JOB_DETACHED : JOB_OPEN;
	slot->piece = piece;
	slot->own = own;
	t->reserved -= own;
	slot->failed = false;
	slot->sq_index = sq_index;
	*ret = job_name(q, index);
	if (UNLIKELY(sqe->opcode == QUOIT_OP_CALL)) {
		const struct quoit_sqe call = libquoit_team_call(q, sqe);

		libquoit_queue_put(q, sq_index, &call, *ret);
		return 0;
	}
	libquoit_queue_put(q, sq_index, sqe, *ret);
	return 0;
}

int quoit_start_sqe(struct quoit_ring *q, const struct quoit_sqe *sqe, quoit_job *ret)
{
	if (q->raw)
		return libquoit_refuse_raw(q);
	if (UNLIKELY(sqe->reserved0))
		return libquoit_refuse_reserved(q, sqe);
	return start(q, sqe, false, 0, ret);
}

int libquoit_job_start(struct quoit_ring *q, struct quoit_sqe sqe, uint8_t piece, quoit_job *ret)
{
	return start(q, &sqe, true, piece, ret);
}

/* ---- asking ---- */

int libquoit_job_check(struct quoit_ring *q)
{
	if (!libquoit_is_mine(q->mine))
		return libquoit_refuse_child(q);
	if (q->raw)
		return libquoit_refuse_raw(q);
	if (alone_check(q))
		return -EBUSY;
	return 0;
}

int quoit_get_result(struct quoit_ring *q, quoit_job job)
{
	struct job_slot *slot;
	int err = libquoit_job_check(q);

	if (err)
		return err;
	slot = libquoit_job_find(q, job);
	if (!slot)
		return libquoit_refuse_job(q);
	if (slot->state == JOB_OPEN)
		libquoit_job_reap(q);
	if (slot->state == JOB_OPEN && libquoit_sleep_look(q))
		libquoit_job_reap(q);
	if (slot->state == JOB_ENDED)
		return slot->res;
	return q->broken ? libquoit_refuse_broken(q) : -EINPROGRESS;
}

bool quoit_get_job_error(struct quoit_ring *q, quoit_job job, struct quoit_error *ret)
{
	struct job_slot *slot;

	if (quoit_get_result(q, job) >= 0)
		return false;
	slot = libquoit_job_find(q, job);
	if (!slot || slot->state != JOB_ENDED)
		return false;
	*ret = slot->error;
	return true;
}

bool quoit_get_job_stamps(struct quoit_ring *q, quoit_job job, struct quoit_stamps *ret)
{
	struct job_slot *slot;

	(void)quoit_get_result(q, job);
	slot = libquoit_is_mine(q->mine) && !q->raw ? libquoit_job_find(q, job) : NULL;
	if (!slot || slot->state != JOB_ENDED)
		return false;
	if (!q->jobs.stamps) {
		(void)libquoit_refuse(q, -EINVAL,
				      "the ring was opened without QUOIT_RING_STAMPS, so its jobs "
				      "have no times");
		return false;
	}
	*ret = q->jobs.stamps[slot - q->jobs.slot];
	return true;
}

void quoit_detach(struct quoit_ring *q, quoit_job job)
{
	struct job_slot *slot;

	if (!libquoit_is_mine(q->mine) || q->raw)
		return;
	slot = libquoit_job_find(q, job);
	if (!slot)
		return;
	if (slot->state == JOB_OPEN) {
		slot->state = JOB_DETACHED;
		return;
	}
	if (slot->failed)
		count_failure(&q->jobs, &slot->error);
	libquoit_job_end(q, slot);
}

int quoit_cancel(struct quoit_ring *q, quoit_job job)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_CANCEL};
	struct job_slot *slot;
	int err = quoit_flush(q); /* so that quoitd can see the job's SQ index */

	if (err)
		return err;
	err = quoit_get_result(q, job);
	slot = q->raw ? NULL : libquoit_job_find(q, job);
	if (!slot)
		return err;
	if (slot->state == JOB_ENDED)
		return libquoit_refuse(q, -EALREADY, "the job has ended already");
	m.job.ring = q->index;
	m.job.sq_index = slot->sq_index;
	err = libquoit_control_ask(q->session, &m, -1);
	if (err == -EALREADY)
		return libquoit_refuse(
			q, err, "the job runs already, or has ended: it cannot be cancelled");
	return err ? libquoit_refuse(q, err, "%s", quoit_open_text()) : 0;
}

uint64_t quoit_count_failures(struct quoit_ring *q, struct quoit_error *ret_last)
{
	if (!libquoit_is_mine(q->mine) || q->raw)
		return 0;
	libquoit_job_reap(q);
	if (ret_last && q->jobs.failures)
		*ret_last = q->jobs.last_failure;
	return q->jobs.failures;
}

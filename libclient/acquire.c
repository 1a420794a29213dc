/* SPDX-License-Identifier: MIT */
/* acquire.c - acquire and release tensors: the program as one more worker */
#include "acquire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "clock.h"
#include "control.h"
#include "mine.h"
#include "named.h"
#include "refusal.h"
#include "seen.h"
#include "slot.h"
#include "wait.h"

enum hold_state {
	HOLD_FREE,
	HOLD_ASKED,   /* its job has not ended yet, as far as the ring was reaped */
	HOLD_GRANTED, /* the program may use the tensor */
	HOLD_GONE,    /* released while it was ASKED; its job's end is still to come */
	HOLD_UNTOLD,  /* the same, but quoitd had no room for the cancel: release what it grants */
};

struct hold {
	quoit_tensor t;
	uint32_t sq_index; /* of the acquire, by which quoitd knows it */
	uint8_t state;     /* enum hold_state */
	uint8_t *base;     /* of the shared region, or of a tensor with a name, */
	uint64_t bytes;    /* which has so many */
	uint64_t place;    /* of the first element, from there */
};

static struct hold *find(const struct quoit_ring *q, quoit_tensor t)
{
	for (unsigned i = 0; q->holds && i < QUOIT_MAX_HOLDS; i++) {
		struct hold *h = &q->holds[i];

		if (h->t == t && (h->state == HOLD_ASKED || h->state == HOLD_GRANTED))
			return h;
	}
	return NULL;
}

static int take(struct quoit_ring *q, struct hold **ret)
{
	if (!q->holds)
		q->holds = calloc(QUOIT_MAX_HOLDS, sizeof *q->holds);
	if (!q->holds)
		return libquoit_refuse(q, -ENOMEM, "there is not enough memory");
	for (unsigned i = 0; i < QUOIT_MAX_HOLDS; i++)
		if (q->holds[i].state == HOLD_FREE) {
			*ret = &q->holds[i];
			return 0;
		}
	return libquoit_refuse(
		q, -EMFILE,
		"the ring has acquired %u tensors, the most that is allowed: release "
		"some",
		QUOIT_MAX_HOLDS);
}

static int refuse_unheld(struct quoit_ring *q, quoit_tensor t)
{
	return libquoit_refuse(q, -EINVAL,
			       "this ring has not acquired tensor %#x: it was released already, or "
			       "was acquired on another ring or by another handle",
			       t);
}

/* ---- acquire ---- */

/* Where the tensor will be, once quoitd says at which place of it. */
static int find_base(struct quoit_ring *q, const struct tensor_record *record,
		     enum quoit_access access, struct hold *ret)
{
	int err = 0;

	ret->base = q->session->shared.base;
	ret->bytes = q->session->info.shared_bytes;
	if (record->named)
		err = libquoit_named_map(q->session, record->named - 1u,
					 access == QUOIT_ACCESS_WRITE, &ret->base, &ret->bytes);
	return err ? libquoit_refuse(q, err, "%s", quoit_open_text()) : 0;
}

/* own: the job's name is not the program's. */
static int ask(struct quoit_ring *q, quoit_tensor t, enum quoit_access access, bool own,
	       quoit_job *ret, const char *here)
{
	struct quoit_sqe sqe = {.opcode = access == QUOIT_ACCESS_WRITE ? QUOIT_OP_ACQUIRE_WRITE
								       : QUOIT_OP_ACQUIRE_READ,
				.tensor = {t}};
	const struct tensor_record *record;
	struct job_slot *slot;
	struct hold *h = NULL, place;
	int err;

	if (!libquoit_is_mine(q->mine))
		return libquoit_refuse_child(q);
	if (access != QUOIT_ACCESS_READ && access != QUOIT_ACCESS_WRITE)
		return libquoit_refuse(q, -EINVAL,
				       "unknown access %d: allowed are QUOIT_ACCESS_READ and "
				       "QUOIT_ACCESS_WRITE",
				       (int)access);
	record = libquoit_tensor_find(q->session, t);
	if (!record)
		return libquoit_refuse_tensor(q, -EINVAL, t);
	if (find(q, t))
		return libquoit_refuse(
			q, -EALREADY, "this ring has acquired tensor %#x already: release it first",
			t);
	err = find_base(q, record, access, &place);
	if (!err)
		err = take(q, &h);
	sqe.arg = (uint8_t)libquoit_site_find(&q->sites, here);
	if (!err)
		err = own ? libquoit_job_start(q, sqe, 0, ret) : quoit_start_sqe(q, &sqe, ret);
	if (err)
		return err;
	slot = libquoit_job_find(q, *ret);
	slot->hold = (uint8_t)(h - q->holds + 1);
	*h = (struct hold){.t = t,
			   .sq_index = slot->sq_index,
			   .state = HOLD_ASKED,
			   .base = place.base,
			   .bytes = place.bytes};
	return 0;
}

/*
 * Release it by the control socket, which has room at any time.  -EBUSY: its SQE has not been
 * fetched, and quoitd keeps no more cancels of such.
 */
static int cancel(struct quoit_ring *q, const struct hold *h)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_CANCEL,
			      .job = {.ring = q->index, .sq_index = h->sq_index}};
	int err = libquoit_control_ask(q->session, &m, -1);

	return err == -EALREADY ? 0 : err;
}

/* quoitd has granted it, but says a place that cannot be. */
static bool is_impossible(const struct hold *h, const struct quoit_cqe *cqe)
{
	return cqe->res >= 0 && QUOIT_CQE_PLACE(cqe) > h->bytes;
}

bool libquoit_acquire_ended(struct quoit_ring *q, struct job_slot *slot,
			    const struct quoit_cqe *cqe)
{
	struct hold *h = &q->holds[slot->hold - 1];
	bool untold = h->state == HOLD_UNTOLD, gone = h->state == HOLD_GONE || untold;

	slot->hold = 0;
	h->state = HOLD_FREE;
	if (is_impossible(h, cqe)) {
		q->broken = -EPROTO;
		return false;
	}
	if (cqe->res >= 0 && !gone) {
		h->state = HOLD_GRANTED;
		h->place = QUOIT_CQE_PLACE(cqe);
	}
	if (cqe->res >= 0 && untold)
		(void)cancel(q, h);
	if (cqe->res >= 0)
		slot->res = 0;
	if (!gone || slot->state != JOB_DETACHED)
		return false;
	libquoit_job_end(q, slot);
	return true;
}

int quoit_get_pointer(struct quoit_ring *q, quoit_tensor t, void **ret)
{
	struct hold *h;
	int err = libquoit_job_check(q);

	if (err)
		return err;
	h = find(q, t);
	if (h && h->state == HOLD_ASKED) {
		libquoit_job_reap(q);
		h = find(q, t);
	}
	if (!h)
		return refuse_unheld(q, t);
	if (h->state == HOLD_ASKED)
		return q->broken ? libquoit_refuse_broken(q) : -EINPROGRESS;
	seen_acquire(q->session);
	*ret = h->base + h->place;
	return 0;
}

int quoit_start_acquire_at(struct quoit_ring *q, quoit_tensor t, enum quoit_access access,
			   quoit_job *ret, const char *here)
{
	return q->raw ? libquoit_refuse_raw(q) : ask(q, t, access, false, ret, here);
}

/* ---- release ---- */

static bool is_full(struct quoit_ring *q)
{
	return !quoit_ring_space(&q->sq) &&
	       (!quoit_ring_refresh(&q->sq) || !quoit_ring_space(&q->sq));
}

static int push(struct quoit_ring *q, const struct hold *h)
{
	uint32_t index;
	uint64_t *to;
	int err = slot_take(q, &index);

	if (err)
		return err;
	to = slot_words(q, index);
	to[0] = slot_header(QUOIT_OP_RELEASE, 0, 0);
	to[1] = slot_user_data(q, index, 0);
	to[2] = to[3] = to[4] = to[6] = to[7] = 0;
	to[5] = h->sq_index;
	slot_done(q, index);
	return 0;
}

/*
 * If the SQ is full, its SQEs may wait for this very release.  If it is not, quoitd looks for the
 * release behind them.
 */
static int release(struct quoit_ring *q, struct hold *h)
{
	int err;

	seen_release(q->session);
	if (is_full(q)) {
		err = quoit_flush(q);
		if (!err && is_full(q))
			err = cancel(q, h);
		else if (!err)
			err = push(q, h);
	} else {
		err = push(q, h);
	}
	if (err)
		return err;
	h->state = h->state == HOLD_ASKED ? HOLD_GONE : HOLD_FREE;
	return quoit_flush(q);
}

int quoit_release_tensor(struct quoit_ring *q, quoit_tensor t)
{
	struct hold *h;
	int err = libquoit_job_check(q);

	if (err)
		return err;
	h = find(q, t);
	return h ? release(q, h) : refuse_unheld(q, t);
}

void libquoit_acquire_release_all(struct quoit_ring *q)
{
	for (unsigned i = 0; q->holds && i < QUOIT_MAX_HOLDS; i++)
		if (q->holds[i].state == HOLD_ASKED || q->holds[i].state == HOLD_GRANTED)
			(void)release(q, &q->holds[i]);
}

/* ---- both ---- */

/* The wait has ended before the job: the program does not get the tensor any more. */
static void give_up(struct quoit_ring *q, quoit_tensor t, struct job_slot *slot)
{
	struct hold *h = find(q, t);

	slot->state = JOB_DETACHED;
	if (h && release(q, h) < 0 && h->state == HOLD_ASKED)
		h->state = HOLD_UNTOLD;
}

int quoit_acquire_at(struct quoit_ring *q, quoit_tensor t, enum quoit_access access, int timeout_ms,
		     void **ret, const char *here)
{
	struct job_slot *slot;
	quoit_job job;
	int err = libquoit_wait_begin(q);

	if (!err)
		err = ask(q, t, access, true, &job, here);
	if (err)
		return err;
	err = libquoit_wait_job(q, job, clock_deadline(timeout_ms), here);
	if (err >= 0)
		return quoit_get_pointer(q, t, ret);
	if (err == -EOWNERDEAD && !libquoit_is_mine(q->mine))
		return err;
	slot = libquoit_job_find(q, job);
	if (slot)
		give_up(q, t, slot);
	return err;
}

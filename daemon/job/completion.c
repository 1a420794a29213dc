/* SPDX-License-Identifier: MIT */
/* completion.c - posts CQEs and wakes the clients that wait for them */
#include "completion.h"

#include <errno.h>

#include "base/tsc.h"
#include "observe/sample.h"
#include "probes.h"
#include "session/owner.h"

int completion_credits(struct ring *r)
{
	uint32_t most = r->layout.cq_entries;

	if (r->no_completions)
		return (int)most; /* the client does not read this CQ, and nothing is put there */
	if (!completion_has_plenty(r)) {
		if (!quoit_ring_refresh(&r->cq))
			return -EPROTO;
		sample_collect(r);
	}
	return (int)(most - r->in_flight - (r->cq.next - r->cq.cached_head));
}

static void fill_error(struct ring *r, uint32_t slot, const struct quoit_sqe *sqe, int32_t res,
		       const struct quoit_error *error)
{
	struct quoit_error e = error ? *error : (struct quoit_error){0};

	if (!e.code) /* this job is the first cause */
		e.code = (int16_t)res;
	if (res != -QUOIT_EPOISON)
		completion_name_cause(&e, r, sqe);
	e.user_data = sqe->user_data;
	r->errors[slot] = e;
}

/* Stamps as raw counter values, for comparison with those that the client reads itself. */
static struct quoit_stamps raw_stamps(const struct quoit_stamps *s)
{
	return (struct quoit_stamps){.submit = s->submit,
				     .fetch = tsc_raw(s->fetch),
				     .start = tsc_raw(s->start),
				     .end = tsc_raw(s->end),
				     .post = tsc_raw(s->post),
				     .device_start = tsc_raw(s->device_start),
				     .device_end = tsc_raw(s->device_end),
				     .device_error = s->device_error};
}

void completion_post(struct ring *r, const struct quoit_sqe *sqe, int32_t res,
		     const struct quoit_error *error, const struct quoit_stamps *stamps)
{
	uint32_t index, slot;

	if (r->no_completions || (sqe->flags & QUOIT_SQE_QUIET && res >= 0))
		return;
	index = r->cq.next++;
	slot = index & (r->layout.cq_entries - 1);
	r->cqes[slot] = (struct quoit_cqe){
		.user_data = sqe->user_data, .res = res, .flags = res < 0 ? QUOIT_CQE_ERROR : 0};
	if (res < 0)
		fill_error(r, slot, sqe, res, error);
	if (r->stamps && stamps)
		r->stamps[slot] = raw_stamps(stamps);
	r->dirty = true;
}

void completion_add_flags(struct ring *r, uint32_t index, uint32_t flags)
{
	r->cqes[index & (r->layout.cq_entries - 1)].flags = flags;
}

static void wake(struct ring *r)
{
	probe_wake(r);
	r->session->wakes++;
	reactor_bells_ring(r, BELL_WAKE);
}

static void ring_descriptor(struct ring *r)
{
	uint32_t arm = __atomic_load_n(&r->client->arm, __ATOMIC_SEQ_CST); /* W1 */

	if (arm == r->armed)
		return;
	r->armed = arm;
	reactor_bells_ring(r, BELL_RING);
}

/*
 * Once for each sleep is enough, unless the sleeper is one of several threads: it may get no core
 * for long, while another would.
 */
static bool must_wake(struct ring *r, bool asked)
{
	if (asked && r->team && __atomic_load_n(&r->client->lanes, __ATOMIC_RELAXED) > 1)
		return true;
	return quoit_ring_must_ring(&r->cq, asked);
}

/* alone: the only new CQE; it travels in the tail's cache line.  NULL: there are several. */
static inline void publish(struct ring *r, const struct quoit_cqe *alone)
{
	uint64_t word[QUOIT_CQ_CARRIES];
	bool asked;

	if (alone) {
		word[0] = alone->flags;
		word[1] = alone->user_data;
		word[2] = (uint32_t)alone->res;
	}
	probe_post(r);
	asked = quoit_ring_submit_line(&r->cq, alone ? word : NULL, QUOIT_CQ_CARRIES,
				       &r->client->cq_wait);
	if (must_wake(r, asked)) {
		wake(r);
		quoit_ring_rang(&r->cq);
	}
	ring_descriptor(r);
}

void completion_answer(struct ring *r, uint64_t user_data)
{
	const struct quoit_cqe cqe = {.user_data = user_data};

	r->cqes[r->cq.next++ & (r->layout.cq_entries - 1)] = cqe;
	publish(r, &cqe);
}

void completion_flush(struct ring *r)
{
	const struct quoit_cqe *first = &r->cqes[r->cq.published & (r->layout.cq_entries - 1)];

	r->dirty = false;
	sample_flush(r);
	publish(r, r->cq.next - r->cq.published == 1 ? first : NULL);
}

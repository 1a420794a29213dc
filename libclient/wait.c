/* SPDX-License-Identifier: MIT */
/* wait.c - waits of managed rings, counted under the place that called them */
#include <errno.h>
#include <string.h>

#include "alone.h"
#include "clock.h"
#include "event.h"
#include "library.h"
#include "mine.h"
#include "refusal.h"
#include "sleep.h"
#include "wait.h"

/* ---- a wait, as counters and recorders see it ---- */

struct waiting {
	uint32_t site;
	uint64_t begun; /* ticks */
};

static struct waiting begin(struct quoit_ring *q, const char *here)
{
	struct waiting w = {libquoit_site_find(&q->sites, here), clock_ticks()};

	libquoit_event(q, QUOIT_EVENT_WAIT, q->cq.next, w.site);
	return w;
}

static void end(struct quoit_ring *q, const struct waiting *w)
{
	if (UNLIKELY(!libquoit_is_mine(q->mine))) /* a function that it ran has forked: a child */
		return;
	libquoit_site_count(&q->sites, w->site, clock_ticks() - w->begun);
	libquoit_event(q, QUOIT_EVENT_GO, q->cq.next, w->site);
}

/* ---- waits ---- */

/* How many of the jobs have ended; -EINVAL: one of them does not exist. */
static int count_ended(struct quoit_ring *q, const quoit_job *jobs, unsigned count)
{
	int ended = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct job_slot *slot = libquoit_job_find(q, jobs[i]);

		if (!slot)
			return libquoit_refuse_job(q);
		ended += slot->state == JOB_ENDED;
	}
	return ended;
}

/* Reap and sleep until n of the jobs have ended.  Returns how many have, or why the wait ended. */
static int sleep_until(struct quoit_ring *q, const quoit_job *jobs, unsigned count, int n,
		       uint64_t deadline)
{
	for (;;) {
		int ended = count_ended(q, jobs, count), err;

		if (ended < 0 || ended >= n)
			return ended;
		err = libquoit_sleep_cq(q, deadline);
		if (err)
			return err;
		libquoit_job_reap(q);
	}
}

static int wait_jobs(struct quoit_ring *q, const quoit_job *jobs, unsigned count, int n,
		     uint64_t deadline, const char *here)
{
	struct waiting w;
	int ended;

	/* quoitd may be gone, but CQEs that it posted still count */
	if (quoit_flush(q) == -EOWNERDEAD)
		return -EOWNERDEAD;
	libquoit_job_reap(q);
	ended = count_ended(q, jobs, count);
	if (ended < 0 || ended >= n)
		return ended;
	w = begin(q, here);
	ended = sleep_until(q, jobs, count, n, deadline);
	end(q, &w);
	return ended;
}

int libquoit_wait_progress(struct quoit_ring *q, const char *here)
{
	struct waiting w = begin(q, here);
	int err;

	(void)quoit_flush(q);
	err = libquoit_sleep_cq(q, NEVER);
	if (err != -EOWNERDEAD)
		libquoit_job_reap(q);
	end(q, &w);
	return err;
}

int libquoit_wait_begin(struct quoit_ring *q)
{
	if (!libquoit_is_mine(q->mine))
		return libquoit_refuse_child(q);
	if (alone_check(q))
		return -EBUSY;
	q->wait_failed = false;
	q->refusal.error = 0;
	return q->raw ? libquoit_refuse_raw(q) : 0;
}

int libquoit_wait_job(struct quoit_ring *q, quoit_job job, uint64_t deadline, const char *here)
{
	int ended = wait_jobs(q, &job, 1, 1, deadline, here);
	struct job_slot *slot;

	if (ended < 0)
		return ended;
	slot = libquoit_job_find(q, job);
	if (slot->failed && !q->wait_failed) {
		q->wait_error = slot->error;
		q->wait_failed = true;
	}
	libquoit_job_end(q, slot);
	return slot->res;
}

int quoit_wait_at(struct quoit_ring *q, quoit_job job, int timeout_ms, const char *here)
{
	int err = libquoit_wait_begin(q);

	return err ? err : libquoit_wait_job(q, job, clock_deadline(timeout_ms), here);
}

bool quoit_get_wait_error(struct quoit_ring *q, struct quoit_error *ret)
{
	if (!libquoit_is_mine(q->mine) || !q->wait_failed)
		return false;
	*ret = q->wait_error;
	return true;
}

int quoit_wait_n_at(struct quoit_ring *q, const quoit_job *jobs, unsigned count, unsigned n,
		    int timeout_ms, const char *here)
{
	int err = libquoit_wait_begin(q);

	if (err)
		return err;
	if (n > count || count > INT32_MAX)
		return libquoit_refuse(q, -EINVAL, "cannot wait for %u jobs of %u", n, count);
	return wait_jobs(q, jobs, count, (int)n, clock_deadline(timeout_ms), here);
}

int quoit_wait_any_at(struct quoit_ring *q, const quoit_job *jobs, unsigned count, int timeout_ms,
		      const char *here)
{
	return quoit_wait_n_at(q, jobs, count, 1, timeout_ms, here);
}

int quoit_wait_all_of_at(struct quoit_ring *q, const quoit_job *jobs, unsigned count,
			 int timeout_ms, const char *here)
{
	return quoit_wait_n_at(q, jobs, count, count, timeout_ms, here);
}

/*
 * Submit a job of a wait, within the wait's deadline, and under its call site, so that stamps can
 * tell such jobs apart.
 */
static int start_here(struct quoit_ring *q, struct quoit_sqe sqe, uint64_t deadline,
		      const char *here, quoit_job *ret)
{
	int err;

	q->until = deadline;
	q->site = q->stamps ? libquoit_site_find(&q->sites, here) : 0;
	err = libquoit_job_start(q, sqe, 0, ret);
	q->until = NEVER;
	q->site = 0;
	return err;
}

/*
 * Submit a job that only this wait knows, and wait for it; if it does not end in time, it is
 * detached.
 */
static int start_and_wait(struct quoit_ring *q, struct quoit_sqe sqe, int timeout_ms,
			  const char *here)
{
	uint64_t deadline = clock_deadline(timeout_ms);
	quoit_job job;
	int err = libquoit_wait_begin(q);

	if (!err)
		err = start_here(q, sqe, deadline, here, &job);
	if (err)
		return err;
	err = libquoit_wait_job(q, job, deadline, here);
	quoit_detach(q, job);
	return err;
}

int quoit_wait_tensor_at(struct quoit_ring *q, quoit_tensor t, int timeout_ms, const char *here)
{
	int err;

	if (t != QUOIT_NO_TENSOR)
		return start_and_wait(q, quoit_nop(t), timeout_ms, here);
	err = libquoit_wait_begin(q);
	if (err)
		return err;
	return q->broken ? libquoit_refuse_broken(q) : libquoit_refuse_tensor(q, -EBADF, t);
}

int quoit_wait_all_at(struct quoit_ring *q, int timeout_ms, const char *here)
{
	return start_and_wait(q, quoit_after_all(), timeout_ms, here);
}

/* Wait until at most n batches are left in the window. */
static int shrink_window(struct quoit_ring *q, unsigned n, uint64_t deadline, const char *here)
{
	while (q->window_count > n) {
		int err = libquoit_wait_job(q, q->window[0], deadline, here);

		if (err)
			return err;
		q->window_count--;
		memmove(q->window, q->window + 1, q->window_count * sizeof *q->window);
	}
	return 0;
}

int quoit_window_at(struct quoit_ring *q, unsigned n, int timeout_ms, const char *here)
{
	uint64_t deadline = clock_deadline(timeout_ms);
	int err = libquoit_wait_begin(q);

	if (!err && n > QUOIT_MAX_WINDOW)
		err = libquoit_refuse(q, -EINVAL,
				      "the window has %u batches: at most %u are allowed", n,
				      QUOIT_MAX_WINDOW);
	if (!err)
		err = shrink_window(q, QUOIT_MAX_WINDOW - 1, deadline, here);
	if (!err)
		err = start_here(q, quoit_after_all(), deadline, here, &q->window[q->window_count]);
	if (err)
		return err;
	q->window_count++;
	return shrink_window(q, n, deadline, here);
}

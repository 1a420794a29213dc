/* SPDX-License-Identifier: MIT */
/* backend_acquire.c - "runs" acquires: the program itself uses their tensors */
#include <errno.h>

#include "backend/backend.h"
#include "base/tsc.h"
#include "job/hold.h"
#include "job/probes.h"
#include "memory/sigbus_guard.h"

static int grant(struct reactor *r, struct session *s, struct job *job)
{
	struct ring *ring = s->rings[job->ring];
	int err = sigbus_guard_result(s, job->tensors, job->view, &job->error);

	job->start = job->end = tsc_now();
	probe_start(s, job);
	if (err || ring->no_completions) { /* then the program does not look any more */
		reactor_end_job(r, s, job, err);
		return 0;
	}
	if (!hold_is_allowed(s, job)) {
		s->holds.refused++;
		reactor_end_job(r, s, job, -EMFILE);
		return 0;
	}
	reactor_leave_hold(r, s, job);
	return 0;
}

const struct backend acquire_backend = {.start = grant};

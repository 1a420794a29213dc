/* SPDX-License-Identifier: MIT */
/*
 * line.h - long jobs that wait for each other, one behind the other with the workers.
 *
 * A job that waits for one running job alone is published behind it (worker_follow): the worker that
 * runs the last tile ahead offers the job's tiles at once.  It still counts as waiting until the
 * reactor hears that the job ahead has ended, and then as running.  If that one fails, the job is
 * taken out of the line and starts or ends as any other.
 */
#ifndef QUOITD_LINE_H
#define QUOITD_LINE_H

#include "session/owner.h"
#include "session/session.h"
#include "worker.h"

/* Let jobs follow the session's running ones.  True: there were some. */
bool line_extend(struct reactor *r, struct session *s);

/*
 * `ahead` has ended, and its job is about to.  What is behind it runs, or waits as any other job.
 * Returns the work that runs; NULL: there is none.
 */
struct work *line_advance(struct reactor *r, const struct work *ahead);

/* Make a job that follows wait as any other; false: it may have begun. */
bool line_take_back(struct reactor *r, struct session *s, struct job *job);

#endif

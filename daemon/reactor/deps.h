/* SPDX-License-Identifier: MIT */
/*
 * deps.h - who waits for whom: hazards on the bytes of buffers, links, AFTER_ALL.
 *
 * Each buffer has a list of the open jobs that write it and one of those that read
 * it.  A job waits for every open job before it whose bytes overlap its own where
 * one of the two writes; of views with gaps, extent.h says whether they do.  A write
 * that covers an older access, or has the very same bytes, takes it off the
 * lists: whoever conflicts with that one conflicts with the write too.  So a read
 * looks only at open writers, mostly one or none.
 *
 * An edge hangs off the job that is waited for; job->waits counts what is left.
 * Owned by the session's reactor.
 */
#ifndef QUOITD_DEPS_H
#define QUOITD_DEPS_H

#include "session/session.h"

/*
 * A job that would have to wait for more jobs than this is not fetched before some
 * of them are done: bounds the cost of one fetch against a hostile job graph.
 */
#define DEPS_MAX_EDGES 192

/*
 * What a look at one access in a list costs, about.  A list may have one of every open job, and
 * a session's next SQEs may all be about it: session.looks counts, and so a ring's turn ends.
 */
#define DEPS_LOOK_NS      3u
#define DEPS_EXTENT_LOOKS 32u /* that of comparing extents, in looks */

/*
 * Does any open job before it conflict with this access?  Used before a job has an
 * entry, to find out whether it can run at once.
 */
bool deps_conflict(struct session *s, const struct view *v, bool write);

/*
 * Put the job into the lists of its buffers and make its edges; job->waits goes up.
 * access[i].lo, hi and write are set by the caller for each used tensor.
 * link: an open job to wait for besides, or NIL.  -EAGAIN: too many edges, and
 * nothing has changed.
 */
int deps_add(struct session *s, struct job *job, uint32_t link);

typedef void deps_ready_fn(struct session *s, struct job *job);

/*
 * The job is in a stream of a device, which orders what comes behind it there: those who wait
 * for it and go to the same device need not wait here.  Calls ready() for each that waits for
 * no others.
 */
void deps_in_stream(struct session *s, struct job *job, deps_ready_fn *ready);

/*
 * The same of a job in its device's direct ring, for those behind it that may go there, too.
 */
void deps_in_direct(struct session *s, struct job *job, deps_ready_fn *ready);

/*
 * The job has ended, at this TSC: take it off the lists and count down those who wait for it.
 * Calls ready() for each whose last wait this was.
 */
void deps_remove(struct session *s, struct job *job, uint64_t now, deps_ready_fn *ready);

/* ---- jobs of one ring by their SQ index ---- */

void deps_ring_insert(struct ring *r, struct job *job);
void deps_ring_remove(struct ring *r, struct job *job);

/* The open job with this SQ index, NULL: none (it has ended). */
struct job *deps_ring_find(const struct ring *r, uint32_t sq_index);

/* ---- AFTER_ALL: the jobs of a ring lie in segments, each ended by one such NOP ---- */

/*
 * Is there no room for one more AFTER_ALL job?  Those whose CQE is out (cancelled, late) but
 * that still wait hold no completion credit, so that credits alone do not bound them.
 */
bool deps_segments_full(const struct ring *r);

/* An ordinary job joins the current segment. */
void deps_segment_join(struct ring *r, struct job *job);

/* An AFTER_ALL job ends the current segment, waits for it, and is the first of the next. */
void deps_segment_end(struct ring *r, struct job *job);

/* A job that joined has ended. */
void deps_segment_leave(struct ring *r, const struct job *job);

/* The next AFTER_ALL job whose segments are all done, NULL: none. */
struct job *deps_segment_next(struct ring *r);

#endif

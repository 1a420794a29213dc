/* SPDX-License-Identifier: MIT */
/*
 * deps.h - which job waits for which: hazards on the bytes of buffers, links, AFTER_ALL.
 *
 * Each buffer has a list of the open jobs that write it and one of those that read it.  A job waits
 * for every open job before it whose bytes overlap its own, if one of the two writes.  For views
 * with gaps, extent.h decides whether they overlap.  A write that covers an older access, or has
 * the very same bytes, takes it off the lists: a job that conflicts with the access conflicts with
 * the write, too.  So a read looks only at open writers, mostly one or none.
 *
 * An edge hangs off the job that is waited for; job->waits counts what is left.  Owned by the
 * session's reactor.
 *
 * An access that the program itself has (hold.h) is a job here, from its acquire to its release.
 */
#ifndef QUOITD_DEPS_H
#define QUOITD_DEPS_H

#include "session/session.h"

/*
 * A job that would wait for more jobs than this is not fetched before some of them are done.  This
 * bounds the cost of one fetch against a hostile job graph.
 */
#define DEPS_MAX_EDGES 192

/*
 * About how long it takes to look at one access in a list.  A list may hold an access of every open
 * job, and a session's next SQEs may all need that list.  So session.looks counts the looks, and
 * they are charged to the ring's turn.
 */
#define DEPS_LOOK_NS      3u
#define DEPS_EXTENT_LOOKS 32u /* cost of comparing two extents, in looks */

/*
 * Does any open job conflict with this access?  Used before a job has an entry, to find out whether
 * it can run at once.
 */
bool deps_conflict(struct session *s, const struct view *v, bool write);

/*
 * Put the job into the lists of its buffers and make its edges; job->waits goes up.  The caller has
 * set access[i].lo, hi and write of each used tensor.  link: an open job to wait for as well, or
 * NIL.  -EAGAIN: too many edges, and nothing has changed.
 */
int deps_add(struct session *s, struct job *job, uint32_t link);

typedef void deps_ready_fn(struct session *s, struct job *job);

/*
 * The job is in a stream of its device, and the device keeps the order there.  So a job that waits
 * for it and goes to the same device need not wait here.  Calls ready() for each that waits for no
 * others.
 */
void deps_in_stream(struct session *s, struct job *job, deps_ready_fn *ready);

/* The same for a job in its device's direct ring, and for jobs behind it that may go there, too. */
void deps_in_direct(struct session *s, struct job *job, deps_ready_fn *ready);

/*
 * The job has ended at this TSC value: take it off the lists and count down the jobs that wait for
 * it.  Calls ready() for each that waits for nothing else.
 */
void deps_remove(struct session *s, struct job *job, uint64_t now, deps_ready_fn *ready);

/*
 * The job is an acquire that was granted at this TSC value (hold.h).  writes: bit i: the program may
 * write tensor i.  Jobs that use these bytes wait until deps_remove.  Others go on: those that wait
 * by a link, and those that wait only because the bytes were not there yet when this job, or they
 * themselves, were fetched.  Of the latter only those that no job waits for: see deps.c.
 */
void deps_hold(struct session *s, struct job *job, uint8_t writes, uint64_t now,
	       deps_ready_fn *ready);

/* ---- jobs of one ring by their SQ index ---- */

void deps_ring_insert(struct ring *r, struct job *job);
void deps_ring_remove(struct ring *r, struct job *job);

/* The open job with this SQ index; NULL: it has ended, or never was a job. */
struct job *deps_ring_find(const struct ring *r, uint32_t sq_index);

/* ---- AFTER_ALL: the jobs of a ring lie in segments, each ended by one such NOP ---- */

/*
 * Is there no room for one more AFTER_ALL job?  Credits alone do not bound their number: one that
 * has its CQE (cancelled, late) but still waits holds no completion credit.
 */
bool deps_segments_full(const struct ring *r);

/* An ordinary job joins the current segment. */
void deps_segment_join(struct ring *r, struct job *job);

/* An AFTER_ALL job ends the current segment, waits for it, and is the first of the next. */
void deps_segment_end(struct ring *r, struct job *job);

/* A job that joined a segment has ended. */
void deps_segment_leave(struct ring *r, const struct job *job);

/* The next AFTER_ALL job whose segment is done, and all segments before it; NULL: none. */
struct job *deps_segment_next(struct ring *r);

#endif

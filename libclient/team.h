/* SPDX-License-Identifier: MIT */
/*
 * team.h - teams: threads of the program that run its own functions as jobs.
 *
 * A team has a ring, whose CQEs are calls (QUOIT_RING_CALLS of ctl.h).  Many threads take calls from
 * it: whoever moves the CQ's head over a call has it.  They put returns into its SQ one at a time,
 * under a lock.
 *
 * A thread that finds no call seeks: it looks again and again for a short while.  Then it sleeps on
 * the CQ's tail.  quoitd is asked to wake sleepers (cq_wait) only while nobody seeks, so that a call
 * which a seeker takes at once costs no system call.
 */
#ifndef LIBQUOIT_TEAM_H
#define LIBQUOIT_TEAM_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include <quoit/ctl.h>

#include "library.h"

/* The last failures that came with words. */
#define TEAM_TEXTS 32u

struct team_text {
	uint64_t user_data; /* of the call's job */
	uint32_t ring;
	int code; /* 0: an empty entry */
	char text[QUOIT_CALL_TEXT_BYTES];
};

/* A call that is cut into pieces, on the stack of the thread that took it. */
struct cut_call {
	const struct quoit_function *function;
	const struct quoit_exec_call *call;
	/* under team->rest, as all that follows */
	uint32_t next;   /* the next piece; call->pieces: all are taken */
	uint32_t left;   /* pieces that have not ended */
	uint32_t failed; /* the first piece that failed, and what it said; valid if result < 0 */
	int result;
	struct quoit_exec_call said;
	struct cut_call *link;
};

struct lane {
	struct quoit_team *team;
	pthread_t thread;
	unsigned number;
	int cpu; /* -1: it may run on any */
};

enum team_closing {
	TEAM_CLOSES = 1,
	TEAM_CLOSES_AND_SERVES = 2, /* a service whose last functions may wait for its calls */
};

struct quoit_team {
	struct quoit_session *session;
	struct quoit_ring *ring;
	struct serve *serve;     /* of a team that serves a service (serve.h); else NULL */
	struct quoit_team *next; /* in the session's list, which session->list guards */
	struct quoit_function *functions;
	unsigned count;
	struct lane *lanes;
	unsigned lane_count;
	uint32_t closing; /* atomic; 0 or enum team_closing */
	bool laneless;    /* QUOIT_TEAM_NO_LANES */

	pthread_mutex_t returning; /* guards the ring's SQ, and results of a service */

	pthread_mutex_t rest; /* guards what follows */
	pthread_cond_t left;  /* a helper has left, or a cut call's last piece has ended */
	uint32_t sleepers;    /* atomic for readers; written under the lock */
	uint32_t seekers;
	uint32_t served_by;   /* as the ring's word `lanes` says */
	uint32_t helpers;     /* threads that may be in this team: lanes, and those that wait */
	bool asks_wake;       /* as the ring's word cq_wait says */
	uint32_t suspended;   /* of a service: functions that sleep until a job ends; atomic */
	struct cut_call *cut; /* atomic for readers: calls with pieces that nobody has taken */
	struct team_text texts[TEAM_TEXTS];
	uint32_t text_count;
};

/* A call that a thread has taken. */
struct taken {
	uint64_t id; /* its CQE's user_data */
	struct quoit_call_entry entry;
	const struct quoit_function
		*function;     /* NULL: it is none, but a refused return, or the next */
	uint32_t left;         /* not 0: the caller of this number calls no more */
	struct caller *caller; /* of a service: held; NULL: there was no memory to note it */
};

/* A call, or a piece of one, that a thread is to run. */
struct team_work {
	struct quoit_team *team;
	bool is_piece;
	struct taken call;
	struct cut_call *cut;
	uint32_t piece;
};

/* ---- team_serve.c ---- */

/* Take a call, or a piece of one; false: there is none.  Run what was taken. */
bool libquoit_team_take(struct quoit_team *t, struct team_work *ret);
void libquoit_team_run(struct team_work *w);

/*
 * Run calls until a time of clock.h, or until the team is closed or quoitd is gone.  Returns how
 * many calls, or pieces of one, it ran.  -EOWNERDEAD: a function has forked, and this is the child,
 * in which nothing of the team may be touched.
 */
int libquoit_team_serve_until(struct quoit_team *t, uint64_t deadline);

/* Return all calls that nobody has taken, as cancelled; not for a service. */
void libquoit_team_refuse_all(struct quoit_team *t);

/* The SQE of a call, as it is put into the ring. */
struct quoit_sqe libquoit_team_call(struct quoit_ring *q, const struct quoit_sqe *sqe);

/* ---- team_tensors.c ---- */

/*
 * Fill in the tensors of a call, where this process has them.  -EPROTO: quoitd names what cannot be;
 * any other failure is the call's, and says why in c->text.  *ret_named: which of them have names; they
 * stay mapped until unfill, which also a call that fails needs.
 */
int libquoit_team_fill(struct quoit_team *t, const struct taken *k, struct quoit_exec_call *c,
		       unsigned *ret_named);
void libquoit_team_unfill(struct quoit_team *t, const struct taken *k, unsigned named);

/* ---- team_inside.c ---- */

/*
 * The functions that a thread is in.  The team is that of the innermost one.  mine: its session's; in
 * a child that a function has forked it tells that the child is in none of them.
 */
struct team_inside {
	unsigned depth;
	const uint32_t *mine;
	struct quoit_team *team;
};

/* This thread is about to run a function of the team; leave takes what enter has returned. */
struct team_inside libquoit_team_enter(struct quoit_team *t);
void libquoit_team_leave(struct team_inside outer);

/* In how many functions this thread is; more than one if a function waits and runs others. */
unsigned libquoit_team_depth(void);

/*
 * This thread waits until jobs of the ring end.  If it is in a function of a service, it can run
 * other calls meanwhile: say so in the team's ring.  Returns that team, for the other two; or NULL.
 */
struct quoit_team *libquoit_team_suspend(const struct quoit_ring *q);
void libquoit_team_resume(struct quoit_team *t);

/* Before it sleeps: quoitd may sleep, too, and then does not look at that. */
void libquoit_team_wake_quoitd(const struct quoit_team *t);

/*
 * May this thread put in this call?  -EDEADLK: it is in so many functions that it runs no more, or
 * functions of its service wait for so many calls that no more can come.
 */
int libquoit_team_check_call(struct quoit_ring *q, const struct quoit_sqe *sqe);

/* A child frees what belongs to its parent's session, of which this is the word (mine.h). */
void libquoit_team_forget(const uint32_t *mine);

/* ---- team_rest.c ---- */

/* Begin and end looking for calls (see above).  Between the two: libquoit_team_has_work. */
void libquoit_team_seek(struct quoit_team *t);
void libquoit_team_sought(struct quoit_team *t);
bool libquoit_team_has_work(const struct quoit_team *t);

/* A thread begins or ends to sleep on the tail of the team's CQ. */
void libquoit_team_sleeps(struct quoit_team *t, int by);

/* If there is more work and a thread sleeps, wake one. */
void libquoit_team_pass_on(struct quoit_team *t);

/* A function begins or ends to wait, and its thread can run other calls. */
void libquoit_team_waits(struct quoit_team *t, int by);

/* A thread begins or ends to serve. */
void libquoit_team_joins(struct quoit_team *t, int by);

/* Wake all threads that sleep on the tail of the team's CQ. */
void libquoit_team_wake_all(struct quoit_team *t);

/*
 * A thread comes into the team, or leaves it: a lane, one that serves, or one that waits for a job
 * and helps.  The team is not freed while one is in it.
 */
void libquoit_team_enters(struct quoit_team *t, int by);

/* ---- team_pieces.c ---- */

/* The result of what a function returned: quoitd takes counts and errnos. */
static inline int team_result(int returned, struct quoit_exec_call *c)
{
	if (returned > -QUOIT_EPOISON)
		return returned;
	if (!*c->text)
		snprintf(c->text, sizeof c->text,
			 "the function returned %d: allowed are 0 and more, and -1 to %d", returned,
			 1 - QUOIT_EPOISON);
	return -EPROTO;
}

/* Run a call whose function asked for pieces, with all threads that come.  Returns its result. */
int libquoit_team_run_cut(struct quoit_team *t, const struct quoit_function *f,
			  struct quoit_exec_call *c);

/* Take a piece of any call that is cut; false: there is none.  Run what was taken. */
bool libquoit_team_take_piece(struct quoit_team *t, struct cut_call **ret, uint32_t *ret_piece);
void libquoit_team_run_piece(struct quoit_team *t, struct cut_call *cut, uint32_t piece);

/* ---- team_lanes.c ---- */

/* Start so many lanes, each on its own of these CPUs; NULL: they may run on any. */
int libquoit_team_start_lanes(struct quoit_team *t, unsigned count, const cpu_set_t *cpus);

/*
 * End them, once all calls that nobody has taken are returned as cancelled.  Those of a service stay
 * in the ring: quoitd gives them to another process when the ring closes.
 */
void libquoit_team_stop_lanes(struct quoit_team *t);

/* ---- team_help.c ---- */

/*
 * The thread that waits on this ring runs calls of the session's teams until the wait is done, or
 * the time has come, or no call comes for as long as a wait spins.  True: it is done.
 */
bool libquoit_team_help(struct quoit_ring *q, uint64_t deadline,
			bool (*is_done)(struct quoit_ring *q));

/* Sleep until the ring has CQEs, or a team without lanes has a call; at most for so long. */
void libquoit_team_sleep(struct quoit_ring *q, uint64_t ns);

/* A thread in so many functions at once runs no more: each takes some of its stack. */
#define TEAM_DEPTH_MOST 32u

/*
 * If so many functions of a service wait, those that run may make no more calls.  A session has 64
 * calls of a service under way at a time, and one that waits has one of them.
 */
#define TEAM_SUSPENDED_MOST 48u

/*
 * Must a wait on this ring run calls, since perhaps no other thread can?  So it is where a team has
 * no lanes, and in a function, which may be in the way of the call that it waits for.
 */
static inline bool libquoit_team_must_help(const struct quoit_ring *q)
{
	return UNLIKELY(q->inner || __atomic_load_n(&q->session->laneless, __ATOMIC_RELAXED)) &&
	       !q->no_calls && libquoit_team_depth() < TEAM_DEPTH_MOST;
}

/*
 * Is a wait on this ring to look for calls when it begins?  Also where a call was put into the ring;
 * all other waits are as fast as in a session without teams.
 */
static inline bool libquoit_team_helps(const struct quoit_ring *q)
{
	return (UNLIKELY(q->has_calls) && !q->no_calls &&
		libquoit_team_depth() < TEAM_DEPTH_MOST) ||
	       libquoit_team_must_help(q);
}

/* ---- team.c ---- */

/*
 * As quoit_open_team.  prepare, unless it is NULL, is called before threads start, and makes a
 * service of the team.
 */
int libquoit_team_open(struct quoit_session *s, const struct quoit_function *functions,
		       unsigned count, const struct quoit_team_params *p,
		       int (*prepare)(struct quoit_team *t, const void *of), const void *of,
		       struct quoit_team **ret);

/* Close all teams of the session. */
void libquoit_team_close_all(struct quoit_session *s);

/* Free the teams of a session that belongs to the parent process. */
void libquoit_team_free_all(struct quoit_session *s);

/* The name of the function whose call failed; false: its team has been closed, or it is no call. */
bool libquoit_team_function(struct quoit_session *s, const struct quoit_error *e,
			    char ret[QUOIT_NAME_BYTES]);

/* The words that came with the failure of this call; false: there are none (any more). */
bool libquoit_team_text(struct quoit_session *s, const struct quoit_error *e,
			char ret[QUOIT_CALL_TEXT_BYTES]);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * team.h - functions of the program's own, as jobs.
 *
 *	static int halve(void *state, struct quoit_exec_call *call)
 *	{
 *		float *x = call->tensor[0].data;
 *		...
 *		return 0;
 *	}
 *	static const struct quoit_function functions[] = {
 *		{.name = "halve", .access = "M---", .run = halve}};
 *
 *	quoit_open_team(s, functions, 1, NULL, &team);
 *	int f = quoit_find_function(team, "halve");
 *	quoit_push(q, quoit_call(f, x, 0, 0, 0));
 *
 * A call is a job like any other: it runs when the data of its tensors is there, other jobs wait for
 * it by the data, it has a priority, a deadline and a link, and its failure is its outputs' failure.
 * Its tensors must be ones that the program can reach: of the shared region (QUOIT_CREATE_SHARED),
 * or in the arena (quoit_create_in).  No byte is copied.
 *
 * A team is a set of threads of this process that run calls.  A thread that waits on a ring into which
 * it has put calls (quoit_wait and its kin, and a push that waits for room) runs calls meanwhile, too,
 * unless the ring was opened with QUOIT_RING_NO_CALLS.  So a function may run in any of these threads,
 * several at a time.
 *
 * A function may wait for jobs: in a ring that it has opened itself, which no other thread uses, and
 * which it should keep (a session has 64 ring numbers in all).  Meanwhile its thread may run any other
 * function on top of it, and the same one again: so it must hold no lock that these take.  Give such
 * waits a deadline: if what it waits for needs what it itself keeps (memory of the lease that is short,
 * the output of a call that waits below it on the same stack), it waits for itself.
 */
#ifndef QUOIT_TEAM_H
#define QUOIT_TEAM_H

#include <quoit/call.h>

struct quoit_team;

struct quoit_function {
	/* required; unique in its team; printable ASCII without blanks, at most 31 characters */
	const char *name;
	/*
	 * Required: a letter for each of the four tensors.  W: every element is written; M: read and
	 * written; R: read; w, r: the same for a tensor that may be left out; -: there is none.
	 */
	const char *access;
	/*
	 * Required.  Returns 0 or a count, or a negative errno; then it may fill in call->field,
	 * call->value and call->text.
	 */
	int (*run)(void *state, struct quoit_exec_call *call);
	/*
	 * Optional: into how many pieces a call is cut, asked in the thread that takes it.  `run` is
	 * called once for each piece, by as many threads as are free.  The call's result is that of the first piece that failed, or else
	 * of piece 0.
	 */
	uint32_t (*pieces)(void *state, const struct quoit_exec_call *call);
	void *state; /* the caller's, for both */
};

/* quoit_team_params.flags */
#define QUOIT_TEAM_NO_LANES 0x1u /* no threads but the program's own: quoit_serve_team, and waits */
#define QUOIT_TEAM_UNPINNED 0x2u /* threads may run on any CPU of the process */

struct quoit_team_params {
	/* threads that the library starts; 0: one for each CPU that the calling thread may use */
	unsigned lanes;
	uint32_t flags;   /* QUOIT_TEAM_* */
	uint32_t entries; /* of its ring's SQ, a power of two; 0: 128 */
};

/*
 * Open a team with these functions, which are copied (their states are not), and start its threads.
 * They are pinned to the CPUs that the calling thread may use, one after another.  params may be NULL.  *ret is the caller's until quoit_close_team or
 * quoit_close.  -EINVAL: a function or a parameter is not allowed; -EAGAIN: no thread can be started;
 * and as quoit_open_ring, since a team has a ring.  quoit_open_text says more.
 */
QUOIT_TO_CHECK int quoit_open_team(struct quoit_session *s, const struct quoit_function *functions,
				   unsigned count, const struct quoit_team_params *params,
				   struct quoit_team **ret);

/*
 * Wait for the calls that run, end the threads, and free the team.  Calls that have not begun fail with
 * -ECANCELED, so wait for them first; calls that are put in later fail with -EINVAL.  team may be NULL.
 * Not from a function, and not while another thread closes it.
 * -ECONNRESET: quoitd is gone; the team is freed.  -EOWNERDEAD: this is a child process.
 */
int quoit_close_team(struct quoit_team *team);

/* The number of a function, for quoit_call; -ENOENT: the team has none of this name. */
int quoit_find_function(const struct quoit_team *team, const char *name);

/*
 * Run calls in this thread for so many milliseconds (QUOIT_FOREVER: until the team is closed, or
 * quoitd is gone).  Returns how many calls and pieces of calls it ran, at most INT_MAX.  -ECONNRESET:
 * quoitd is gone, and it ran none.
 */
int quoit_serve_team(struct quoit_team *team, int timeout_ms);

/*
 * Call a function of quoit_find_function with these tensors; QUOIT_NO_TENSOR for those that it does
 * not have.  quoit_with_scalars gives it scalars.  A number that names no function, such as an error
 * of quoit_find_function, goes into sqe.reserved0: then quoit_push and quoit_start refuse the job
 * (-EINVAL).
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_call(int function, quoit_tensor t0,
						       quoit_tensor t1, quoit_tensor t2,
						       quoit_tensor t3)
{
	struct quoit_sqe sqe = quoit_op4(QUOIT_OP_CALL, t0, t1, t2, t3);

	if (function < 0 || function >> 8 >= (int)QUOIT_MAX_RINGS)
		sqe.reserved0 = (uint32_t)function;
	sqe.function = (uint8_t)function;
	sqe.team = (uint8_t)(function >> 8);
	return sqe;
}

#endif

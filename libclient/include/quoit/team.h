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
 * or in the arena (quoit_create_in), or with a name (quoit_attach_tensor; a function writes one
 * only in the session that made it: -EACCES).  No byte is copied.
 *
 * A team is a set of threads of this process that run calls.  A thread that waits on a managed ring
 * (quoit_wait and its kin, quoit_read, a push that waits for room) may run calls meanwhile, too,
 * unless the ring was opened with QUOIT_RING_NO_CALLS.  A poll (timeout 0, quoit_get_result) runs
 * none.  So a function may run in any of these threads, several at a time.
 *
 * A function may wait for jobs: in a ring of its own for each thread (_Thread_local), which it
 * opens once, since a session has 64 ring numbers in all; quoit_close closes it.  A ring that
 * another thread uses works, or fails with -EBUSY, by which thread happens to run the function.
 * While a function waits, its thread may run any other function on top of it, and the same one
 * again: so it must hold no lock that a function takes.  It waits for itself if its job needs
 * something that it holds, such as the last free memory of the lease, or the output of a call that
 * is suspended below it on the same stack: give such waits a timeout.
 *
 * A thread that is in 32 functions runs no more, and what the innermost one calls is refused
 * (-EDEADLK): by quoit_push, quoit_start and quoit_run.  So is what a function of a service calls
 * while 48 functions of that service wait in its process.
 *
 * A function returns.  If it ends its thread instead (pthread_exit, pthread_cancel), its call ends
 * only with its deadline or its team (-ECANCELED), and the team has a thread less.  It may be the
 * program's own thread, while that waits: end a thread only where no thread waits on a ring that
 * runs calls.
 *
 * A function may fork.  The child is in no function: what it opens, it can close.  It should end
 * within the function, by exec or _exit: in it the wait or quoit_serve_team that ran the function
 * fails with -EOWNERDEAD, and a thread of a team ends, and with it the child.
 */
#ifndef QUOIT_TEAM_H
#define QUOIT_TEAM_H

#include <quoit/call.h>

#define QUOIT_MAX_PIECES 65536u /* of one call */

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
	 * Required.  Returns 0 or a count, or a negative errno (-1 to -4095; else the call fails
	 * with -EPROTO); then it may fill in call->field, call->value and call->text.
	 */
	int (*run)(void *state, struct quoit_exec_call *call);
	/*
	 * Optional: into how many pieces a call is cut, asked in the thread that takes it: 0 and 1
	 * are the whole, QUOIT_MAX_PIECES is the most, and a few for each thread are enough.  `run`
	 * is called for each piece, by as many threads as are free, so pieces must write different
	 * elements.  The call's result is that of piece 0; or of the failed piece with the lowest
	 * number: after a failure no further piece begins.
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
	uint32_t entries; /* of its ring's SQ, a power of two; 0: 256 */
};

/*
 * Open a team with these functions, which are copied (their states are not), and start its threads.
 * They are pinned to the CPUs that the calling thread may use, one after another.  params may be
 * NULL.  *ret is the caller's until quoit_close_team or quoit_close.  -EINVAL: a function or a
 * parameter is not allowed; -EEXIST: two functions have one name; -EAGAIN: no thread can be started;
 * and as quoit_open_ring, since a team has a ring.  quoit_open_text says more.
 */
QUOIT_TO_CHECK int quoit_open_team(struct quoit_session *s, const struct quoit_function *functions,
				   unsigned count, const struct quoit_team_params *params,
				   struct quoit_team **ret);

/*
 * Wait for the calls that run, end the threads, and free the team.  Wait for its calls first: those
 * that quoitd has, and that have not begun, fail with -ECANCELED; all others, also those put in
 * before but not published (quoit_flush), with -EINVAL.  team may be NULL.  -EDEADLK: a function
 * calls it.  Not while another thread closes it.
 * -ECONNRESET: quoitd is gone; the team is freed.  -EOWNERDEAD: this is a child process.
 */
int quoit_close_team(struct quoit_team *team);

/*
 * The number of a function, for quoit_call; -ENOENT: the team has none of this name, as
 * quoit_open_text says.
 */
int quoit_find_function(const struct quoit_team *team, const char *name);

/*
 * Run calls in this thread, beside lanes or alone, for so many milliseconds (QUOIT_FOREVER: until
 * the team is closed, or quoitd is gone).  Returns how many calls and pieces of calls it ran, at
 * most INT_MAX.  -ECONNRESET: quoitd is gone, and it ran none.  It publishes no ring: quoit_flush
 * first.
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

	if (function < 0 || function >> 8 >= (int)(QUOIT_TEAM_SERVICE + QUOIT_MAX_SERVICES))
		sqe.reserved0 = (uint32_t)function;
	sqe.function = (uint8_t)function;
	sqe.team = (uint8_t)(function >> 8);
	return sqe;
}

#endif

/* SPDX-License-Identifier: MIT */
/* executor_end.c - how a quoit-exec ends, and what follows from it */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "executor_private.h"

#define MS            UINT64_C(1000000)
#define RARE_NS       (10000 * MS) /* a process up for so long clears earlier failures */
#define BACKOFF_LEAST (10 * MS)
#define BACKOFF_MOST  (500 * MS)
#define LOST_ENDS     5u

/* ---- what an end means for the next start ---- */

/* How long to wait before the next start, in ns. */
static uint64_t backoff(const struct executor *x)
{
	uint64_t ns = BACKOFF_LEAST;

	if (x->burst <= 1)
		return 0;
	for (uint32_t i = 2; i < x->burst && ns < BACKOFF_MOST; i++)
		ns *= 2;
	return ns < BACKOFF_MOST ? ns : BACKOFF_MOST;
}

static bool has_answered(const struct executor *x)
{
	uint64_t answered = 0;

	for (uint32_t i = 0; x->up_since && i < x->house->reactors; i++)
		answered += x->port[i].answered;
	return answered;
}

/*
 * Count an end.  A process that finished a job, or that quoitd killed for a late one, did not fail.
 * hopeless: the executor is lost at once.
 */
static void count_end(struct executor *x, bool hopeless)
{
	uint64_t now = totals_now_ns();

	if (x->up_since && now - x->up_since > RARE_NS)
		x->burst = x->failed_starts = 0;
	x->burst++;
	if (has_answered(x))
		x->failed_starts = 0;
	else if (x->ended != KILL_LATE)
		x->failed_starts++;
	if (hopeless)
		x->failed_starts = LOST_ENDS;
	x->lost = x->failed_starts >= LOST_ENDS;
	x->due = now + (x->lost ? EXECUTOR_LOST_NS : backoff(x));
}

/* If a lost executor stays lost for the same reason, only the debug log has it. */
static void say_end(struct executor *x, bool was_lost, const char *text)
{
	const char *then = !x->lost                     ? "it is started again"
			   : x->state == EXECUTOR_STUCK ? "it is lost: its jobs fail"
							: "it is lost: its jobs fail, and it is "
							  "tried again every 10 s";

	executor_keep_reason(x, text);
	executor_log(x,
		     !was_lost || !x->lost || x->why_is_new ? LOG_LEVEL_WARNING : LOG_LEVEL_DEBUG,
		     "%s; %s", text, then);
}

/* Record and log the end: the executor will be started again, or is lost. */
static void conclude(struct executor *x, bool hopeless, const char *text)
{
	bool was_lost = x->lost;

	count_end(x, hopeless);
	say_end(x, was_lost, text);
	if (x->lost)
		executor_set_ports(x, PORT_LOST);
	x->changed = true;
}

void executor_start_failed(struct executor *x, int err)
{
	char text[sizeof x->why];

	if (err == -ENOENT)
		snprintf(text, sizeof text,
			 "quoit-exec is neither beside quoitd nor in ../libexec/quoit from there");
	else
		snprintf(text, sizeof text, "cannot start quoit-exec: %s", strerror(-err));
	if (x->known) {
		conclude(x, false, text);
		return;
	}
	executor_say_refused(x, text);
	x->state = EXECUTOR_OMITTED;
}

/* ---- an end ---- */

/* It ended before its operations were known: leave it out. */
static void omit(struct executor *x, const char *text)
{
	if (!x->refused)
		executor_say_refused(x, text);
	x->state = EXECUTOR_OMITTED;
	executor_set_ports(x, PORT_LOST); /* some of its operations may have got numbers */
}

/* Its user no longer needs it: this counts as no death, and the next start need not wait. */
static void reap_retired(struct executor *x)
{
	executor_log(x, LOG_LEVEL_INFO, "quoit-exec of uid %llu has ended",
		     (unsigned long long)x->owner - 1);
	x->due = 0;
	x->state = EXECUTOR_DOWN;
	x->changed = true;
}

/* No reactor uses the process any more, and it has ended. */
static void reap(struct executor *x)
{
	char text[sizeof x->why];

	if (x->refused)
		snprintf(text, sizeof text, "%s", x->why);
	else
		executor_say_end(x, text, sizeof text);
	executor_close_ports(x);
	executor_process_free(&x->process);
	if (x->retired) {
		reap_retired(x);
	} else if (!x->known) {
		omit(x, text);
	} else {
		totals_count(x->house->totals, QUOIT_DAEMON_EXECUTORS_DIED);
		x->state = EXECUTOR_DOWN;
		conclude(x, x->ended == KILL_START, text);
	}
}

/* ---- one that does not end ---- */

/* No reactor uses the process any more, but it has not ended. */
static void give_up(struct executor *x)
{
	char end[128], text[sizeof x->why];

	executor_say_end(x, end, sizeof end);
	snprintf(text, sizeof text, "%s, but its process does not go away (pid %d)", end,
		 (int)x->process.pid);
	executor_close_ports(x);
	totals_count(x->house->totals, QUOIT_DAEMON_EXECUTORS_DIED);
	if (!x->known)
		omit(x, text);
	x->state = EXECUTOR_STUCK;
	if (x->known)
		conclude(x, true, text);
}

/* A process that was given up has gone after all. */
static void let_go(struct executor *x)
{
	executor_log(x, LOG_LEVEL_INFO, "quoit-exec, pid %d, has gone away at last",
		     (int)x->process.pid);
	executor_process_free(&x->process);
	x->state = x->known ? EXECUTOR_DOWN : EXECUTOR_OMITTED;
	x->due = 0;
	x->changed = true;
}

/* ---- looking ---- */

static void tell_reactors(struct executor *x)
{
	x->state = EXECUTOR_DYING;
	for (uint32_t i = 0; i < x->house->reactors; i++)
		x->port[i].status = x->status;
	executor_set_ports(x, PORT_DEAD);
}

/* If a reactor has killed it, its time to be gone begins. */
static void look_whether_it_was_killed(struct executor *x)
{
	uint32_t why = KILL_NOT;

	for (uint32_t i = 0; i < x->house->reactors && why != KILL_LATE; i++) {
		uint32_t killed = atomic_load(&x->port[i].killed);

		why = killed ? killed : why;
	}
	if (why)
		executor_kill(x, why);
}

void executor_look_for_end(struct executor *x)
{
	bool gone = executor_process_has_ended(&x->process, &x->status);

	if (x->state == EXECUTOR_STUCK) {
		if (gone)
			let_go(x);
		return;
	}
	if (x->state == EXECUTOR_UP && !x->ending) /* after `gone`: a kill that ended it is seen */
		look_whether_it_was_killed(x);
	if (!gone && !(x->ending && totals_now_ns() >= x->due))
		return;
	if (!gone)
		x->status = W_EXITCODE(0, SIGKILL);
	if (x->state == EXECUTOR_UP)
		tell_reactors(x);
	else
		executor_reap(x);
}

void executor_reap(struct executor *x)
{
	if (executor_process_has_ended(&x->process, &x->status))
		reap(x);
	else
		give_up(x);
}

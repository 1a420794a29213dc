/* SPDX-License-Identifier: MIT */
/*
 * group_guard.h - leave no process behind, however we end.
 *
 * A guard process holds one end of a pipe.  When the other end is closed by our death, it kills the
 * process groups that we have noted.  So what our children have started ends as well, which the
 * kernel's signal for a parent's death (PR_SET_PDEATHSIG) does not reach.
 */
#ifndef QUOIT_TOOLS_GROUP_GUARD_H
#define QUOIT_TOOLS_GROUP_GUARD_H

#include <stdatomic.h>
#include <sys/types.h>

struct group_guard {
	pid_t pid;
	int lifeline;
	unsigned count;
	_Atomic(pid_t) *group; /* shared with the guard and our children; 0: none */
};

/* Start a guard for so many groups; 0 or -errno. */
int group_guard_open(struct group_guard *g, unsigned count);

/* Let it go without a kill, and wait for its end. */
void group_guard_close(struct group_guard *g);

/* For a child, before it runs its program: make a group of its own, and note it in this place. */
void group_guard_enter(const struct group_guard *g, unsigned place);

/* The group's first process has ended, and is not reaped yet: kill what is left of its group. */
void group_guard_clear(const struct group_guard *g, unsigned place);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * load_guard.h - keeps quoitd as it was while a foreign library is loaded.
 *
 * Libraries act as soon as they are loaded: one with OpenMP binds its thread to a core, others take
 * signals, set the rounding mode, or change the environment.  Such changes are undone and logged.
 */
#ifndef QUOITD_LOAD_GUARD_H
#define QUOITD_LOAD_GUARD_H

#include <fenv.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

struct load_guard {
	cpu_set_t *cpus; /* NULL: not known */
	size_t cpus_bytes;
	sigset_t blocked;
	struct sigaction action[NSIG];
	fenv_t numbers;
	char **environment; /* a copy of environ, which becomes environ at the end */
	mode_t mask;
};

/*
 * Note the present state.  Until the end, variables that begin with one of these words (ended by
 * NULL) are hidden.  Call it from the only thread, or from the only one that loads libraries.
 */
void load_guard_begin(struct load_guard *g, const char *const *hidden);

/* Undo what `library` has changed, and log it. */
void load_guard_end(struct load_guard *g, const char *library);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * load_guard.h - a library of others' is loaded, and quoitd stays as it was.
 *
 * Libraries act as soon as they are loaded: one with OpenMP binds its thread to a core, others take
 * signals, set how numbers are rounded, or change the environment.  What they change of that is
 * set back, and said.
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
	char **environment; /* a copy of environ, which becomes environ */
	mode_t mask;
};

/*
 * Note what is to stay.  Then variables that begin with one of these words (ended by NULL) are not
 * there until the end.  For the one thread that there is, or the only one that loads anything.
 */
void load_guard_begin(struct load_guard *g, const char *const *hidden);

/* Set back what `library` has changed, and log it. */
void load_guard_end(struct load_guard *g, const char *library);

#endif

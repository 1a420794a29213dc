/* SPDX-License-Identifier: MIT */
/*
 * fail_attempt.h - let one call of quoitd after the other fail, and try to do something meanwhile
 */
#ifndef TORTURE_FAIL_ATTEMPT_H
#define TORTURE_FAIL_ATTEMPT_H

#include "fail_plan.h"
#include "stage.h"

/* The next call to fail, and the function that tries. */
struct attempt {
	uint64_t calls;     /* FAIL_BITs */
	uint64_t nth;       /* of these calls */
	bool sticky;        /* and all later ones */
	uint32_t apart;     /* in the short form; 0: a few calls of each function */
	const char *folder; /* for tests of the start */
	bool (*try)(struct stage *s, const struct attempt *a); /* false: no call failed */
};

/* Call attempt_make_plan before everything else, and attempt_done at the end. */
bool attempt_make_plan(void);
void attempt_done(void);

/*
 * In the process that becomes quoitd (daemon_prepare_fn): preload the module before a sanitizer's
 * runtime, which would otherwise hide the callers from it.
 */
void attempt_preload(const struct daemon *d);

/* The attempt's call fails between attempt_arm and attempt_disarm. */
void attempt_arm(const struct attempt *a);
void attempt_disarm(void);

/* Which calls could fail, and which have failed. */
const struct fail_plan *attempt_plan(void);

/* "call NTH (FUNCTION, ERRNO)" of the last failure; returns text. */
const char *attempt_text(uint64_t nth, char *text, size_t size);

/*
 * The long form tries every call with each of its errnos; the short form calls that are up to
 * a.apart apart, or a few of each function.  Returns how many have failed; it ends with the first
 * failed check.
 */
uint64_t attempt_all(struct stage *s, struct attempt first);

#endif

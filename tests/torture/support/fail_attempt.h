/* SPDX-License-Identifier: MIT */
/*
 * fail_attempt.h - attempts to do something while a call of quoitd fails, one after the other
 */
#ifndef TORTURE_FAIL_ATTEMPT_H
#define TORTURE_FAIL_ATTEMPT_H

#include "fail_plan.h"
#include "stage.h"

/* What fails next, and who tries it. */
struct attempt {
	uint64_t calls;     /* FAIL_BITs */
	uint64_t nth;       /* of them */
	bool sticky;        /* and all after it */
	uint32_t apart;     /* in the short form; 0: a few calls of each function */
	const char *folder; /* for a start */
	bool (*try)(struct stage *s, const struct attempt *a); /* false: no call failed */
};

/* Before everything else, and after it. */
bool attempt_make_plan(void);
void attempt_done(void);

/*
 * In the process that becomes quoitd (daemon_prepare_fn): have the module preloaded, which stands
 * before a sanitizer's runtime, since that would hide from it who calls.
 */
void attempt_preload(const struct daemon *d);

/* From here on the attempt's call fails, and to here. */
void attempt_arm(const struct attempt *a);
void attempt_disarm(void);

/* What there was to fail, and has failed. */
const struct fail_plan *attempt_plan(void);

/* "call NTH (FUNCTION, ERRNO)", of what failed last; returns text. */
const char *attempt_text(uint64_t nth, char *text, size_t size);

/*
 * The long form: every call with each of its errnos.  The short one: calls up to a.apart apart, or
 * a few of each function.  How many of them have failed; it ends with the first failed check.
 */
uint64_t attempt_all(struct stage *s, struct attempt first);

#endif

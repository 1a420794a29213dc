/* SPDX-License-Identifier: MIT */
/*
 * pair.h - two processes that ask and answer like the canary and quoitd, but without quoitd.
 *
 * If the machine delays the canary's small jobs, it delays these, too: busy processors, calls that
 * the kernel does not interrupt, a hypervisor.  If quoitd delays them, only the canary is late.
 */
#ifndef TORTURE_PAIR_H
#define TORTURE_PAIR_H

#include <stdint.h>
#include <sys/types.h>

struct pair_words;

struct pair {
	pid_t asks, answers;
	struct pair_words *words; /* shared with both */
};

/* The answering process runs on the CPUs of a reactor of this quoitd.  -errno. */
int pair_start(struct pair *p, pid_t quoitd);

/*
 * pair_time_anew: time questions from now on.  The other: the time within which 99 of 100 were
 * answered; 0: there were too few.
 */
void pair_time_anew(struct pair *p);
uint64_t pair_p99_ns(const struct pair *p);

void pair_stop(struct pair *p);

#endif

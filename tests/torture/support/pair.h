/* SPDX-License-Identifier: MIT */
/*
 * pair.h - two processes that ask and answer as the canary and quoitd do, without quoitd.
 *
 * What keeps the canary's small jobs from their time keeps these, too, where it is the machine:
 * busy processors, calls that the kernel does not interrupt, a hypervisor.  Where it is quoitd,
 * only the canary is late.
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

/* The one that answers lives where a reactor of this quoitd does.  -errno. */
int pair_start(struct pair *p, pid_t quoitd);

/* Time questions from now on; and within which time 99 of 100 were answered, 0: too few. */
void pair_time_anew(struct pair *p);
uint64_t pair_p99_ns(const struct pair *p);

void pair_stop(struct pair *p);

#endif

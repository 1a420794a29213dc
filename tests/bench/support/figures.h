/* SPDX-License-Identifier: MIT */
/* figures.h - what the measurements of several users share: a clock, medians, and users' processes */
#ifndef TESTS_BENCH_FIGURES_H
#define TESTS_BENCH_FIGURES_H

#include <stdbool.h>
#include <sys/types.h>

/* End the program with this sentence unless it is good. */
void figures_must(bool good, const char *what);

double figures_now_us(void);

void figures_sort(double *value, unsigned count);

/* Sort, and print a line: NAME and SUFFIX, median, least and greatest. */
void figures_print(const char *name, const char *suffix, double *value, unsigned count);

/* Become a user for good; needs root. */
bool figures_become(uid_t uid);

/* What `measure` returns in a child that has become this user; it may _exit(1) instead. */
double figures_as(uid_t uid, double (*measure)(const void *of), const void *of);

#endif

/* SPDX-License-Identifier: MIT */
/* numbers.h - sets of CPUs and nodes, as the kernel lists them: "0-3,8" */
#ifndef QUOIT_TOOLS_DOCTOR_NUMBERS_H
#define QUOIT_TOOLS_DOCTOR_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBERS_MOST 4096 /* more CPUs than any kernel that Debian ships is built for */

struct numbers {
	uint64_t bits[NUMBERS_MOST / 64];
};

/* Parse a list, which may be empty.  False: it is not a list, or a number is too large. */
bool numbers_parse(const char *list, struct numbers *ret);

bool numbers_has(const struct numbers *n, unsigned number);
void numbers_put(struct numbers *n, unsigned number);
unsigned numbers_count(const struct numbers *n);

/* The first number not less than `from`, or -1: for (i = numbers_next(n, 0); i >= 0; ...). */
int numbers_next(const struct numbers *n, unsigned from);

struct numbers numbers_either(const struct numbers *a, const struct numbers *b);
struct numbers numbers_both(const struct numbers *a, const struct numbers *b);
struct numbers numbers_without(const struct numbers *a, const struct numbers *b);

/* Print as a list; "none" if it is empty.  A list that is too long ends with "...". */
void numbers_print(const struct numbers *n, char *ret, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* configuration.h - a folder with the configuration of a quoitd */
#ifndef TESTS_CONFIGURATION_H
#define TESTS_CONFIGURATION_H

#include <stdbool.h>

struct configuration {
	char folder[32];
	char file[48];   /* the first one, q.conf */
	char option[64]; /* by which quoitd reads it */
};

/* A folder with a file that says this.  False: it cannot be had. */
bool configuration_make(struct configuration *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A file of this name, in the place of one that there was; its folder is made if it has one. */
bool configuration_write(const struct configuration *c, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* With all that is in it; nobody need read it any more.  False: something stays. */
bool configuration_remove(const struct configuration *c);

#endif

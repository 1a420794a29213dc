/* SPDX-License-Identifier: MIT */
/* configuration.h - make a folder with the configuration of a quoitd */
#ifndef TESTS_CONFIGURATION_H
#define TESTS_CONFIGURATION_H

#include <stdbool.h>

struct configuration {
	char folder[32];
	char file[48];   /* the first file, q.conf */
	char option[64]; /* the option by which quoitd reads it */
};

/* Make a folder with a file of this text.  False: that failed. */
bool configuration_make(struct configuration *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Write a file of this name, replacing an older one; makes its folder if the name has one. */
bool configuration_write(const struct configuration *c, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Remove the folder with its files.  False: something stays. */
bool configuration_remove(const struct configuration *c);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tree.h - read files of /proc, /sys and /dev below any folder that stands for the root.
 *
 * Every reader gets that folder's descriptor, so that tests, and people with a copy of another
 * machine's files, can use their own folder.  Paths are relative: "proc/self/status".  A reader
 * reads only as much of a file as it has room for, and only regular files.
 */
#ifndef QUOIT_TOOLS_DOCTOR_TREE_H
#define QUOIT_TOOLS_DOCTOR_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "numbers.h"

/* Returns a descriptor or -errno. */
int tree_open(const char *folder);

/* Read the first size - 1 bytes of a file, and end them by a NUL; returns how many, or -errno. */
__attribute__((format(printf, 4, 5))) int64_t tree_read(int root, char *ret, size_t size,
							const char *path, ...);

/* Read a file's first line, without the blanks at its end.  False: it cannot be read. */
__attribute__((format(printf, 4, 5))) bool tree_line(int root, char *ret, size_t size,
						     const char *path, ...);

/* Read a file that is one number, or one list.  False: it cannot be read, or is something else. */
__attribute__((format(printf, 3, 4))) bool tree_number(int root, uint64_t *ret, const char *path,
						       ...);
__attribute__((format(printf, 3, 4))) bool tree_numbers(int root, struct numbers *ret,
							const char *path, ...);

/*
 * Find the first line with `name`, and return the rest behind it, without the blanks before; NULL:
 * there is no such line.
 */
const char *tree_behind(const char *text, const char *name);
const char *tree_field(const char *text, const char *name);

/* Parse a decimal number that only blanks may follow. */
bool tree_parse_number(const char *text, uint64_t *ret);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tree.h - files of /proc, /sys and /dev, below any folder that stands for the root.
 *
 * Every reader is given that folder's descriptor, so that tests, and who looks at what was copied
 * from another machine, can put theirs in its place.  Paths are relative: "proc/self/status".
 * Of a file no more is read than has room; what is no regular file is not read at all.
 */
#ifndef QUOIT_TOOLS_DOCTOR_TREE_H
#define QUOIT_TOOLS_DOCTOR_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "numbers.h"

/* A descriptor or -errno. */
int tree_open(const char *folder);

/* The first size - 1 bytes of a file, ended by a NUL; how many, or -errno. */
__attribute__((format(printf, 4, 5))) int64_t tree_read(int root, char *ret, size_t size,
							const char *path, ...);

/* Its first line, without the blanks at its end.  False: it cannot be read. */
__attribute__((format(printf, 4, 5))) bool tree_line(int root, char *ret, size_t size,
						     const char *path, ...);

/* A file that is one number, or one list.  False: it cannot be read, or is none. */
__attribute__((format(printf, 3, 4))) bool tree_number(int root, uint64_t *ret, const char *path,
						       ...);
__attribute__((format(printf, 3, 4))) bool tree_numbers(int root, struct numbers *ret,
							const char *path, ...);

/*
 * What follows the first line's `name` that has it, and that without the blanks before it; NULL:
 * there is no such line.
 */
const char *tree_behind(const char *text, const char *name);
const char *tree_field(const char *text, const char *name);

/* A decimal number, and nothing but blanks behind it. */
bool tree_parse_number(const char *text, uint64_t *ret);

#endif
